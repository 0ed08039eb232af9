/** Checks that the README is short and wrapped, and has both commands on its first screen. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const lines = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');
const FIRST_SCREEN = 40;
const WIDTH = 110;

/** A row of a table cannot be wrapped. */
const isTableRow = (line: string): boolean => line.startsWith('|');

/** `npm install` of another version loses it. */
it('lets npm leave out the package with Node where Node is new enough', () => {
  const [manifest, lock] = ['package.json', 'package-lock.json'].map((file) =>
    JSON.parse(readFileSync(file, 'utf8')),
  );
  const own = Object.keys(manifest.optionalDependencies).map((name) => lock.packages[`node_modules/${name}`]);
  expect(own.map(({ engines }) => engines)).toEqual(own.map(() => ({ node: '<24.3.0' })));
});

describe('the README', () => {
  it('has at most 200 lines', () => {
    expect(lines.length).toBeLessThanOrEqual(200);
  });

  it('wraps its lines, except the rows of tables', () => {
    expect(lines.filter((line) => !isTableRow(line) && line.length > WIDTH)).toEqual([]);
  });

  it.each(['npm ci --omit=dev && npm run demo', 'npm ci && npm run check'])(
    'has the command "%s" alone on a line of its first screen',
    (command) => {
      expect(lines.slice(0, FIRST_SCREEN)).toContain(command);
    },
  );
});
