/** What docs/operate.md shows of `status` and `doctor` is what the drill saw: it cannot grow old. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const lines = readFileSync('docs/drill.md', 'utf8').split('\n');
/** By heading: the lines of its blocks of text. */
const shown = readFileSync('docs/operate.md', 'utf8')
  .split(/^### /m)
  .slice(1)
  .flatMap((section) =>
    [...section.matchAll(/^```text\n(.*?)^```/gms)].flatMap(([, block = '']) =>
      block
        .trimEnd()
        .split('\n')
        .map((line) => ({ heading: section.slice(0, section.indexOf('\n')), line })),
    ),
  );

/** Whether the drill printed the line; `…` stands for what is left out. */
function isSeen(line: string): boolean {
  const parts = line.split('…').map((part) => part.trim());
  return lines.some((seen) => {
    let from = 0;
    return parts.every((part) => {
      const at = seen.indexOf(part, from);
      from = at + part.length;
      return at >= 0;
    });
  });
}

describe('each alarm that a night of the drill rang', () => {
  it.each(shown)('shows under $heading what was printed: $line', ({ line }) => {
    expect(isSeen(line)).toBe(true);
  });

  it('has such lines', () => {
    const [, alarms = ''] = /^## By alarm\n(.*?)^## /ms.exec(lines.join('\n')) ?? [];
    const rung = [...alarms.matchAll(/^- `([a-z-]+)`: (?!no night)/gm)].map(([, name]) => name);
    const headings = new Set(shown.map(({ heading }) => heading));
    expect(rung.filter((name) => name !== undefined && !headings.has(name))).toEqual([]);
    expect(rung.length).toBeGreaterThan(8);
  });
});
