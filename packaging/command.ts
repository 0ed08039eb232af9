/** Runs commands, and the error of a package that cannot be written or does not work. */
import { spawnSync } from 'node:child_process';

export class PackagingError extends Error {
  override readonly name = 'PackagingError';
}

/** Runs `main`. Prints the message of a PackagingError and sets the exit code 1. */
export function runMain(main: () => void): void {
  try {
    main();
  } catch (error) {
    if (!(error instanceof PackagingError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

type Shell = {
  readonly cwd: string;
  /** The parameters `$1`, `$2` … of the line. */
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
};

/** Runs a command line and returns its output. Throws PackagingError with the output if it fails. */
export function sh(command: string, { cwd, args = [], env = process.env }: Shell): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command, 'sh', ...args], {
    cwd,
    env,
    encoding: 'utf8',
  });
  if (status === 0) return stdout;
  throw new PackagingError(`running "${command}" in ${cwd}: exit code ${status}\n${stdout}${stderr}`);
}
