/** Set cover. Needs are written as the letters of their options. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cheapCover } from '../../../lambda/decision/forecast/set-cover.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import { runs } from '../../support/runs.ts';

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
  it.each([
    { needs: [], costs: {}, expected: [], because: 'there is none' },
    { needs: ['', 'a'], costs: { a: 1 }, expected: ['a'], because: 'a need without options is left out' },
    { needs: ['ab'], costs: { a: 2, b: 1 }, expected: ['b'], because: 'the cheaper one will do' },
    { needs: ['ab'], costs: { a: 1, b: 1 }, expected: ['a'], because: 'the name decides between equals' },
    { needs: ['ab', 'b'], costs: { a: 1, b: 9 }, expected: ['b'], because: 'b is needed in any case' },
    {
      needs: ['ab', 'ac', 'ad'],
      costs: { a: 2, b: 1, c: 1, d: 1 },
      expected: ['a'],
      because: 'one opens all three',
    },
    {
      needs: ['ab', 'ac'],
      costs: { a: 9, b: 1, c: 1 },
      expected: ['b', 'c'],
      because: 'two are cheaper than one',
    },
    {
      needs: ['ab', 'bc', 'ca'],
      costs: { a: 1, b: 1, c: 1 },
      expected: ['a', 'b'],
      because: 'two of three are enough',
    },
  ])('chooses $expected for needs $needs at costs $costs, because $because', ({ needs, costs, expected }) => {
    expect(cover(needs, costs)).toEqual(expected);
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
