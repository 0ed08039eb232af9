/**
 * The last release, from what a clone holds: the tag of the newest version in CHANGELOG.md, else the commit that
 * gave CHANGELOG.md the section of that version. A shallow clone may hold neither.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sh } from './command.ts';

export type LastRelease =
  | { readonly version: string; readonly commit: string; readonly from: string }
  | { readonly unknown: string };

const SECTION = /^## \[(\d+\.\d+\.\d+)\] - /gm;

/** A section that is not committed yet is of a release to come. Throws PackagingError if Git fails. */
export function findLastRelease(cwd: string): LastRelease {
  const versions = [...readFileSync(join(cwd, 'CHANGELOG.md'), 'utf8').matchAll(SECTION)];
  for (const [, version = ''] of versions) {
    const tag = `v${version}`;
    const tagged = sh('git rev-parse --quiet --verify "refs/tags/$1^{commit}" || true', { cwd, args: [tag] });
    if (tagged !== '') return { version, commit: tagged.trim(), from: `the tag ${tag}` };
    const added = sh('git log --format="%H %P" -S"## [$1] - " -- CHANGELOG.md', { cwd, args: [version] });
    const [commit, parent] = added.trimEnd().split('\n').at(-1)?.split(' ') ?? [];
    if (commit === undefined || commit === '') continue;
    if (parent === undefined && isShallow(cwd)) return { unknown: SHALLOW };
    return { version, commit, from: `commit ${commit.slice(0, 8)}, where CHANGELOG.md got its section` };
  }
  return { unknown: 'no commit gives CHANGELOG.md the section of a version' };
}

/** The oldest commit of a shallow clone seems to add every file. */
const SHALLOW = 'this clone is shallow, and its history begins later. Run "git fetch --unshallow --tags"';

function isShallow(cwd: string): boolean {
  return sh('git rev-parse --is-shallow-repository', { cwd }).trim() === 'true';
}
