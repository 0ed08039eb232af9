/** What the README promises of itself: short, wrapped, and both commands on the first screen. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const lines = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');
const FIRST_SCREEN = 40;
const WIDTH = 110;

/** A row of a table cannot be wrapped. */
const isTableRow = (line: string): boolean => line.startsWith('|');

describe('the README', () => {
  it('has at most 200 lines', () => {
    expect(lines.length).toBeLessThanOrEqual(200);
  });

  it('is wrapped, but for the rows of tables', () => {
    expect(lines.filter((line) => !isTableRow(line) && line.length > WIDTH)).toEqual([]);
  });

  it.each(['npm ci && npm run demo', 'npm ci && npm run check'])(
    'has the command "%s" on its first screen, on a line of its own',
    (command) => {
      expect(lines.slice(0, FIRST_SCREEN)).toContain(command);
    },
  );
});
