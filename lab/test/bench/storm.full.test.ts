/** Checks the storms that the bench plays. */
import { expect, it } from 'vitest';
import { playStorm } from '../../bench/storm.ts';

const SIZE = { jobs: 200, daemons: 40, workspaces: 100, every: '10s' };

it('has figures of a storm: all jobs start, and the database works for the lists', async () => {
  const { looks, longestMs, shares, waits, unstarted, failures } = await playStorm(SIZE, 1);
  expect(looks).toBeGreaterThan(15);
  expect([unstarted, failures]).toEqual([0, 0]);
  // 200 x (0.09 ms + 40 x 0.00115 ms) and the running jobs
  expect(longestMs).toBeGreaterThan(27);
  expect(longestMs).toBeLessThan(40);
  expect(shares.jobs).toBeGreaterThan(0);
  expect(shares.workspaces).toBeGreaterThan(0);
  expect(waits.p50).toBeGreaterThan(10_000);
  expect(waits.longest).toBeGreaterThan(waits.p50);
});

it('is the same for the same seed, and different for another one', async () => {
  const figures = await playStorm(SIZE, 1);
  expect(await playStorm(SIZE, 1)).toEqual(figures);
  expect(await playStorm(SIZE, 2)).not.toEqual(figures);
});
