/** The running builds of a pool, and the chance that each ends soon. */
import type { EpochMs } from '../model/brands.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Job, Reading } from '../model/snapshot.ts';
import { workerOf } from '../supply/daemons.ts';
import type { PoolView } from '../supply/supply.ts';
import type { TaskView } from '../supply/task-state.ts';
import { chanceToEnd, deriveRecord } from './record.ts';

export type RunningBuild = {
  readonly task: TaskView;
  readonly job: Job;
  /** 0 if no similar build is known. */
  readonly chanceToEnd: (withinMs: number) => number;
};

/** The builds of the tasks that stay. The end of a build on a task that drains frees no daemon. */
export function endsOf({ tasks, organization }: PoolView, now: EpochMs): readonly RunningBuild[] {
  if (organization === undefined) return [];
  const jobs = jobsByWorker(organization.jobs);
  const { durationsOf } = deriveRecord(organization);
  return tasks.flatMap((task) => {
    const job = task.daemon && jobs.get(task.daemon.id);
    if (task.state !== 'working' || task.use !== 'busy' || job === undefined) return [];
    const ageMs = Math.max(0, now - (job.started_at ?? now));
    const durations = durationsOf(job);
    return [{ task, job, chanceToEnd: (withinMs: number) => chanceToEnd(durations, { ageMs, withinMs }) }];
  });
}

/** The unfinished jobs by the daemon that has taken them. */
export const jobsByWorker = memoized(
  ({ items }: Reading<Job>) =>
    new Map(
      items.flatMap((job) => {
        const worker = workerOf(job);
        return worker === undefined ? [] : [[worker, job] as const];
      }),
    ),
);
