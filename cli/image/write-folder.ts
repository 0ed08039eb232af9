/** Writes a new folder completely or not at all. */
import { chmodSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { InputError } from '../shared/cli-environment.ts';
import type { TextFile } from './image-files.ts';

/** Throws InputError. */
export function refuseExisting(folder: string): void {
  if (folder === '') throw new InputError('writing "": the name of the folder is empty. Give one with --out');
  if (exists(folder))
    throw new InputError(
      `writing ${folder}: it exists, and this command never overwrites a folder. Name another one with --out, or move it away`,
    );
}

/** Also a link to nothing exists. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // no folder of this name can be made, which says why
    return false;
  }
}

/** Throws InputError. */
export function writeFolder(folder: string, files: readonly TextFile[]): void {
  refuseExisting(folder);
  orRefuse(folder, () => {
    mkdirSync(dirname(resolve(folder)), { recursive: true });
    // fails if another process has made it since: so only its own folder is removed below
    mkdirSync(folder);
  });
  orRefuse(folder, () => {
    try {
      for (const file of files) writeInto(folder, file);
    } catch (cause) {
      rmSync(folder, { recursive: true, force: true });
      throw cause;
    }
  });
}

function writeInto(folder: string, { path, text }: TextFile): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { flag: 'wx' });
  if (path.endsWith('.sh')) chmodSync(file, 0o755);
}

function orRefuse(folder: string, act: () => void): void {
  try {
    act();
  } catch (cause) {
    throw new InputError(`writing ${folder}: ${messageOf(cause)}. Name another folder with --out`, { cause });
  }
}
