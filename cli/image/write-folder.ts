/** Writes a new folder completely or not at all. */
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { InputError } from '../shared/cli-environment.ts';
import type { TextFile } from './files/layers.ts';

/** Throws InputError. */
export function refuseExisting(folder: string): void {
  if (folder === '') throw new InputError('writing "": the name of the folder is empty. Give one with --out');
  if (existsSync(folder))
    throw new InputError(
      `writing ${folder}: it exists, and this command never overwrites a folder. Name another one with --out, or move it away`,
    );
}

/** Throws InputError. */
export function writeFolder(folder: string, files: readonly TextFile[]): void {
  refuseExisting(folder);
  try {
    mkdirSync(folder, { recursive: true });
    for (const { path, text } of files) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { flag: 'wx' });
      if (path.endsWith('.sh')) chmodSync(file, 0o755);
    }
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw new InputError(`writing ${folder}: ${messageOf(cause)}. Name another folder with --out`, { cause });
  }
}
