import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { InputError } from '../../../../cli/shared/cli-environment.ts';
import { writeFileWhole } from '../../../../lambda/shared/whole-file.ts';

/** Before the work whose result the file gets. Refuses folders, devices and inputs. Throws InputError. */
export function checkWritable(file: string, inputs: readonly (string | undefined)[] = []): void {
  const refuse = (why: string, cause?: unknown): never => {
    throw new InputError(`writing ${file || '""'}: ${why}. Give another file with --out`, { cause });
  };
  if (file === '') refuse('the file name is empty');
  if (/[/\\]$/.test(file)) refuse('it is a folder');
  try {
    accessSync(dirname(file), constants.W_OK);
  } catch (cause) {
    refuse((cause as Error).message, cause);
  }
  if (!existsSync(file)) return;
  if (!statSync(file).isFile()) refuse('it exists and is not a regular file');
  const own = realpathSync(file);
  const taken = inputs.find(
    (input) => input !== undefined && existsSync(input) && realpathSync(input) === own,
  );
  if (taken !== undefined) refuse('it is the input file');
}

/** The old content stays until the new one is complete. 500 MB and more come in pieces. Throws InputError. */
export function writeWhole(file: string, text: string | Iterable<string>): void {
  checkWritable(file);
  try {
    writeFileWhole(file, typeof text === 'string' ? text : joined(text));
  } catch (cause) {
    throw new InputError(`writing ${file}: ${(cause as Error).message}. Give another file with --out`, {
      cause,
    });
  }
}

const PIECE_CHARACTERS = 1_000_000;

/** Joins small pieces to larger ones: a system call for each line would take longer. */
export function* joined(pieces: Iterable<string>): Generator<string> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < PIECE_CHARACTERS) continue;
    yield text;
    text = '';
  }
  yield text;
}
