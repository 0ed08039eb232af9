/** What the bounds are computed from: jobs as they start in a world in which none has to wait, and what tasks cost. */

export type BoundJob = {
  /** Milliseconds, of any clock. */
  readonly startMs: number;
  readonly durationMs: number;
  /** The pools whose daemons can run it, by their place in the list: at least one, each once. */
  readonly pools: readonly number[];
};

export type BoundPool = {
  /** Of one task. */
  readonly dollarsPerHour: number;
  /** What is billed of a new task before its daemon can have a job: the least that the world knows. */
  readonly startMs: number;
};

/** Fargate bills a minute of each task at least (https://aws.amazon.com/fargate/pricing/). */
export const LEAST_BILLED_MS = 60_000;

export const HOUR_MS = 3_600_000;

/** What tasks of a pool are billed. */
export type Bill = { readonly billedMs: number; readonly launches: number };

/** In order of start, then length, then pools: whatever order they were given in, the same list. */
export function inOrder(jobs: readonly BoundJob[]): readonly BoundJob[] {
  return jobs
    .map((job) => ({ ...job, pools: job.pools.toSorted((a, b) => a - b) }))
    .sort(
      (a, b) =>
        a.startMs - b.startMs || a.durationMs - b.durationMs || compare(a.pools.join(), b.pools.join()),
    );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
