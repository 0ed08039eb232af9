/** The arrival rate, from the times of earlier builds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrivalRate } from '../../../lambda/decision/demand/arrival-rate.ts';
import type { Arrivals } from '../../../lambda/decision/demand/record.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { ago, HOUR, MINUTE, NOW, SECOND } from '../../support/parts.ts';
import { runs } from '../../support/runs.ts';
import { comingEvery } from '../../support/stocked.ts';

const DAY = 24 * HOUR;
type Known = Omit<Arrivals, 'tags'>;
/** The arrivals of builds at these times, in any order. */
const known = (times: readonly number[], given: Partial<Known> = {}): Known => ({
  times: [...times].sort((a, b) => b - a) as EpochMs[],
  cutOffAt: undefined,
  since: undefined,
  ...given,
});
const rateOf = (times: readonly number[], now: EpochMs = NOW): number =>
  arrivalRate(known(times), now).perMinute;
const every = (minutes: number, hours: number): readonly number[] =>
  comingEvery({ everyMinutes: minutes, forHours: hours }).map(({ created_at }) => created_at);

describe('the arrival rate without enough builds', () => {
  it.each<{ scenario: string; times: readonly number[] }>([
    { scenario: 'without a record', times: [] },
    { scenario: 'after one build', times: [ago(MINUTE)] },
    {
      scenario: 'after one build in 24 hours and many before',
      times: [ago(MINUTE), ...every(5, 20).map((at) => at - DAY)],
    },
    { scenario: 'with one build a day', times: [1, 2, 3, 4, 5, 6].map((days) => ago(days * DAY - HOUR)) },
    { scenario: 'with one build a week', times: [ago(2 * HOUR), ago(7 * DAY)] },
  ])('is 0 with $scenario', ({ times }) => {
    expect(arrivalRate(known(times), NOW)).toMatchObject({ perMinute: 0, dispersion: 1 });
  });
});

describe('the arrival rate of an office that works from Monday to Friday, 8:00 to 18:00', () => {
  /** Builds every 5 minutes; 2026-11-16 is a Monday. */
  const officeDay = (date: string): readonly number[] =>
    Array.from({ length: 120 }, (_, index) => Date.parse(`${date}T08:00:00Z`) + index * 5 * MINUTE);
  const week = ['16', '17', '18', '19', '20'].flatMap((day) => officeDay(`2026-11-${day}`));
  const at = (time: string): number => {
    const now = Date.parse(time) as EpochMs;
    return rateOf(
      week.filter((each) => each <= now),
      now,
    );
  };

  it('is the rate of working hours at noon on Friday', () => {
    expect(at('2026-11-20T12:00:00Z')).toBeGreaterThan(0.1);
    expect(at('2026-11-20T12:00:00Z')).toBeLessThan(0.4);
  });

  it('is lower at night than in the day, and higher in the morning than at night', () => {
    expect(at('2026-11-20T02:00:00Z')).toBeLessThan(at('2026-11-20T12:00:00Z') / 4);
    expect(at('2026-11-20T08:00:00Z')).toBeGreaterThan(at('2026-11-20T02:00:00Z'));
  });

  it('goes to 0 at the weekend', () => {
    expect(at('2026-11-21T20:00:00Z')).toBe(0);
    expect(at('2026-11-22T12:00:00Z')).toBe(0);
  });

  it('goes to 0 on a holiday without builds', () => {
    // Monday 23 November, without builds
    expect(at('2026-11-23T12:00:00Z')).toBe(0);
  });

  it('falls within an hour after builds stop', () => {
    const times = week.filter((each) => each <= Date.parse('2026-11-20T12:00:00Z'));
    const rateAt = (time: string): number => rateOf(times, Date.parse(time) as EpochMs);
    const [noon = 0, later = 0, evening = 0] = ['12:00', '13:00', '21:00'].map((time) =>
      rateAt(`2026-11-20T${time}:00Z`),
    );
    expect(later).toBeLessThan(noon);
    expect(evening).toBeLessThan(later);
  });
});

it.each([1, 2, 5, 20, 60])('finds about the rate of one build every %d minutes for days', (minutes) => {
  const rate = rateOf(every(minutes, 96));
  expect(rate * minutes).toBeGreaterThan(0.7);
  expect(rate * minutes).toBeLessThan(1.4);
});

it('finds no batches in builds at even intervals', () => {
  expect(arrivalRate(known(every(3, 48)), NOW).dispersion).toBeLessThan(1.3);
});

it('finds a higher dispersion for the same builds a day in batches', () => {
  const batch = (size: number): readonly number[] =>
    every(30 * size, 96).flatMap((at) => Array.from({ length: size }, (_, index) => at - index * SECOND));
  const dispersions = [1, 3, 6, 12].map((size) => arrivalRate(known(batch(size)), NOW).dispersion);
  expect(dispersions).toEqual([...dispersions].sort((a, b) => a - b));
  expect(dispersions[3]).toBeGreaterThan(3);
});

it('finds no batch in a busy hour', () => {
  const times = [...every(2, 1), ...every(60, 72)];
  expect(arrivalRate(known(times), NOW).dispersion).toBeLessThan(2);
});

it('never lowers the rate for one more build just now', () => {
  for (const minutes of [2, 10, 60]) {
    const times = every(minutes, 48);
    expect(rateOf([NOW, ...times])).toBeGreaterThanOrEqual(rateOf(times));
  }
});

it('finds about the same rate in a new process as in one that has recorded for days', () => {
  const builds = every(10, 48);
  const rateSince = (since: EpochMs): number => arrivalRate(known(builds, { since }), NOW).perMinute;
  expect(rateSince(ago(MINUTE))).toBeLessThan(5 * rateSince(ago(48 * HOUR)));
  expect(rateSince(ago(MINUTE))).toBeGreaterThan(rateSince(ago(48 * HOUR)) / 5);
});

it('counts future times as now, and duplicates as further builds', () => {
  const times = every(10, 48);
  const future = rateOf([NOW + HOUR, NOW + DAY, ...times]);
  expect(future).toBeLessThanOrEqual(rateOf([NOW, NOW, ...times]) * 1.05);
  const twice = rateOf(times.flatMap((at) => [at, at]));
  expect(twice).toBeGreaterThanOrEqual(rateOf(times));
  expect(twice).toBeLessThan(3 * rateOf(times));
});

it('gives a finite rate of at least 0 and a dispersion of at least 1 for any times', () => {
  const times = fc.array(
    fc.oneof(
      fc.integer({ min: -8 * DAY, max: DAY }),
      fc.constantFrom(0, -1, 1, 8.64e15 - NOW, -8.64e15 - NOW, -DAY, -DAY / 2),
    ),
    { maxLength: 60 },
  );
  const starts = fc.constantFrom(undefined, NOW, ago(1), ago(MINUTE), ago(HOUR), ago(9 * DAY), ago(-HOUR));
  fc.assert(
    fc.property(times, starts, starts, (offsets, since, cutOffAt) => {
      const builds = known(
        offsets.map((ms) => NOW + ms),
        { since, cutOffAt },
      );
      const { perMinute, dispersion, following } = arrivalRate(builds, NOW);
      expect(Number.isFinite(following)).toBe(true);
      expect(following).toBeGreaterThanOrEqual(0);
      expect(Number.isFinite(perMinute)).toBe(true);
      expect(perMinute).toBeGreaterThanOrEqual(0);
      expect(Number.isFinite(dispersion)).toBe(true);
      expect(dispersion).toBeGreaterThanOrEqual(1);
    }),
    runs(1000),
  );
});
