import { spawnSync } from 'node:child_process';

type Requirement = { readonly command: readonly [string, ...string[]]; readonly install: string };

/**
 * The tools that guard.sh runs. Each command succeeds if its tool exists. Coder's image has all of
 * them.
 */
const REQUIREMENTS: readonly Requirement[] = [
  { command: ['sh', '-c', 'true'], install: 'a POSIX shell as "sh", for example dash' },
  { command: ['curl', '--version'], install: 'curl' },
  {
    command: ['date', '-u', '-d', '2026-03-02 09:00:00', '+%s'],
    install: 'a "date" that knows -d: GNU coreutils or busybox',
  },
];

/** The tools to install before guard.sh can run on this machine; empty if none is missing. */
export function missingForGuard(path = process.env.PATH ?? ''): readonly string[] {
  return REQUIREMENTS.filter(({ command: [file, ...rest] }) => {
    const { status } = spawnSync(file, rest, { env: { PATH: path }, stdio: 'ignore' });
    return status !== 0;
  }).map(({ install }) => install);
}
