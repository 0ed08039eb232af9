/** The tally of promised starts. `promises.full.test.ts` has their calibration. */
import { describe, expect, it } from 'vitest';
import { calibrate } from '../../../what-if/bench/calibrate.ts';
import {
  calibrationText,
  countKept,
  coverageOf,
  joined,
  medianWidth,
  newTally,
  shareWithout,
} from '../../../what-if/bench/tally.ts';

it('promised starts of an unknown scenario are refused with its name', async () => {
  await expect(calibrate({ scenario: 'none', seed: 1, hours: 1, cancelled: 0 })).rejects.toThrow(
    'no scenario "none"',
  );
});

describe('a tally of promises', () => {
  const tally = newTally();
  const interval = { p5: 6_000, p95: 9_000 };
  countKept(tally, { startedAt: 5_000, ...interval, share: 1 });
  countKept(tally, { startedAt: 6_000, ...interval, share: 1 });
  countKept(tally, { startedAt: 9_000, ...interval, share: 1 });
  countKept(tally, { startedAt: 9_001, p5: 0, p95: 9_000, share: 1 });
  tally.without['no-room'] = 1;

  it('counts the ends of an interval as inside', () => {
    expect({ below: tally.below, above: tally.above }).toEqual({ below: 1, above: 1 });
    expect(coverageOf(tally)).toBe(0.5);
    expect(medianWidth(tally)).toBe(3);
    expect(shareWithout(tally)).toBe(0.2);
  });

  it('counts each look once, however many jobs it promised', () => {
    const looks = newTally();
    for (let job = 0; job < 9; job++) countKept(looks, { startedAt: 1, p5: 2, p95: 3, share: 1 / 9 });
    countKept(looks, { startedAt: 2, p5: 2, p95: 3, share: 1 });
    expect(coverageOf(looks)).toBeCloseTo(0.5);
  });

  it('adds up, and becomes a row of the table', () => {
    const twice = joined([tally, tally]);
    expect(twice.promises).toBe(8);
    const row = { scenario: 'agents', hours: 8, seeds: 2, every: twice, first: newTally() };
    expect(calibrationText([row]).split('\n').at(-1)).toBe(
      '| agents | 8 x 2 | 8 | 50.0 % | 25.0 % | 25.0 % | 3 s | - | 20.0 % | no-room |',
    );
  });
});
