import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Zippable, zipSync } from 'fflate';

/** The earliest time that a zip file can have: the same files make the same bytes. */
const NO_TIME = new Date(1980, 0, 1);
/** Files that everyone can read, as Lambda requires: rw-r--r-- of a regular file. */
const UNIX = 3;
const READABLE = 0o100644;

/** The files of a folder, without its subfolders, as a zip file. */
export function zipFolder(folder: string): Uint8Array {
  const files: Zippable = {};
  for (const name of readdirSync(folder).sort())
    files[name] = [readFileSync(join(folder, name)), { os: UNIX, attrs: READABLE << 16 }];
  return zipSync(files, { level: 9, mtime: NO_TIME });
}
