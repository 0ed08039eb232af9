/** Finds and reads the lock files of templates: in a folder, or in the archive of a template version. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, posix, resolve } from 'node:path';
import { extract } from 'tar-stream';
import { compare } from '../../lambda/decision/model/collections.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { InputError } from '../shared/cli-environment.ts';
import { LARGEST_LOCK_FILE, LockFileError, type ProviderLock, parseLockFile } from './lock-file.ts';

const LOCK_FILE = '.terraform.lock.hcl';

type FoundFile =
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly why: string };

export type Template = {
  /** For people: the name, with the organization if there are several. */
  readonly name: string;
  readonly locks: Locks;
};

export type Locks =
  | { readonly kind: 'locked'; readonly providers: readonly ProviderLock[] }
  /** The template has no lock file: Terraform chooses the versions at each build. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly why: string };

export function locksIn(found: FoundFile): Locks {
  if (found.kind === 'none') return found;
  if (found.kind === 'refused') return { kind: 'unreadable', why: found.why };
  try {
    return { kind: 'locked', providers: parseLockFile(found.bytes) };
  } catch (cause) {
    if (!(cause instanceof LockFileError)) throw cause;
    return { kind: 'unreadable', why: `${LOCK_FILE}: ${messageOf(cause)}` };
  }
}

const refused = (why: string): FoundFile => ({ kind: 'refused', why });

const tooLarge = (file: string, size: number): FoundFile =>
  refused(`${file} has ${size} bytes; at most ${LARGEST_LOCK_FILE} are read`);

/** The folder itself, or each folder in it with Terraform files. Follows no links. Throws InputError. */
export function readTemplatesOfFolder(folder: string): readonly Template[] {
  const inside = entriesOf(folder)
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort(compare)
    .map((name) => join(folder, name));
  const folders = isTemplate(folder) ? [folder] : inside.filter(isTemplate);
  if (folders.length === 0)
    throw new InputError(
      `reading templates of ${folder}: neither the folder nor a folder in it has .tf files. Give the folder of a template, or the folder of all templates, with --dir`,
    );
  return folders.map((each) => ({ name: basename(resolve(each)), locks: locksIn(lockFileIn(each)) }));
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
    if (!entry.isFile()) return refused(`${file} is not a regular file. Replace it with a copy of the file`);
    if (entry.size > LARGEST_LOCK_FILE) return tooLarge(file, entry.size);
    return { kind: 'file', bytes: readFileSync(file) };
  } catch (cause) {
    return refused(messageOf(cause));
  }
}

/** As coder's limit for an archive, this is far above real templates. */
const MOST_ENTRIES = 100_000;

/**
 * coderd stores uncompressed tar archives only, also after the upload of a zip file
 * (docs/internals/coder.md §6). Writes nothing to disk. Does not throw: a broken archive is `refused`.
 */
export async function lockFileInArchive(archive: Uint8Array): Promise<FoundFile> {
  const [first, second] = archive;
  if (first === undefined) return refused('coderd returned an empty file instead of an archive');
  if (first === 0x1f && second === 0x8b)
    return refused('coderd returned a gzip file; only tar archives are read');
  if (first === 0x50 && second === 0x4b)
    return refused('coderd returned a zip file; only tar archives are read');
  try {
    return await readEntries(archive);
  } catch (cause) {
    return refused(`the archive of the template is broken: ${messageOf(cause)}`);
  }
}

/** Names count as coder reads them when it unpacks (docs/internals/coder.md §6). */
async function readEntries(archive: Uint8Array): Promise<FoundFile> {
  const entries = extract();
  entries.end(archive);
  const found: FoundFile[] = [];
  let count = 0;
  for await (const entry of entries) {
    count += 1;
    if (count > MOST_ENTRIES) return refused(`the archive has more than ${MOST_ENTRIES} entries`);
    const { name, type, size = 0 } = entry.header;
    if (!isLocal(name))
      return refused(`the archive has the path ${JSON.stringify(name)}, so coder refuses it`);
    if (posix.normalize(name) === LOCK_FILE) found.push(await lockFileOf(entry, type, size));
    entry.resume();
  }
  const [first = { kind: 'none' }, second] = found;
  return second === undefined ? first : refused(`the archive has ${LOCK_FILE} twice`);
}

/** As Go's filepath.IsLocal: it stays in the folder. */
function isLocal(name: string): boolean {
  return name !== '' && !name.startsWith('/') && !/^\.\.(?:\/|$)/.test(posix.normalize(name));
}

async function lockFileOf(
  entry: AsyncIterable<unknown>,
  type: string | null | undefined,
  size: number,
): Promise<FoundFile> {
  if (type !== 'file')
    return refused(
      `${LOCK_FILE} is a ${type ?? 'special file'} in the archive. coder unpacks regular files only. Push the template with a regular file`,
    );
  if (size > LARGEST_LOCK_FILE) return tooLarge(LOCK_FILE, size);
  const chunks: Uint8Array[] = [];
  for await (const chunk of entry) if (chunk instanceof Uint8Array) chunks.push(chunk);
  return { kind: 'file', bytes: Buffer.concat(chunks) };
}
