/** The folder that `autoscaler synth` writes. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeTemplate } from '../../../infra/plain/write-template.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { MINIMAL } from '../support/synthesized.ts';

const dir = ownFolder();

const folder = (name: string): string => join(dir, name);

it('has the same bytes after every run', () => {
  const [first, second] = [folder('first'), folder('second')].map((outDir) =>
    writeTemplate(MINIMAL, { outDir }),
  );
  const read = (files: readonly { readonly file: string }[] = []) =>
    files.map(({ file }) => readFileSync(file));
  expect(read(first?.assets)).toHaveLength(1);
  expect(read(first?.assets)).toEqual(read(second?.assets));
  expect(read(first && [first.template])).toEqual(read(second && [second.template]));
});

it('loses the assets of an earlier run', () => {
  const outDir = folder('again');
  writeTemplate(MINIMAL, { outDir });
  const old = join(outDir, 'assets', `${'0'.repeat(64)}.zip`);
  writeFileSync(old, '');
  const { assets } = writeTemplate(MINIMAL, { outDir });
  expect(existsSync(old)).toBe(false);
  expect(readdirSync(join(outDir, 'assets'))).toHaveLength(assets.length);
});

it('keeps its files if the settings are wrong', () => {
  const outDir = folder('kept');
  const { assets } = writeTemplate(MINIMAL, { outDir });
  expect(() => writeTemplate({ ...MINIMAL, pools: [] }, { outDir })).toThrow(/pools/);
  for (const { file } of assets) expect(existsSync(file)).toBe(true);
});

it.each([
  { file: 'main.tf', says: /the folder has other files \(main\.tf\); give an empty folder/ },
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
