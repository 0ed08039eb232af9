import { describe, expect, it } from 'vitest';
import { differenceOf } from '../../../backtest/change/difference.ts';
import type { ConfigChange } from '../../../backtest/change/result.ts';
import { namedDifferences } from '../../../cli/compare/verdict.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import { Random } from '../../../simulator/base/random.ts';

const NAMED = ['dollarsPerMonth', 'meanWaitS', 'p95WaitS', 'lostJobs', 'lateSchedules'] as const;
const COMPARISONS = 2_000;

/** Five independent figures; `effect` is what the change adds to each, in standard deviations. */
function aComparison(random: Random, pairs: number, effect: number) {
  // the sum of twelve is as good as normal
  const figure = (): number => sum(Array.from({ length: 12 }), () => random.next() - 0.5);
  const seeds = Array.from({ length: pairs }, (_, at) => at);
  const measures = Object.fromEntries(
    NAMED.map((id) => [
      id,
      differenceOf(
        seeds.map(() => ({ before: figure(), after: figure() + effect })),
        (value) => value,
      ),
    ]),
  ) as ConfigChange['measures'];
  return { seeds, measures };
}

/** The share of comparisons in which a figure is clear: each one alone, and all together. */
function sharesOf(pairs: number, effect: number) {
  const random = new Random(pairs);
  const all = Array.from({ length: COMPARISONS }, () => aComparison(random, pairs, effect));
  const share = (of: (change: (typeof all)[number]) => object): number =>
    all.filter((change) => Object.values(of(change)).some(({ clarity }) => clarity === 'clear')).length /
    COMPARISONS;
  return { alone: share(({ measures }) => measures), together: share(namedDifferences) };
}

describe('five figures of one comparison', () => {
  it.each([2, 5, 10])(
    'are clear by chance in one of twenty comparisons without an effect, with %d pairs',
    (pairs) => {
      const { alone, together } = sharesOf(pairs, 0);
      expect(alone).toBeGreaterThan(0.2);
      expect(together).toBeGreaterThan(0.035);
      expect(together).toBeLessThan(0.06);
    },
  );

  it('still show an effect', () => {
    expect(sharesOf(5, 4).together).toBeGreaterThan(0.99);
  });

  it('are all clear if all clearly differ, or with one pair only', () => {
    const clear = { before: 1, after: 2, change: 1, margin: 0.99, clarity: 'clear' as const };
    const sure = { ...clear, margin: 0 };
    const measures = Object.fromEntries(NAMED.map((id) => [id, sure])) as ConfigChange['measures'];
    const last = namedDifferences({ seeds: [1, 2, 3], measures: { ...measures, p95WaitS: clear } });
    expect(Object.values(last).map(({ clarity }) => clarity)).toEqual(Array(5).fill('clear'));
    const { margin: _, ...single } = clear;
    const one = Object.fromEntries(NAMED.map((id) => [id, single])) as ConfigChange['measures'];
    expect(namedDifferences({ seeds: [1], measures: one }).lostJobs.clarity).toBe('clear');
  });
});
