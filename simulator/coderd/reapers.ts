/**
 * coderd's cleanup loops: hung jobs (docs/internals/coder.md §5) and old daemon rows
 * (docs/internals/coder.md §2).
 */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Random } from '../base/random.ts';
import type { DaemonTable } from './tables/daemons.ts';
import type { FailedBy, Job, JobTable } from './tables/jobs.ts';
import type { PendingQueue } from './tables/pending-queue.ts';

export const REAP_EVERY_MS = 60_000;
export const PURGE_EVERY_MS = 600_000;

const HUNG_MS = 5 * 60_000;
const PENDING_MS = 30 * 60_000;
/** The most jobs of both kinds a run, picked at random: GetProvisionerJobsToBeReaped. */
const MAX_JOBS_PER_RUN = 10;
const PURGE_AFTER_MS = 7 * 24 * 3_600_000;

/**
 * One run of the job reaper: fails running jobs without an update for 5 min and, if this release
 * does that, jobs pending for 30 min.
 */
export function reapJobs(given: {
  readonly jobs: JobTable;
  readonly queue: PendingQueue;
  readonly random: Random;
  readonly now: EpochMs;
  readonly pendingToo: boolean;
}): void {
  const { jobs, queue, random, now } = given;
  const due = [...jobs.open()]
    .filter((job) => job.updatedBy === undefined && job.updatedAt < now - limitOf(job))
    .filter((job) => given.pendingToo || job.startedAt !== undefined)
    .map((job) => ({ job, order: random.next() }))
    .sort((a, b) => a.order - b.order);
  for (const { job } of due.slice(0, MAX_JOBS_PER_RUN)) {
    queue.remove(job);
    jobs.complete(job, { at: now, ...verdictOn(job, given.pendingToo ? 'the reaper' : 'hang detector') });
  }
}

/** dbpurge: deletes the rows of daemons not seen for 7 days. */
export function purgeDaemons(daemons: DaemonTable, now: EpochMs): void {
  daemons.deleteWhere(({ lastSeenAt }) => lastSeenAt < now - PURGE_AFTER_MS);
}

function limitOf(job: Job): number {
  return job.startedAt === undefined ? PENDING_MS : HUNG_MS;
}

function verdictOn(job: Job, reaper: string): { readonly error: string; readonly by: FailedBy } {
  const kind = job.startedAt === undefined ? 'pending' : 'hung';
  return {
    error: `Coder: Build has been detected as ${kind} for ${limitOf(job) / 60_000} minutes and has been terminated by ${reaper}.`,
    by: `${kind}-reaper`,
  };
}
