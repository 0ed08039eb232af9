/** The bounds against schedules: all of them in small worlds, some of them in larger ones. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { busyHours } from '../../../backtest/bounds/busy-hours.ts';
import { clairvoyant } from '../../../backtest/bounds/clairvoyant.ts';
import type { BoundJob, BoundPool } from '../../../backtest/bounds/demand.ts';
import { Random } from '../../../simulator/base/random.ts';
import { runs } from '../../support/runs.ts';
import { leastDollars, someDollars } from './schedules.ts';

type World = { readonly jobs: readonly BoundJob[]; readonly pools: readonly BoundPool[] };

type Shape = {
  readonly pools: number;
  readonly jobs: number;
  /** Of the starts of tasks, in steps of 5 s. From a minute on, Fargate's minimum never matters. */
  readonly startSteps: { readonly min: number; readonly max: number };
};

/** Steps of 5 s make gaps, starts and the minimum meet exactly now and then. */
const steps = (range: { readonly min: number; readonly max: number }) =>
  fc.integer(range).map((step) => step * 5000);

function worlds({ pools, jobs, startSteps }: Shape): fc.Arbitrary<World> {
  const pool = fc.record({
    dollarsPerHour: fc.constantFrom(0.04, 0.05, 0.1, 0.4, 1.2),
    startMs: steps(startSteps),
  });
  /** The last start of a job: early for many at a time, late for pauses. */
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

it('one pool costs what the best of all schedules does, where the minimum never matters', () =>
  never(worlds({ pools: 1, jobs: 7, startSteps: NO_MINIMUM }), async ({ jobs, pools }) => {
    expect((await clairvoyant(jobs, pools)).dollars).toBeCloseTo(leastDollars(jobs, pools), 12);
  }));

it('jobs that follow one another cost what the best of all schedules does, with the minimum', () =>
  never(worlds({ pools: 1, jobs: 7, startSteps: BELOW_MINIMUM }), async ({ jobs, pools }) => {
    let freeMs = 0;
    const row = jobs.map((job) => {
      const startMs = freeMs + (job.startMs % 125_000);
      freeMs = startMs + job.durationMs;
      return { ...job, startMs };
    });
    expect((await clairvoyant(row, pools)).dollars).toBeCloseTo(leastDollars(row, pools), 12);
  }));

it('several pools cost no more than the best of all schedules, with and without the minimum', () =>
  never(worlds({ pools: 3, jobs: 5, startSteps: ANY }), async ({ jobs, pools }) => {
    const { dollars } = await clairvoyant(jobs, pools);
    expect(dollars).toBeLessThanOrEqual(leastDollars(jobs, pools) + 1e-9);
    expect(dollars).toBeGreaterThanOrEqual(busyHours(jobs, pools).dollars - 1e-9);
  }));

it('one pool costs no more than the best of all schedules, with the minimum', () =>
  never(worlds({ pools: 1, jobs: 7, startSteps: BELOW_MINIMUM }), async ({ jobs, pools }) => {
    expect((await clairvoyant(jobs, pools)).dollars).toBeLessThanOrEqual(leastDollars(jobs, pools) + 1e-9);
  }));

it('no schedule that somebody comes up with beats it', () =>
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

it('no schedule of hundreds of jobs at a time beats it', () =>
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

it('the order of jobs changes no digit', () =>
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

/** Where the bound is of one kind throughout: exact without the minimum, or in layers for one pool. */
const MONOTONE = fc.oneof(
  worlds({ pools: 3, jobs: 20, startSteps: NO_MINIMUM }),
  worlds({ pools: 1, jobs: 20, startSteps: ANY }),
);

it('a job more never makes it cheaper', () =>
  never(MONOTONE, async ({ jobs, pools }) => {
    const fewer = await clairvoyant(jobs.slice(1), pools);
    expect((await clairvoyant(jobs, pools)).dollars).toBeGreaterThanOrEqual(fewer.dollars - 1e-9);
  }));

it('a longer start never makes it cheaper', () =>
  never(MONOTONE, async ({ jobs, pools }) => {
    const slower = pools.map((pool, index) =>
      index === 0 ? { ...pool, startMs: pool.startMs + 5000 } : pool,
    );
    const before = await clairvoyant(jobs, pools);
    expect((await clairvoyant(jobs, slower)).dollars).toBeGreaterThanOrEqual(before.dollars - 1e-9);
  }));
