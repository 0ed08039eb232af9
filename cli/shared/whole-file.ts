import {
  accessSync,
  constants,
  existsSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { InputError } from './cli-environment.ts';

/**
 * Whether a file can be written, to be asked before the work that it is for: not over a folder, a
 * device, or what that work is made from. Throws InputError.
 */
export function checkWritable(file: string, inputs: readonly (string | undefined)[] = []): void {
  const refuse = (why: string, cause?: unknown): never => {
    throw new InputError(`writing ${file || '""'}: ${why}; give another file with --out`, { cause });
  };
  if (file === '') refuse('it has no name');
  if (/[/\\]$/.test(file)) refuse('it names a folder');
  try {
    accessSync(dirname(file), constants.W_OK);
  } catch (cause) {
    refuse((cause as Error).message, cause);
  }
  if (!existsSync(file)) return;
  if (!statSync(file).isFile()) refuse('it is there, and no file');
  const own = realpathSync(file);
  const taken = inputs.find(
    (input) => input !== undefined && existsSync(input) && realpathSync(input) === own,
  );
  if (taken !== undefined) refuse('it is read from, and would be lost');
}

/**
 * Writes a file that is there as a whole or not at all: what stood in it stays until then. Throws
 * InputError.
 */
export function writeWhole(file: string, text: string): void {
  checkWritable(file);
  const target = existsSync(file) ? realpathSync(file) : file;
  const part = `${target}.part`;
  try {
    writeFileSync(part, text);
    renameSync(part, target);
  } catch (cause) {
    rmSync(part, { force: true });
    throw new InputError(`writing ${file}: ${(cause as Error).message}; give another file with --out`, {
      cause,
    });
  }
}
