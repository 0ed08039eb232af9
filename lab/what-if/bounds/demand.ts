/** The input of the bounds: jobs that start without any wait, their events, and the cost of tasks. And the simplest bound. */
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';

export type BoundJob = {
  /** Milliseconds since any fixed time. */
  readonly startMs: number;
  readonly durationMs: number;
  /** Indexes of the pools that can run it: at least one, without duplicates. */
  readonly pools: readonly number[];
};

export type BoundPool = {
  readonly dollarsPerHour: number;
  /** Billed milliseconds of a new task before its daemon can take a job, at the shortest latencies. */
  readonly startMs: number;
};

/** Fargate bills at least one minute per task (https://aws.amazon.com/fargate/pricing/). */
export const LEAST_BILLED_MS = 60_000;

export type Bill = { readonly billedMs: number; readonly launches: number };

/** Sorts by start, then duration, then pools, so that the order of the input does not matter. */
export function inOrder(jobs: readonly BoundJob[]): readonly BoundJob[] {
  return jobs
    .map((job) => ({ ...job, pools: job.pools.toSorted((a, b) => a - b) }))
    .sort(
      (a, b) =>
        a.startMs - b.startMs || a.durationMs - b.durationMs || compare(a.pools.join(), b.pools.join()),
    );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

type JobEvent = {
  readonly atMs: number;
  /** The index of the job. */
  readonly job: number;
  readonly isStart: boolean;
};

/**
 * Starts and ends of jobs, which are sorted by start, then duration. Events at the same time keep
 * the order of jobs. So a job that starts can take the task of a job that ends then, and one task
 * can run all jobs of 0 s before another job that starts at that time.
 */
export function eventsOf(jobs: readonly Pick<BoundJob, 'startMs' | 'durationMs'>[]): readonly JobEvent[] {
  return jobs
    .flatMap(({ startMs, durationMs }, job) => [
      { atMs: startMs, job, isStart: true },
      { atMs: startMs + durationMs, job, isStart: false },
    ])
    .sort((a, b) => a.atMs - b.atMs || a.job - b.job);
}

/** A lower bound: the hours in which jobs run, each in the cheapest pool that fits; no task ever idles. */
export function busyHours(
  jobs: readonly BoundJob[],
  pools: readonly BoundPool[],
): { readonly hours: number; readonly dollars: number } {
  const priceOf = (pool: number): number => pools[pool]?.dollarsPerHour ?? 0;
  const busyMs = pools.map(() => 0);
  for (const { durationMs, pools: fitting } of jobs) {
    const [cheapest = -1] = fitting.toSorted((a, b) => priceOf(a) - priceOf(b) || a - b);
    busyMs[cheapest] = (busyMs[cheapest] ?? 0) + durationMs;
  }
  return {
    hours: busyMs.reduce((sum, ms) => sum + ms, 0) / HOUR_MS,
    dollars: busyMs.reduce((sum, ms, pool) => sum + (ms / HOUR_MS) * priceOf(pool), 0),
  };
}
