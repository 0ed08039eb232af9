/** Adds up the parts of the waits of people's jobs (lambda/decision/waits/). */
import type { JobWait } from '../../lambda/decision/waits/job-wait.ts';
import { addParts } from '../../lambda/decision/waits/wait-parts.ts';
import type { JobRecord } from '../../simulator/coderd/tables/jobs.ts';
import type { PeopleWait } from './result.ts';

/** `jobs`: jobs that a daemon took. `waits`: what the looks logged, by job id. */
export function peopleWait(
  jobs: readonly Pick<JobRecord, 'id' | 'createdAt' | 'startedAt'>[],
  waits: ReadonlyMap<string, JobWait>,
): PeopleWait {
  const missed = jobs.filter(({ id }) => !waits.has(id));
  return {
    jobs: jobs.length,
    missed: missed.length,
    parts: addParts(jobs.map((job) => waits.get(job.id)?.parts ?? { unknown: waitOf(job) })),
  };
}

function waitOf({ createdAt, startedAt = createdAt }: Pick<JobRecord, 'createdAt' | 'startedAt'>): number {
  return Math.max(0, startedAt - createdAt);
}
