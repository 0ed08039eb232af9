import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { joined, writeWhole } from '../../cli/shared/whole-file.ts';
import { ownFolder } from '../support/own-folder.ts';

const folder = ownFolder();
const file = join(folder, 'trace.jsonl');

it('joins small pieces and keeps every character', () => {
  const pieces = Array.from({ length: 3 }, (_, index) => String(index).repeat(700_000));
  const texts = [...joined(pieces)];
  expect(texts.map(({ length }) => length)).toEqual([1_400_000, 700_000]);
  expect(texts.join('')).toBe(pieces.join(''));
});

it('writes pieces as one file', () => {
  writeWhole(file, ['a\n', 'b\n']);
  expect(readFileSync(file, 'utf8')).toBe('a\nb\n');
});

it('keeps the old file when the text ends with an error', () => {
  writeWhole(file, 'old');
  function* broken(): Generator<string> {
    yield 'new';
    throw new RangeError('broken');
  }
  expect(() => writeWhole(file, broken())).toThrow('broken');
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual(['trace.jsonl']);
});
