/** Which builds end in time: the ages of a table and the chance itself agree. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { agesAtEnd, chanceToEnd, isEnding, waitingWorthMs } from '../../../lambda/decision/demand/ending.ts';
import { runs } from '../../support/runs.ts';

it('has the same answer from a table of ages as from the chance', () => {
  const ms = fc.integer({ min: 0, max: 50 });
  fc.assert(
    fc.property(
      fc.array(ms, { maxLength: 12 }),
      fc.integer({ min: 0, max: 30 }),
      fc.constantFrom(0.5, 0.8),
      (unsorted, withinMs, atLeast) => {
        const durations = unsorted.toSorted((a, b) => a - b);
        const ages = agesAtEnd(durations, withinMs, atLeast);
        for (let ageMs = 0; ageMs <= 60; ageMs++)
          expect(isEnding(ages, ageMs)).toBe(chanceToEnd(durations, { ageMs, withinMs }) >= atLeast);
      },
    ),
    runs(2000),
  );
});

it('lets a job wait for half an hour at most, also if waiting has no price', () => {
  expect(waitingWorthMs(0.01, 0.1 / 60_000)).toBeCloseTo(6_000);
  expect([waitingWorthMs(1e9, 0.1), waitingWorthMs(0, 0)]).toEqual([1_800_000, 1_800_000]);
});
