/** Reads templates from a folder: the folder itself, or each folder in it that has Terraform files. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { compare } from '../../../lambda/decision/model/collections.ts';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import { InputError } from '../../shared/cli-environment.ts';
import { LARGEST_LOCK_FILE } from '../lock/parse.ts';
import { type FoundFile, LOCK_FILE, locksIn, type Template } from './template.ts';

/** Sorted by name. Symbolic links are not followed. Throws InputError. */
export function readTemplatesOfFolder(folder: string): readonly Template[] {
  const inside = foldersIn(folder);
  const folders = isTemplate(folder) ? [folder] : inside.filter(isTemplate);
  if (folders.length === 0)
    throw new InputError(
      `reading templates of ${folder}: neither the folder nor a folder in it has .tf files. Give the folder of a template, or the folder of all templates, with --dir`,
    );
  return folders.map((each) => ({ name: basename(resolve(each)), locks: locksIn(lockFileIn(each)) }));
}

function foldersIn(folder: string): readonly string[] {
  return entriesOf(folder)
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort(compare)
    .map((name) => join(folder, name));
}

function isTemplate(folder: string): boolean {
  return entriesOf(folder).some((entry) => entry.isFile() && /\.tf(?:\.json)?$/.test(entry.name));
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    throw new InputError(
      `reading templates of ${folder}: ${messageOf(cause)}. Give the folder of your templates with --dir`,
      { cause },
    );
  }
}

function lockFileIn(folder: string): FoundFile {
  const file = join(folder, LOCK_FILE);
  try {
    const entry = lstatSync(file, { throwIfNoEntry: false });
    if (entry === undefined) return { kind: 'none' };
    if (!entry.isFile())
      return { kind: 'refused', why: `${file} is not a regular file. Replace it with a copy of the file` };
    if (entry.size > LARGEST_LOCK_FILE)
      return {
        kind: 'refused',
        why: `${file} has ${entry.size} bytes; at most ${LARGEST_LOCK_FILE} are read`,
      };
    return { kind: 'file', bytes: readFileSync(file) };
  } catch (cause) {
    return { kind: 'refused', why: messageOf(cause) };
  }
}
