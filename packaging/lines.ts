/**
 * `npm run lines`: how many lines each room has, now and at the last release. No number makes it fail. `--all`
 * prints every tracked text file with its class.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PackagingError, runMain, sh } from './command.ts';
import { findLastRelease } from './last-release.ts';
import { countFiles, isCounted, ledgerText, type Texts } from './ledger.ts';

/** Prints the ledger of the clone in `cwd`. Throws PackagingError if Git cannot list its files. */
function main(cwd: string, options: readonly string[]): void {
  const now = countFiles(textsNow(cwd));
  if (options.includes('--all'))
    for (const { path, of, count } of now) console.log(`${`${count}`.padStart(7)}  ${of.padEnd(8)} ${path}`);
  const release = findLastRelease(cwd);
  if ('unknown' in release) {
    console.log(`${ledgerText(now)}\n\nThe last release is unknown: ${release.unknown}.`);
    return;
  }
  const { version, commit, from } = release;
  const files = countFiles(textsAt(commit, cwd));
  console.log(`${ledgerText(now, { version, files })}\n\nThe last release is ${version}: ${from}.`);
}

/** The tracked files, as they are in the work tree. */
function textsNow(cwd: string): Texts {
  const paths = pathsIn(sh('git ls-files -z', { cwd })).filter((path) => existsSync(join(cwd, path)));
  return new Map(paths.map((path) => [path, readFileSync(join(cwd, path), 'utf8')]));
}

function textsAt(commit: string, cwd: string): Texts {
  const paths = pathsIn(sh('git ls-tree -r -z --name-only "$1"', { cwd, args: [commit] }));
  const input = paths.map((path) => `${commit}:${path}\n`).join('');
  const options = { cwd, input, maxBuffer: 2 ** 30 };
  const { status, stdout, stderr } = spawnSync('git', ['cat-file', '--batch'], options);
  if (status !== 0) throw new PackagingError(`reading the files of ${commit}: ${stderr}`);
  const texts = new Map<string, string>();
  let at = 0;
  for (const path of paths) {
    const start = stdout.indexOf('\n', at) + 1;
    const size = Number(stdout.toString('utf8', at, start).split(' ').at(-1));
    texts.set(path, stdout.toString('utf8', start, start + size));
    at = start + size + 1;
  }
  return texts;
}

const pathsIn = (list: string): readonly string[] =>
  list.split('\0').filter((path) => path !== '' && isCounted(path));

runMain(() => main(process.cwd(), process.argv.slice(2)));
