/**
 * The lifecycle executor (docs/internals/coder.md §10), the job reaper (§5), and the purge of
 * daemons (§2).
 */
import type { EpochMs, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import { type TagSet, tagKey } from '../../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { Random } from '../base/random.ts';
import type { PendingQueue } from './acquirer.ts';
import { tagsetContains } from './rules/tagset-contains.ts';
import { type DaemonTable, isOffline } from './tables/daemons.ts';
import type { FailedBy, Job, JobTable } from './tables/jobs.ts';
import { isDue } from './tables/transitions.ts';
import type { WorkspaceRecord } from './tables/workspace-records.ts';
import type { WorkspaceTable } from './tables/workspaces.ts';

type Gate = (organizationId: OrganizationId, tags: TagSet) => boolean;

/**
 * Makes the due transitions, but only of workspaces for which coderd has recently seen a daemon with the tags of
 * the active version (docs/internals/coder.md §10). For the others nothing happens until the next tick.
 */
export function runLifecycle(given: {
  readonly workspaces: WorkspaceTable;
  readonly daemons: DaemonTable;
  readonly now: EpochMs;
  readonly gated: boolean;
}): void {
  const { workspaces, daemons, now, gated } = given;
  const isOpen = gated ? gateOf(daemons, now) : () => true;
  // The executor counts in whole minutes, whatever its poll interval is.
  const tick = (Math.floor(now / MINUTE_MS) * MINUTE_MS) as EpochMs;
  for (const workspace of workspaces.dueAt(tick)) transition(workspace, { workspaces, tick, isOpen });
}

function transition(
  workspace: WorkspaceRecord,
  given: { readonly workspaces: WorkspaceTable; readonly tick: EpochMs; readonly isOpen: Gate },
): void {
  const { workspaces, tick, isOpen } = given;
  const { id, organizationId, template, latestBuild, transitions } = workspace;
  const due = transitions.find((one) => isDue(one, tick));
  if (due === undefined || !isOpen(organizationId, template.activeVersion.tags)) {
    workspaces.renewNextStart(id, tick);
    return;
  }
  // It is one transaction: if the build cannot be inserted, nothing is marked either.
  if (due.transition !== undefined && workspace.refusesBuilds) return;
  if (due.transition !== undefined) {
    // In coderd a second build during an active one is an error; the next tick retries.
    if (latestBuild.job.completedAt === undefined) return;
    workspaces.build(id, { transition: due.transition, reason: due.reason });
  }
  if (due.reason === 'dormancy') workspaces.markDormant(id);
}

/** Caches results within a tick: there are far fewer tag sets than workspaces. */
function gateOf(daemons: DaemonTable, now: EpochMs): Gate {
  const seen = daemons.recent(now).filter((daemon) => !isOffline(daemon, now));
  const known = new Map<string, boolean>();
  return (organizationId, tags) => {
    const key = `${organizationId} ${tagKey(tags)}`;
    const isOpen =
      known.get(key) ??
      seen.some((daemon) => daemon.organizationId === organizationId && tagsetContains(daemon.tags, tags));
    known.set(key, isOpen);
    return isOpen;
  };
}

export const REAP_EVERY_MS = 60_000;
export const PURGE_EVERY_MS = 600_000;

const HUNG_MS = 5 * 60_000;
const PENDING_MS = 30 * 60_000;
/** The most jobs of both kinds that a replica fails in a run, picked at random (docs/internals/coder.md §5). */
const MAX_JOBS_PER_RUN = 10;
const PURGE_AFTER_MS = 7 * 24 * 3_600_000;

/**
 * Fails running jobs without an update for 5 min and, if this release does that, jobs pending for 30 min. Each
 * replica of coderd has a reaper; here they run together.
 */
export function reapJobs(given: {
  readonly replicas: number;
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
  for (const { job } of due.slice(0, MAX_JOBS_PER_RUN * given.replicas)) {
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
