/**
 * Checks docs/internals/faults.md: each row links a test file that contains a test with the cited
 * name.
 */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const docs = new URL('../../docs/internals/', import.meta.url);
const rows = readFileSync(new URL('faults.md', docs), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!Fault \|)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

/** `[name of the test](../test/file.test.ts)`. */
const LINK = /^\[(?<name>[^\]]+)\]\((?<path>[^)]+\.test\.ts)\)$/;

describe('the fault table', () => {
  it.each(rows.map((cells) => [cells[0] ?? '', cells] as const))(
    'links an existing test for the fault: %s',
    (_, cells) => {
      expect(cells).toHaveLength(3);
      expect(cells.filter((cell) => cell.trim() === '')).toEqual([]);
      const { name = '', path = '' } = LINK.exec(cells[2] ?? '')?.groups ?? {};
      const file = new URL(path, docs);
      expect(path !== '' && existsSync(file), `${cells[2]} links a test file`).toBe(true);
      expect(readFileSync(file, 'utf8')).toContain(name);
    },
  );

  it('lists each fault once', () => {
    const faults = rows.map(([fault]) => fault);
    expect(faults).toEqual([...new Set(faults)]);
  });
});
