import { describe, expect, it } from 'vitest';
import { arrow, changeText, code, dollars, mean, seconds, table } from '../../../cli/compare/words.ts';

describe('text of a pull request', () => {
  it.each([
    { text: 'default gpu=a10', shown: '`default gpu=a10`' },
    { text: '`</code><script>', shown: "`'</code><script>`" },
    { text: 'a|b', shown: '`a\\|b`' },
    { text: '@everyone\n# big\r\u2028x', shown: '`@everyone # big x`' },
    { text: '\u202Eevil', shown: '` evil`' },
    { text: ' ', shown: '`(empty)`' },
    { text: 'x'.repeat(500), shown: `\`${'x'.repeat(160)}…\`` },
  ])('is code on one line: $shown', ({ text, shown }) => {
    expect(code(text)).toBe(shown);
  });
});

describe('a change', () => {
  it.each([
    { before: 41.2, after: 43.3, margin: 0.5, clarity: 'clear', says: '+$2.10 (+5.1%) ± $0.50' },
    { before: 41.2, after: 39.1, margin: 0.5, clarity: 'clear', says: '-$2.10 (-5.1%) ± $0.50' },
    { before: 41.2, after: 43.3, margin: 3, clarity: 'unclear', says: 'no clear change (+$2.10 ± $3.00)' },
    { before: 41.2, after: 41.2, margin: 0, clarity: 'none', says: 'none' },
    { before: 0, after: 2.1, margin: 0, clarity: 'clear', says: '+$2.10' },
    { before: 1, after: 31, margin: 0, clarity: 'clear', says: '+$30.00' },
  ] as const)('from $before to $after reads "$says"', ({ before, after, margin, clarity, says }) => {
    expect(changeText({ before, after, change: after - before, margin, clarity }, dollars)).toBe(says);
  });

  it('has no margin if there is one pair only', () => {
    expect(changeText({ before: 10, after: 12, change: 2, clarity: 'clear' }, seconds)).toBe('+2 s (+20%)');
  });
});

it('shows a figure once if it reads the same before and after', () => {
  expect([arrow({ before: 3, after: 3.2 }, mean), arrow({ before: 3, after: 3.01 }, mean)]).toEqual([
    '3 → 3.2',
    '3',
  ]);
});

it('aligns the source of a table', () => {
  expect(
    table(
      ['', 'after'],
      [
        ['waits', '1 s'],
        ['x', '100 s'],
      ],
    ),
  ).toBe(['|       | after |', '| ----- | ----- |', '| waits | 1 s   |', '| x     | 100 s |'].join('\n'));
});
