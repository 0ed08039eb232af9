import type { BoundJob } from './demand.ts';

export type JobEvent = {
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
