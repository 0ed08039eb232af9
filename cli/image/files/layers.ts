/**
 * The folders of the build stages: one stage for each package, which becomes one layer. So a changed
 * provider changes one layer, and Docker builds the stages at the same time.
 */
import { few } from '../../../lambda/explain/format.ts';
import type { Package, PackageLock } from './packages.ts';

export type TextFile = { readonly path: string; readonly text: string };

export type Layer = {
  /** `01`: the stage is `layer-01`, and its folder `layers/01`. */
  readonly number: string;
  readonly packages: readonly Package[];
};

/** An image has at most 127 layers. Packages beyond this number share the last layer. */
const MOST_LAYERS = 60;

export function layersOf(packages: readonly Package[]): readonly Layer[] {
  const own = packages.slice(0, MOST_LAYERS - 1).map((each) => [each]);
  const rest = packages.slice(MOST_LAYERS - 1);
  return [...own, ...(rest.length === 0 ? [] : [rest])].map((those, index) => ({
    number: String(index + 1).padStart(2, '0'),
    packages: those,
  }));
}

/** What `fetch.sh` reads. */
export function layerFiles({ number, packages }: Layer): readonly TextFile[] {
  return packages.flatMap(({ address, version, locks }, index) => {
    const folder = `layers/${number}/${index + 1}`;
    return [
      { path: `${folder}/main.tf`, text: mainText(address, version) },
      { path: `${folder}/package`, text: `${address}\n${version}\n` },
      ...locks.map((lock, nth) => ({ path: `${folder}/lock-${nth + 1}`, text: lockText(lock) })),
    ];
  });
}

/** Of a package in a comment of one line. */
export function describePackage({ address, version, templates }: Package): string {
  return `${address} ${version} (${plainNames(templates)})`;
}

/** Names of folders may contain anything, and these texts end up in a Dockerfile and a script. */
function plainNames(names: readonly string[]): string {
  return few(names).replaceAll(/[^\w.,/ -]/g, '?');
}

const mainText = (address: string, version: string): string => `terraform {
  required_providers {
    packed = {
      source  = "${address}"
      version = "${version}"
    }
  }
}
`;

function lockText({ templates, hashes }: PackageLock): string {
  return [`# ${plainNames(templates)}`, ...hashes.flatMap(hashLine), ''].join('\n');
}

/** A shell compares hex more easily than base64. */
function hashLine(hash: string): readonly string[] {
  const value = hash.slice(3);
  if (hash.startsWith('zh:')) return [`zh ${value}`];
  return hash.startsWith('h1:') ? [`h1 ${Buffer.from(value, 'base64').toString('hex')}`] : [];
}
