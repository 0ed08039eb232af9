/** Set cover. Needs are written as the letters of their options. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cheapCover } from '../../../lambda/decision/forecast/set-cover.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import { runs } from '../../support/runs.ts';
import { table } from '../../support/table.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
type Costs = Readonly<Record<string, number>>;
const cover = (needs: readonly string[], costs: Costs): readonly string[] =>
  [
    ...cheapCover(
      needs.map((need) => [...need]),
      new Map(Object.entries(costs)),
    ),
  ].sort();

describe('cheapCover', () => {
  it.each(table<{ needs?: string; costs?: string; expected?: string; because: string }>`
    needs    | costs              | expected | because
             |                    |          | there is none
    '- a'    | a 1                | a        | a need without options is left out
    ab       | a 2, b 1           | b        | the cheaper one will do
    ab       | a 1, b 1           | a        | the name decides between equals
    ab b     | a 1, b 9           | b        | b is needed in any case
    ab ac ad | a 2, b 1, c 1, d 1 | a        | one opens all three
    ab ac    | a 9, b 1, c 1      | bc       | two are cheaper than one
    ab bc ca | a 1, b 1, c 1      | ab       | two of three are enough
  `)('chooses $expected for needs $needs at costs $costs, because $because', (row) => {
    const { needs = '', costs = '', expected = '' } = row;
    const pairs = costs.split(', ').map((pair) => pair.split(' '));
    const priced = Object.fromEntries(pairs.map(([name = '', cost]) => [name, Number(cost)]));
    expect(cover(needs.replace('-', '').split(' '), priced).join('')).toBe(expected);
  });

  it('satisfies all needs in random cases, without an option too many, at most at 2.6 times the least cost', () => {
    const needs = fc.array(fc.subarray(NAMES, { minLength: 1 }), { maxLength: 7 });
    const costs = fc.tuple(...NAMES.map(() => fc.integer({ min: 0, max: 9 })));
    fc.assert(
      fc.property(needs, costs, (lists, prices) => {
        const costOf = (names: readonly string[]): number =>
          sum(names, (name) => prices[NAMES.indexOf(name)] ?? 0);
        const answers = (names: readonly string[]): boolean =>
          lists.every((list) => list.some((name) => names.includes(name)));
        const found = cover(
          lists.map((list) => list.join('')),
          Object.fromEntries(NAMES.map((name, index) => [name, prices[index] ?? 0])),
        );
        const all = Array.from({ length: 2 ** NAMES.length }, (_, bits) =>
          NAMES.filter((_name, index) => (bits >> index) % 2 === 1),
        );
        expect(answers(found)).toBe(true);
        for (const name of found) expect(answers(found.filter((other) => other !== name))).toBe(false);
        // the bound for seven needs: 1 + 1/2 + ... + 1/7
        expect(costOf(found)).toBeLessThanOrEqual(2.6 * Math.min(...all.filter(answers).map(costOf)));
      }),
      runs(1000),
    );
  });
});
