/**
 * Compares the bounds with schedules: with all schedules of small inputs, with random ones of
 * larger inputs.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../../../test/support/runs.ts';
import { clairvoyant } from '../../../what-if/bounds/clairvoyant.ts';
import { type BoundJob, type BoundPool, busyHours } from '../../../what-if/bounds/demand.ts';
import { Random } from '../../../world/base/random.ts';
import { leastDollars, someDollars } from './schedules.ts';

type World = { readonly jobs: readonly BoundJob[]; readonly pools: readonly BoundPool[] };

type Shape = {
  readonly pools: number;
  readonly jobs: number;
  /**
   * Start times of tasks, in steps of 5 s. From one minute on, Fargate's minimum does not matter.
   */
  readonly startSteps: { readonly min: number; readonly max: number };
};

/** With steps of 5 s, gaps, starts and the minimum are sometimes exactly equal. */
const steps = (range: { readonly min: number; readonly max: number }) =>
  fc.integer(range).map((step) => step * 5000);

function worlds({ pools, jobs, startSteps }: Shape): fc.Arbitrary<World> {
  const pool = fc.record({
    dollarsPerHour: fc.constantFrom(0.04, 0.05, 0.1, 0.4, 1.2),
    startMs: steps(startSteps),
  });
  /** The latest start of a job. Early: many jobs at a time. Late: pauses between jobs. */
  const lasts = fc.constantFrom(12, 40, 120);
  return lasts.chain((last) =>
    fc.record({
      pools: fc.array(pool, { minLength: pools, maxLength: pools }),
      jobs: fc.array(
        fc.record({
          startMs: steps({ min: 0, max: last }),
          durationMs: steps({ min: 0, max: 12 }),
          pools: fc.uniqueArray(fc.integer({ min: 0, max: pools - 1 }), { minLength: 1 }),
        }),
        { maxLength: jobs },
      ),
    }),
  );
}

const ANY = { min: 0, max: 20 };
const NO_MINIMUM = { min: 12, max: 24 };
const BELOW_MINIMUM = { min: 0, max: 11 };

const never = (world: fc.Arbitrary<World>, holds: (world: World) => Promise<void>) =>
  fc.assert(fc.asyncProperty(world, holds), runs(1000));

it('equals the best schedule of one pool when the minimum does not matter', () =>
  never(worlds({ pools: 1, jobs: 7, startSteps: NO_MINIMUM }), async ({ jobs, pools }) => {
    expect((await clairvoyant(jobs, pools)).dollars).toBeCloseTo(leastDollars(jobs, pools), 12);
  }));

it('equals the best schedule of one pool with the minimum when jobs follow one another', () =>
  never(worlds({ pools: 1, jobs: 7, startSteps: BELOW_MINIMUM }), async ({ jobs, pools }) => {
    let freeMs = 0;
    const row = jobs.map((job) => {
      const startMs = freeMs + (job.startMs % 125_000);
      freeMs = startMs + job.durationMs;
      return { ...job, startMs };
    });
    expect((await clairvoyant(row, pools)).dollars).toBeCloseTo(leastDollars(row, pools), 12);
  }));

it('does not exceed the best schedule of several pools, with and without the minimum', () =>
  never(worlds({ pools: 3, jobs: 5, startSteps: ANY }), async ({ jobs, pools }) => {
    const { dollars } = await clairvoyant(jobs, pools);
    expect(dollars).toBeLessThanOrEqual(leastDollars(jobs, pools) + 1e-9);
    expect(dollars).toBeGreaterThanOrEqual(busyHours(jobs, pools).dollars - 1e-9);
  }));

it('does not exceed the best schedule of one pool with the minimum', () =>
  never(worlds({ pools: 1, jobs: 7, startSteps: BELOW_MINIMUM }), async ({ jobs, pools }) => {
    expect((await clairvoyant(jobs, pools)).dollars).toBeLessThanOrEqual(leastDollars(jobs, pools) + 1e-9);
  }));

it('does not exceed a random schedule', () =>
  fc.assert(
    fc.asyncProperty(
      worlds({ pools: 3, jobs: 60, startSteps: ANY }),
      fc.integer(),
      fc.constantFrom(0.5, 0.9, 1),
      async ({ jobs, pools }, seed, thrift) => {
        const some = someDollars(jobs, pools, { random: new Random(seed), thrift });
        expect((await clairvoyant(jobs, pools)).dollars).toBeLessThanOrEqual(some + 1e-9);
      },
    ),
    runs(1000),
  ));

it('does not exceed a greedy schedule of 400 jobs', () =>
  fc.assert(
    fc.asyncProperty(fc.integer({ min: 1 }), async (seed) => {
      const random = new Random(seed);
      const pools = [
        { dollarsPerHour: 0.1, startMs: 25_000 },
        { dollarsPerHour: 0.4, startMs: 25_000 },
      ];
      const jobs = Array.from({ length: 400 }, () => ({
        startMs: random.whole(0, 1_800_000),
        durationMs: random.whole(5_000, 60_000),
        pools: random.pick([[0, 1], [1], [0]]) ?? [0],
      }));
      const { dollars } = await clairvoyant(jobs, pools);
      expect(dollars).toBeLessThanOrEqual(someDollars(jobs, pools, { random, thrift: 1 }));
      expect(dollars).toBeGreaterThan(busyHours(jobs, pools).dollars);
    }),
    runs(20),
  ));

it('does not depend on the order of jobs', () =>
  fc.assert(
    fc.asyncProperty(
      worlds({ pools: 3, jobs: 20, startSteps: ANY }).chain((world) =>
        fc.tuple(fc.constant(world), fc.shuffledSubarray([...world.jobs], { minLength: world.jobs.length })),
      ),
      async ([{ jobs, pools }, shuffled]) => {
        const turned = shuffled.map((job) => ({ ...job, pools: job.pools.toReversed() }));
        expect(await clairvoyant(turned, pools)).toEqual(await clairvoyant(jobs, pools));
        expect(busyHours(turned, pools)).toEqual(busyHours(jobs, pools));
      },
    ),
    runs(1000),
  ));

/**
 * Inputs for which one rule computes the whole bound: exact without the minimum, or layers of one
 * pool.
 */
const MONOTONE = fc.oneof(
  worlds({ pools: 3, jobs: 20, startSteps: NO_MINIMUM }),
  worlds({ pools: 1, jobs: 20, startSteps: ANY }),
);

it('never falls when a job is added', () =>
  never(MONOTONE, async ({ jobs, pools }) => {
    const fewer = await clairvoyant(jobs.slice(1), pools);
    expect((await clairvoyant(jobs, pools)).dollars).toBeGreaterThanOrEqual(fewer.dollars - 1e-9);
  }));

it('never falls when tasks take longer to start', () =>
  never(MONOTONE, async ({ jobs, pools }) => {
    const slower = pools.map((pool, index) =>
      index === 0 ? { ...pool, startMs: pool.startMs + 5000 } : pool,
    );
    const before = await clairvoyant(jobs, pools);
    expect((await clairvoyant(jobs, slower)).dollars).toBeGreaterThanOrEqual(before.dollars - 1e-9);
  }));
