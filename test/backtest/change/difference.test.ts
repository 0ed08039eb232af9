import { describe, expect, it } from 'vitest';
import { differenceOf, MOST_PAIRS } from '../../../backtest/change/difference.ts';
import { Random } from '../../../simulator/base/random.ts';

const differenceOfValues = (before: readonly number[], after: readonly number[]) =>
  differenceOf(
    before.map((value, at) => ({ before: value, after: after[at] ?? Number.NaN })),
    (value) => value,
  );

describe('a difference over pairs of replays', () => {
  it.each([
    { before: [4, 5, 6], after: [4, 5, 6], clarity: 'none', because: 'all pairs are equal' },
    { before: [4, 5, 6], after: [5, 6, 7], clarity: 'clear', because: 'each pair differs by the same' },
    { before: [4, 5, 6], after: [5, 4, 7], clarity: 'unclear', because: 'the pairs disagree' },
    { before: [4, 5], after: [6, 6], clarity: 'unclear', because: 'two pairs say little' },
    { before: [10, 99, 3], after: [12, 101.1, 5.1], clarity: 'clear', because: 'the pairs agree' },
    { before: [4, 4, 4], after: [4, 4, 9], clarity: 'unclear', because: 'only one pair differs' },
    { before: [4], after: [5], clarity: 'clear', because: 'nothing is known about chance' },
    { before: [4], after: [4], clarity: 'none', because: 'the pair is equal' },
  ])('of $before and $after is $clarity: $because', ({ before, after, clarity }) => {
    expect(differenceOfValues(before, after).clarity).toBe(clarity);
  });

  it('has the means and half of the confidence interval', () => {
    // differences 1, 2, 3: mean 2, standard error 1 / √3, t(2) = 4.303
    expect(differenceOfValues([1, 1, 1], [2, 3, 4])).toEqual({
      ...{ before: 1, after: 3, change: 2, clarity: 'unclear' },
      margin: expect.closeTo(4.303 / Math.sqrt(3), 3),
    });
  });

  it('has no margin with one pair', () => {
    expect(differenceOfValues([1], [2])).not.toHaveProperty('margin');
  });

  it.each([2, 5, MOST_PAIRS])('calls chance clear in 5 % of the cases with %i pairs', (pairs) => {
    const random = new Random(pairs);
    const values = () => Array.from({ length: pairs }, () => bell(random));
    const cases = 4_000;
    const clear = Array.from({ length: cases }, () => differenceOfValues(values(), values())).filter(
      ({ clarity }) => clarity === 'clear',
    );
    expect(clear.length / cases).toBeGreaterThan(0.038);
    expect(clear.length / cases).toBeLessThan(0.062);
  });
});

/** Nearly normal: the sum of twelve even values. */
const bell = (random: Random): number =>
  Array.from({ length: 12 }, () => random.between(0, 1_000)).reduce((sum, value) => sum + value, 0);
