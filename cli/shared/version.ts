import { readFileSync } from 'node:fs';
import { by } from '../../lambda/decision/model/collections.ts';

/** The parts of a package.json that the CLI reads. */
export type PackageManifest = {
  readonly version: string;
  /** `node`: such as `>=22.19.0`. */
  readonly engines: { readonly node: string };
};

/** The package.json of this checkout, or of the published package. */
export function packageManifest(): PackageManifest {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
}

/** Says what to do if this Node is too old, whose errors would name no cause. */
export function nodeProblem({ engines }: PackageManifest, version: string): string | undefined {
  const oldest = engines.node.replace('>=', '');
  if (inOrder(numbersOf(oldest), numbersOf(version)) <= 0) return undefined;
  return `autoscaler needs Node ${oldest} or newer, and this is Node ${version}. Install a newer Node`;
}

const numbersOf = (version: string): readonly number[] => version.split('.').map(Number);

/** Not `localeCompare`: its first call takes longer than all of `--version`. */
const inOrder = by<readonly number[]>(
  ([major = 0]) => major,
  ([, minor = 0]) => minor,
  ([, , patch = 0]) => patch,
);
