/** What is learned from starts: the distributions that each scenario draws from. */
import { describe, expect, it } from 'vitest';
import { chanceAbove, normalQuantile } from '../../../lambda/decision/promise/normal.ts';
import { numberOf, SCENARIOS } from '../../../lambda/decision/promise/scenarios.ts';
import { learnPhase, quantileOf, rankIn, restOf } from '../../../lambda/decision/promise/start-phase.ts';

const EXPECTED = { medianMs: 60_000, starts: 0.2 };

/** Seconds of a phase of this age in all scenarios, the shortest first. */
function timesOf(finished: readonly number[], ages: readonly number[] = [], ageS = 0): Float64Array {
  const inMs = (seconds: readonly number[]) => seconds.map((one) => one * 1000);
  const phase = learnPhase({ finished: inMs(finished), ages: inMs(ages), expected: EXPECTED });
  return Float64Array.from({ length: SCENARIOS }, (_, scenario) => {
    const chosen = phase.choose(numberOf(0, scenario), numberOf(1, scenario));
    return restOf(phase, chosen, ageS * 1000, numberOf(2, scenario)) / 1000;
  }).sort();
}

const widthOf = (times: Float64Array): number => quantileOf(times, 0.95) - quantileOf(times, 0.05);

describe('a phase of a start', () => {
  it('takes about as long as expected without a finished one, in a wide interval', () => {
    const times = timesOf([]);
    expect(quantileOf(times, 0.5)).toBeGreaterThan(50);
    expect(quantileOf(times, 0.5)).toBeLessThan(70);
    expect(quantileOf(times, 0.05)).toBeLessThan(30);
    expect(quantileOf(times, 0.95)).toBeGreaterThan(110);
    expect(quantileOf(timesOf([], [100, 100, 100]), 0.5)).toBeGreaterThan(100);
  });

  it('takes as long as the finished ones', () => {
    expect(quantileOf(timesOf([50, 48, 52, 50]), 0.5)).toBeGreaterThan(46);
    expect(quantileOf(timesOf([50, 48, 52, 50]), 0.5)).toBeLessThan(54);
  });

  it('is the less certain the fewer were seen', () => {
    const starts = [40, 60, 50, 45, 55, 50];
    const widths = [1, 2, 6].map((count) => widthOf(timesOf(starts.slice(0, count))));
    expect(widths[0]).toBeGreaterThan(30);
    expect(widths[2]).toBeLessThan(widths[0] ?? 0);
  });

  it('has the shape of the finished ones if there are many', () => {
    const even = Array.from({ length: 50 }, (_, index) => 30 + (index / 49) * 40);
    const times = timesOf(even);
    expect(quantileOf(times, 0.05)).toBeGreaterThan(29);
    expect(quantileOf(times, 0.95)).toBeLessThan(73);
  });

  it('takes longer if many tasks have not finished it yet', () => {
    const usual = quantileOf(timesOf([40, 42]), 0.5);
    expect(quantileOf(timesOf([40, 42], [55, 55, 55, 55, 55, 55]), 0.5)).toBeGreaterThan(usual + 10);
  });

  it('has a rest that is never negative, and grows with an age beyond all that was seen', () => {
    for (const ageS of [0, 1, 30, 45, 60, 300, 3_000]) {
      const times = timesOf([40, 42, 44, 46, 48], [], ageS);
      expect(times[0]).toBeGreaterThanOrEqual(0);
      expect(Number.isFinite(times.at(-1))).toBe(true);
    }
    expect(quantileOf(timesOf([40, 42], [], 3_000), 0.5)).toBeGreaterThan(
      quantileOf(timesOf([40, 42], [], 300), 0.5),
    );
  });
});

it.each([
  { value: Number.NEGATIVE_INFINITY, rank: 0 },
  { value: 1, rank: 0.5 },
  { value: 2, rank: 1 },
  { value: 9, rank: 2 },
])('has rank $rank of the values 1 and 3: $value', ({ value, rank }) => {
  expect(rankIn([1, 3], value)).toBe(rank);
});

describe('the scenarios', () => {
  it.each([0, 1, 250])('cover 0 to 1 evenly in dimension %i', (dimension) => {
    const numbers = Array.from({ length: SCENARIOS }, (_, scenario) => numberOf(dimension, scenario));
    const even = Array.from({ length: SCENARIOS }, (_, index) => (index + 0.5) / SCENARIOS);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(even);
  });

  it('have dimensions that do not follow each other', () => {
    const mean = (of: (scenario: number) => number): number =>
      Array.from({ length: SCENARIOS }, (_, scenario) => of(scenario)).reduce((a, b) => a + b) / SCENARIOS;
    for (let other = 1; other < 40; other++) {
      const covariance = mean((one) => (numberOf(0, one) - 0.5) * (numberOf(other, one) - 0.5));
      expect(Math.abs(covariance * 12)).toBeLessThan(0.4);
    }
  });
});

it('inverts the normal distribution', () => {
  for (const chance of [0.001, 0.05, 0.3, 0.5, 0.9, 0.999])
    expect(1 - chanceAbove(normalQuantile(chance))).toBeCloseTo(chance, 3);
});
