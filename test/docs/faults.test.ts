/** Checks docs/internals/faults.md: each item links a test file that contains a test with the cited name. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const docs = new URL('../../docs/internals/', import.meta.url);
/** `- **Fault.** What happens. [name of the test](../../test/file.test.ts)`. */
const ITEM = /^- \*\*(?<fault>.+?)\*\* .+ \[(?<name>[^\]]+)\]\((?<path>[^)]+\.test\.ts)\)$/;

const items = readFileSync(new URL('faults.md', docs), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('- '));
const faults = items.map((item) => ITEM.exec(item)?.groups?.fault ?? item);

describe('the list of faults', () => {
  it.each(items)('links an existing test: %s', (item) => {
    const { name = '', path = '' } = ITEM.exec(item)?.groups ?? {};
    const file = new URL(path, docs);
    expect(path !== '' && existsSync(file), 'the item links a test file').toBe(true);
    expect(readFileSync(file, 'utf8')).toContain(name);
  });

  it('has each fault once', () => {
    expect(faults.length).toBeGreaterThan(100);
    expect(faults).toEqual([...new Set(faults)]);
  });
});
