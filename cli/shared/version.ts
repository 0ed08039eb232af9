import { readFileSync } from 'node:fs';

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
  if (oldest.localeCompare(version, 'en', { numeric: true }) <= 0) return undefined;
  return `autoscaler needs Node ${oldest} or newer, and this is Node ${version}. Install a newer Node`;
}
