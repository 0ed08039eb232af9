import { spawnSync } from 'node:child_process';
import { PackagingError } from '../packaging-error.ts';

export type Shell = {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
};

/** Runs a command line and returns its output. Throws PackagingError with the output if it fails. */
export function sh(command: string, { cwd, env = process.env }: Shell): string {
  const { status, stdout, stderr } = spawnSync(command, { cwd, env, shell: true, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new PackagingError(`running "${command}" in ${cwd}: exit code ${status}\n${stdout}${stderr}`);
}

/** Kilobytes on disk, without the folders or files named `except`. */
export function kilobytesOf(path: string, except: readonly string[] = []): number {
  const excluded = except.map((name) => `--exclude=${name}`).join(' ');
  return Number.parseInt(sh(`du -sk ${excluded} ${path}`, { cwd: '.' }), 10);
}
