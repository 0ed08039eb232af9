import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { InputError } from './surroundings.ts';

/** Writes a file that is there as a whole or not at all: what stood in it stays until then. Throws InputError. */
export function writeWhole(file: string, text: string): void {
  const part = `${file}.part`;
  try {
    writeFileSync(part, text);
    renameSync(part, file);
  } catch (cause) {
    rmSync(part, { force: true });
    throw new InputError(`writing ${file}: ${(cause as Error).message}; give another file with --out`, {
      cause,
    });
  }
}
