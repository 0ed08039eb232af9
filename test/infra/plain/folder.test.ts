/** The folder that `autoscaler synth` writes. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeTemplate } from '../../../infra/plain/write-template.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { MINIMAL } from '../support/synthesized.ts';

const dir = ownFolder();

const folder = (name: string): string => join(dir, name);

const OLD = `${'0'.repeat(64)}.zip`;
const [first, second] = [folder('first'), folder('second')];
mkdirSync(join(second, 'assets'), { recursive: true });
writeFileSync(join(second, 'assets', OLD), '');
const [written, again] = [first, second].map((outDir) => writeTemplate(MINIMAL, { outDir }));

it('has line breaks where the template is small, and files that everyone may read', () => {
  expect(readFileSync(written?.template.file ?? '', 'utf8')).toMatch(/^\{\n "/);
  const [zip] = written?.assets ?? [];
  const bytes = readFileSync(zip?.file ?? '');
  // the central directory has the system and the mode of each file (APPNOTE.TXT, 4.4.2 and 4.4.15)
  const entries: string[] = [];
  for (let at = bytes.indexOf('PK\u0001\u0002'); at >= 0; at = bytes.indexOf('PK\u0001\u0002', at + 4))
    entries.push(`${bytes[at + 5]} ${(bytes.readUInt32LE(at + 38) >>> 16).toString(8)}`);
  expect(new Set(entries)).toEqual(new Set(['3 100644']));
});

it('keeps no part of a run that was killed, and what is left of one is no other file', () => {
  const outDir = mkdtempSync(folder('killed-'));
  mkdirSync(join(outDir, 'assets'));
  const parts = ['template.json.part', join('assets', `${OLD}.part`)].map((name) => join(outDir, name));
  for (const part of parts) writeFileSync(part, '');
  writeTemplate(MINIMAL, { outDir });
  expect(parts.filter((part) => existsSync(part))).toEqual([]);
});

it('has the same bytes after every run', () => {
  const read = (files: readonly { readonly file: string }[] = []) =>
    files.map(({ file }) => readFileSync(file));
  expect(read(written?.assets)).toHaveLength(1);
  expect(read(written?.assets)).toEqual(read(again?.assets));
  expect(read(written && [written.template])).toEqual(read(again && [again.template]));
});

it('loses the assets of an earlier run', () => {
  expect(existsSync(join(second, 'assets', OLD))).toBe(false);
  expect(readdirSync(join(second, 'assets'))).toHaveLength(again?.assets.length ?? 0);
});

it('keeps its files if the settings are wrong', () => {
  expect(() => writeTemplate({ ...MINIMAL, pools: [] }, { outDir: first })).toThrow(/pools/);
  for (const { file } of written?.assets ?? []) expect(existsSync(file)).toBe(true);
});

it.each([
  { file: 'main.tf', says: /the folder has other files \(main\.tf\); give an empty folder/ },
  { file: `assets/${'0'.repeat(64)}.zip-of-mine`, says: /the folder has other files/ },
  { file: `assets/x${'0'.repeat(64)}.zip`, says: /the folder has other files/ },
  { file: 'assets/own.zip', says: /the folder has other files \(assets.own\.zip\); give an empty folder/ },
])('is refused with another file in it: $file', ({ file, says }) => {
  const outDir = mkdtempSync(folder('other-'));
  mkdirSync(join(outDir, 'assets'));
  writeFileSync(join(outDir, file), '');
  expect(() => writeTemplate(MINIMAL, { outDir })).toThrow(says);
  expect(existsSync(join(outDir, file))).toBe(true);
});

it('is refused if it is a file, or has no name', () => {
  const file = folder('file');
  writeFileSync(file, '');
  expect(() => writeTemplate(MINIMAL, { outDir: file })).toThrow(/: it is a file; give another folder$/);
  expect(() => writeTemplate(MINIMAL, { outDir: '' })).toThrow(/the name of the folder is empty$/);
});
