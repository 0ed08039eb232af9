import type { BoundJob } from './demand.ts';

export type JobEvent = {
  readonly atMs: number;
  /** Its place in the list of jobs. */
  readonly job: number;
  readonly isStart: boolean;
};

/**
 * Starts and ends of jobs that are in order of start, then length. At one instant they come in the order of their jobs, so that
 * who starts may have the task of who ends, and one task can run all jobs of no length before another that starts then.
 */
export function eventsOf(jobs: readonly Pick<BoundJob, 'startMs' | 'durationMs'>[]): readonly JobEvent[] {
  return jobs
    .flatMap(({ startMs, durationMs }, job) => [
      { atMs: startMs, job, isStart: true },
      { atMs: startMs + durationMs, job, isStart: false },
    ])
    .sort((a, b) => a.atMs - b.atMs || a.job - b.job);
}
