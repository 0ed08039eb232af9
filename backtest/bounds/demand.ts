/** The input of the bounds: jobs that start without any wait, and the cost of tasks. */

export type BoundJob = {
  /** Milliseconds since any fixed time. */
  readonly startMs: number;
  readonly durationMs: number;
  /** Indexes of the pools that can run it: at least one, without duplicates. */
  readonly pools: readonly number[];
};

export type BoundPool = {
  /** Price of one task. */
  readonly dollarsPerHour: number;
  /**
   * Billed milliseconds of a new task before its daemon can take a job, at the shortest latencies.
   */
  readonly startMs: number;
};

/** Fargate bills at least one minute per task (https://aws.amazon.com/fargate/pricing/). */
export const LEAST_BILLED_MS = 60_000;

/** Billed time and launches of the tasks of a pool. */
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
