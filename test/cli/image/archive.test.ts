/** The lock file in the archive of a template version, also of a malicious or broken one. */
import { gzipSync, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { lockFileInArchive } from '../../../cli/image/template-files.ts';
import { table } from '../../support/table.ts';
import { type Entry, LOCK_FILE, MAIN, tarOf } from './fixtures.ts';

const lock = (name = LOCK_FILE, text = 'the lock'): Entry => ({ name, text });

async function find(...entries: readonly Entry[]) {
  const found = await lockFileInArchive(await tarOf(...entries));
  return found.kind === 'file' ? new TextDecoder().decode(found.bytes) : found;
}

it.each([LOCK_FILE, `./${LOCK_FILE}`, `.//${LOCK_FILE}`, `a/../${LOCK_FILE}`])('finds %s', async (name) => {
  expect(await find(MAIN, lock(name), { name: 'x/', type: 'directory' })).toBe('the lock');
});

it.each([
  { scenario: 'there is none', entries: [MAIN] },
  { scenario: 'only a module has one', entries: [MAIN, lock(`modules/a/${LOCK_FILE}`)] },
])('finds none if $scenario', async ({ entries }) => {
  expect(await find(...entries)).toEqual({ kind: 'none' });
});

it('refuses two files with the name', async () => {
  const why = `the archive has ${LOCK_FILE} twice`;
  expect(await find(lock(LOCK_FILE, 'first'), MAIN, lock(`./${LOCK_FILE}`))).toEqual({
    kind: 'refused',
    why,
  });
});

it.each(['/etc/passwd', '../x', 'a/../../x', '..', `../${LOCK_FILE}`, `/${LOCK_FILE}`])(
  'refuses an archive with the path %s, as coder does',
  async (name) => {
    const found = await find(lock(), { name, text: 'x' });
    expect(found).toEqual({ kind: 'refused', why: expect.stringContaining('so coder refuses it') });
  },
);

it('takes the name of a pax header', async () => {
  expect(await find({ name: 'x', text: 'the lock', pax: { path: LOCK_FILE } })).toBe('the lock');
});

describe('an archive is refused', () => {
  it.each(table<{ readonly scenario: string; readonly entry: Entry; readonly says: string }>`
    scenario                  | entry                                                            | says
    a symbolic link           | ${{ name: LOCK_FILE, type: 'symlink', linkname: '/etc/passwd' }} | is a symlink in the archive
    a hard link               | ${{ name: LOCK_FILE, type: 'link', linkname: 'main.tf' }}        | is a link in the archive
    a folder                  | ${{ name: LOCK_FILE, type: 'directory' }}                        | is a directory
    larger than any lock file | ${lock(LOCK_FILE, 'x'.repeat(1_000_001))}                        | has 1000001 bytes
  `)('if its lock file is $scenario', async ({ entry, says }) => {
    expect(await find(MAIN, entry)).toEqual({ kind: 'refused', why: expect.stringContaining(says) });
  });

  const whole = tarOf(MAIN, lock(LOCK_FILE, 'x'.repeat(5_000)));
  it.each([
    { scenario: 'it is empty', bytes: async () => new Uint8Array(), says: 'an empty file' },
    { scenario: 'it is compressed', bytes: async () => gzipSync(await whole), says: 'a gzip file' },
    { scenario: 'it is a zip', bytes: async () => zipSync({ a: new Uint8Array() }), says: 'a zip file' },
    { scenario: 'it ends too early', bytes: async () => (await whole).slice(0, 2_500), says: 'broken' },
    { scenario: 'it is noise', bytes: async () => new Uint8Array(2_048).fill(0x41), says: 'broken' },
    { scenario: 'a header lies about a size', bytes: async () => lying(await whole), says: 'broken' },
  ])('if $scenario', async ({ bytes, says }) => {
    const found = await lockFileInArchive(await bytes());
    expect(found).toEqual({ kind: 'refused', why: expect.stringContaining(says) });
  });
});

/** The first file claims 8 GB, with a correct checksum of the header. */
function lying(archive: Uint8Array): Uint8Array {
  const copy = Buffer.from(archive);
  copy.write('77777777777\0', 124, 'latin1');
  copy.fill(' ', 148, 156);
  const total = copy.subarray(0, 512).reduce((sum, byte) => sum + byte, 0);
  copy.write(`${total.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return copy;
}
