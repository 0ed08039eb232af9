import { spawnSync } from 'node:child_process';

type Requirement = { readonly command: readonly [string, ...string[]]; readonly install: string };

/** What guard.sh runs; each command succeeds where it is there. Coder's image has all of it. */
const REQUIREMENTS: readonly Requirement[] = [
  { command: ['sh', '-c', 'true'], install: 'a POSIX shell as "sh", for example dash' },
  { command: ['curl', '--version'], install: 'curl' },
  {
    command: ['date', '-u', '-d', '2026-03-02 09:00:00', '+%s'],
    install: 'a "date" that knows -d: GNU coreutils or busybox',
  },
];

/** What is to be installed before guard.sh can run on this machine; empty if nothing is. */
export function missingForGuard(path = process.env.PATH ?? ''): readonly string[] {
  return REQUIREMENTS.filter(({ command: [file, ...rest] }) => {
    const { status } = spawnSync(file, rest, { env: { PATH: path }, stdio: 'ignore' });
    return status !== 0;
  }).map(({ install }) => install);
}
