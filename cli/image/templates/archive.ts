/**
 * Finds the lock file in the archive of a template version. coderd stores tar archives only, also
 * after the upload of a zip file, and does not compress them (docs/internals/coder.md §6). Nothing
 * is written to disk.
 */
import { posix } from 'node:path';
import { extract } from 'tar-stream';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import { LARGEST_LOCK_FILE } from '../lock/parse.ts';
import { type FoundFile, LOCK_FILE } from './template.ts';

const { normalize } = posix;

/** As coder's limit for an archive, this is far above real templates. */
const MOST_ENTRIES = 100_000;

/** Does not throw: a broken archive is `refused`. */
export async function lockFileInArchive(archive: Uint8Array): Promise<FoundFile> {
  const flaw = formatFlaw(archive);
  if (flaw !== undefined) return { kind: 'refused', why: flaw };
  try {
    return await readEntries(archive);
  } catch (cause) {
    return { kind: 'refused', why: `the archive of the template is broken: ${messageOf(cause)}` };
  }
}

function formatFlaw(archive: Uint8Array): string | undefined {
  if (archive.length === 0) return 'coderd returned an empty file instead of an archive';
  if (archive[0] === 0x1f && archive[1] === 0x8b)
    return 'coderd returned a gzip file; only tar archives are read';
  if (archive[0] === 0x50 && archive[1] === 0x4b)
    return 'coderd returned a zip file; only tar archives are read';
  return undefined;
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
    const isWanted = normalize(name) === LOCK_FILE;
    if (isWanted && type === 'file' && size <= LARGEST_LOCK_FILE)
      found.push({ kind: 'file', bytes: await bytesOf(entry) });
    else if (isWanted) found.push(refused(entryFlaw(type, size)));
    entry.resume();
  }
  const [first = { kind: 'none' }, second] = found;
  return second === undefined ? first : refused(`the archive has ${LOCK_FILE} twice`);
}

const refused = (why: string): FoundFile => ({ kind: 'refused', why });

/** As Go's filepath.IsLocal: it stays in the folder. */
function isLocal(name: string): boolean {
  return name !== '' && !name.startsWith('/') && !/^\.\.(?:\/|$)/.test(normalize(name));
}

function entryFlaw(type: string | null | undefined, size: number): string {
  return type === 'file'
    ? `${LOCK_FILE} has ${size} bytes; at most ${LARGEST_LOCK_FILE} are read`
    : `${LOCK_FILE} is a ${type ?? 'special file'} in the archive. coder unpacks regular files only. Push the template with a regular file`;
}

async function bytesOf(entry: AsyncIterable<unknown>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of entry) if (chunk instanceof Uint8Array) chunks.push(chunk);
  return Buffer.concat(chunks);
}
