import { describe, expect, it } from 'vitest';
import { factorOf, times } from '../../../cli/cold-cache/coverage.ts';
import { estimateSum } from '../../../cli/cold-cache/interval.ts';
import { Random } from '../../../simulator/base/random.ts';
import { IS_FULL } from '../../support/runs.ts';

/** A log-normal draw with this mean. */
function draw(random: Random, mean: number, spread: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  const normal = radius * Math.cos(2 * Math.PI * random.next());
  return mean * Math.exp(spread * normal - spread ** 2 / 2);
}

describe('the interval of a sum of means', () => {
  it.each([
    { cold: 24, warm: 4, spread: 0.3, size: 50 },
    { cold: 24, warm: 4, spread: 0.6, size: 20 },
    { cold: 12, warm: 12, spread: 0.3, size: 50 },
    { cold: 24, warm: 4, spread: 0.3, size: 8 },
  ])('contains a difference of $cold and $warm s in $size builds about as often as it claims', (world) => {
    const { cold, warm, spread, size } = world;
    const random = new Random(7);
    const sample = (mean: number) => Array.from({ length: size }, () => draw(random, mean, spread));
    const intervals = Array.from({ length: IS_FULL ? 400 : 60 }, () =>
      estimateSum([
        { values: sample(cold), weight: 1 },
        { values: sample(warm), weight: -1 },
      ]),
    );
    const contained = intervals.filter(({ low, high }) => low <= cold - warm && cold - warm <= high).length;
    expect(contained / intervals.length).toBeGreaterThanOrEqual(0.88);
    expect(contained / intervals.length).toBeLessThanOrEqual(1);
  });

  it('is the same for the same values', () => {
    const terms = [{ values: [3, 5, 8, 13, 4, 9, 2, 7], weight: 10 }];
    expect(estimateSum(terms)).toEqual(estimateSum(terms));
  });

  it('has no width if all values are equal', () => {
    const terms = [
      { values: Array(8).fill(24), weight: 3 },
      { values: Array(8).fill(4), weight: -3 },
    ];
    expect(estimateSum(terms)).toEqual({ value: 60, low: 60, high: 60 });
  });

  it('disregards terms without weight', () => {
    expect(estimateSum([{ values: [], weight: 0 }])).toEqual({ value: 0, low: 0, high: 0 });
  });
});

describe('the builds that cannot be seen', () => {
  it('are none if each last job is of a listed workspace, or of one that was found twice', () => {
    const coverage = { found: 400, lastBuilds: 100, foundOnce: 0, foundTwice: 3 };
    expect(factorOf(coverage)).toEqual({ value: 1, error: 0 });
  });

  it('are more, the more workspaces were found by one daemon only', () => {
    const factor = (foundOnce: number) =>
      factorOf({ found: 400, lastBuilds: 100, foundOnce, foundTwice: 2 }).value;
    // 10 of 100 last jobs; a quarter of the builds are last jobs themselves
    expect(factor(10)).toBeCloseTo(1 / (1 - 0.1 * 0.75));
    expect(factor(20)).toBeGreaterThan(factor(10));
  });

  it('stay a number if nearly nothing was found', () => {
    const { value, error } = factorOf({ found: 1, lastBuilds: 1, foundOnce: 1, foundTwice: 0 });
    expect([value, error]).toEqual([1, 0]);
  });

  it('widen the interval', () => {
    const { value, low, high } = times({ value: 100, low: 90, high: 110 }, { value: 1.1, error: 0.05 });
    expect(value).toBeCloseTo(110);
    expect(low).toBeLessThan(110 - 11);
    expect(high).toBeGreaterThan(110 + 11);
  });
});
