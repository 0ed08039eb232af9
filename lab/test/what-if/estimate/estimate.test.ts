import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../../lambda/decision/model/units.ts';
import { type DayFigures, type Estimate, estimatesOf, studentT } from '../../../what-if/estimate/estimate.ts';
import { Random } from '../../../world/base/random.ts';

const day = (dollars: number, waitsS: readonly number[], isRestDay = false): DayFigures => ({
  ms: DAY_MS,
  dollars,
  waitsS,
  isRestDay,
});

describe('estimatesOf', () => {
  it('has the level of all days, and of a month of 730 hours', () => {
    const { dollarsPerMonth, meanWaitS, p95WaitS } = estimatesOf([[day(2, [0, 10]), day(4, [20])]]);
    expect(dollarsPerMonth.value).toBeCloseTo((3 * 730) / 24, 9);
    expect(meanWaitS.value).toBeCloseTo(10, 9);
    expect(p95WaitS.value).toBe(20);
  });

  it('gives no range for two days, whatever the seeds', () => {
    const days = [day(2, [1]), day(4, [2])];
    const { dollarsPerMonth, meanWaitS, p95WaitS } = estimatesOf([days, days, days]);
    for (const { range } of [dollarsPerMonth, meanWaitS, p95WaitS]) expect(range).toBeUndefined();
  });

  it('has a range of one point for equal days', () => {
    const { dollarsPerMonth, meanWaitS } = estimatesOf([Array.from({ length: 7 }, () => day(1, [5, 5]))]);
    for (const end of dollarsPerMonth.range ?? []) expect(end).toBeCloseTo(dollarsPerMonth.value, 9);
    expect(meanWaitS.range).toEqual([5, 5]);
  });

  it('is as sure of the cost if quiet days are days of rest', () => {
    const week = (isRestDay: boolean): readonly DayFigures[] =>
      [9, 10, 11, 10, 10, 1, 1].map((dollars, at) => day(dollars, [1], isRestDay && at > 4));
    const width = ({ range: [low, high] = [0, 0] }: Estimate): number => high - low;
    expect(width(estimatesOf([week(true)]).dollarsPerMonth)).toBeLessThan(
      width(estimatesOf([week(false)]).dollarsPerMonth) / 4,
    );
  });

  it('is 0 for days without jobs', () => {
    const { meanWaitS, p95WaitS } = estimatesOf([Array.from({ length: 4 }, () => day(0, []))]);
    expect([meanWaitS, p95WaitS]).toEqual([
      { value: 0, range: [0, 0] },
      { value: 0, range: [0, 0] },
    ]);
  });

  it.each([5, 7, 10])('has the next week in its range nine in ten times, after %d days', (days) => {
    const random = new Random(days);
    const weeks = 400;
    const hits = { dollarsPerMonth: 0, meanWaitS: 0, p95WaitS: 0 };
    for (let week = 0; week < weeks; week++) {
      const { dollarsPerMonth, meanWaitS, p95WaitS } = estimatesOf([drawDays(random, days)]);
      const next = estimatesOf([drawDays(random, 7)]);
      hits.dollarsPerMonth += Number(holds(dollarsPerMonth, next.dollarsPerMonth));
      hits.meanWaitS += Number(holds(meanWaitS, next.meanWaitS));
      hits.p95WaitS += Number(holds(p95WaitS, next.p95WaitS));
    }
    for (const count of Object.values(hits)) {
      expect(count / weeks, `days ${days}: ${JSON.stringify(hits)}`).toBeGreaterThan(0.85);
      expect(count / weeks, `days ${days}: ${JSON.stringify(hits)}`).toBeLessThan(0.99);
    }
  });
});

const holds = ({ range: [low, high] = [0, 0] }: Estimate, { value }: Estimate): boolean =>
  low <= value && value <= high;

/** Busy and quiet days: the jobs of a day come in waves, and most of them do not wait at all. */
function drawDays(random: Random, count: number): readonly DayFigures[] {
  return Array.from({ length: count }, () => {
    const business = random.between(0.5, 2);
    const waitsS = Array.from({ length: Math.round(40 * business) }, () =>
      random.next() < 0.25 * business ? random.between(5, 60) : 0,
    );
    return day(business * random.between(2, 4), waitsS);
  });
}

describe('studentT', () => {
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2
  it.each([
    { confidence: 0.9, freedom: 1, t: 6.314 },
    { confidence: 0.9, freedom: 2, t: 2.92 },
    { confidence: 0.9, freedom: 6, t: 1.943 },
    { confidence: 0.9, freedom: 13, t: 1.771 },
    { confidence: 0.95, freedom: 1, t: 12.706 },
    { confidence: 0.95, freedom: 4, t: 2.776 },
    { confidence: 0.95, freedom: 19, t: 2.093 },
    { confidence: 0.98, freedom: 5, t: 3.365 },
    { confidence: 0.998, freedom: 1, t: 318.309 },
  ])('is $t for $confidence and $freedom degrees of freedom', ({ confidence, freedom, t }) => {
    expect(studentT(confidence, freedom)).toBeCloseTo(t, 3);
  });
});
