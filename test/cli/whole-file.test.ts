/** Files that commands write are whole or not there. */
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tryWriting, writeFileWhole } from '../../lambda/shared/whole-file.ts';
import { ownFolder } from '../support/own-folder.ts';

const folder = ownFolder();
const file = join(folder, 'file');

function* cutShort(): Generator<string> {
  yield 'the beginning';
  throw new Error('ENOSPC: no space left on device');
}

it.each([undefined, 'old'])('leaves what was there if the disk is full: %s', (before) => {
  if (before !== undefined) writeFileSync(file, before);
  for (const isNew of [false, before === undefined])
    expect(() => writeFileWhole(file, cutShort(), { isNew })).toThrow('ENOSPC');
  expect(readdirSync(folder)).toEqual(before === undefined ? [] : ['file']);
  if (before !== undefined) expect(readFileSync(file, 'utf8')).toBe(before);
});

it('replaces a file, keeps its mode, and follows a link to it', () => {
  const link = join(folder, 'link');
  writeFileSync(file, 'old');
  chmodSync(file, 0o600);
  symlinkSync(file, link);
  writeFileSync(`${file}.part`, 'of a run that was killed');
  writeFileWhole(link, 'new');
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).toSorted()).toEqual(['file', 'link']);
});

it('never replaces a file that must be new', () => {
  writeFileSync(file, 'old');
  expect(() => writeFileWhole(file, 'new', { isNew: true })).toThrow('EEXIST');
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(existsSync(`${file}.part`)).toBe(false);
});

it('writes a device as it is', () => {
  writeFileWhole('/dev/null', 'text');
  expect(statSync('/dev/null').isFile()).toBe(false);
});

it('tries a file without leaving one', () => {
  const other = join(folder, 'other');
  tryWriting(other);
  expect(existsSync(other)).toBe(false);
  expect(() => tryWriting(join(folder, 'none', 'file'))).toThrow('ENOENT');
});

it('is how every command writes its files', () => {
  const sources = ['cli', 'infra/plain', 'lab/what-if'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
  );
  const direct = sources.filter(
    (name) =>
      name.endsWith('.ts') && /\b(?:writeFile|appendFile|copyFile|createWriteStream)/.test(read(name)),
  );
  // it writes the docs of this repository
  expect(direct).toEqual(['cli/docs.ts']);
});

const read = (name: string): string => readFileSync(name, 'utf8').replaceAll('writeFileWhole', '');
