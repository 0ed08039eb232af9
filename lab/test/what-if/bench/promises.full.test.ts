/** The calibration of promised starts, on little data and with wide limits. */
import { describe, expect, it } from 'vitest';
import { calibrate } from '../../../what-if/bench/calibrate.ts';
import { coverageOf, medianWidth, shareWithout } from '../../../what-if/bench/tally.ts';

describe('promised starts', () => {
  it('are right nine times in ten, within wide limits, for batches of agents', async () => {
    const { every, first } = await calibrate({ scenario: 'agents', seed: 1, hours: 3, cancelled: 0 });
    expect(every.promises).toBeGreaterThan(30);
    expect(coverageOf(every)).toBeGreaterThan(0.7);
    expect(coverageOf(first)).toBeGreaterThan(0.7);
    expect(shareWithout(every)).toBeLessThan(0.4);
    expect(medianWidth(every)).toBeLessThan(60);
  });

  it('are right if people cancel a fifth of their jobs', async () => {
    const { every, first } = await calibrate({ scenario: 'agents', seed: 2, hours: 2, cancelled: 0.2 });
    expect(every.promises).toBeGreaterThan(30);
    expect(coverageOf(every)).toBeGreaterThan(0.7);
    expect(coverageOf(first)).toBeGreaterThan(0.7);
  });
});
