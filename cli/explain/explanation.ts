/** The explanation of one job as data, and how its parts are derived. `--json` prints it unchanged. */

import { type EpochMs, isoTime, plusMs } from '../../lambda/decision/model/brands.ts';
import { unique } from '../../lambda/decision/model/collections.ts';
import type { IsoTime } from '../../lambda/decision/model/plan.ts';
import type { PromisedPlan } from '../../lambda/decision/model/promise.ts';
import type { OrganizationReadings, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { displayTags, type Tags, tagKey } from '../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { isAlive } from '../../lambda/decision/supply/rows/daemons.ts';
import { reasonIn } from '../../lambda/explain/reason-text.ts';
import { unservedSentence } from '../../lambda/explain/text.ts';
import type { OrphanEvent } from '../../lambda/look/orphan-event.ts';
import type { ServingTasks } from '../../lambda/look/waits/job-wait.ts';
import { WAIT_PARTS, type WaitPart, type WaitParts } from '../../lambda/look/waits/wait-parts.ts';
import type { JobDetails } from '../adapters/history.ts';

export type JobExplanation = {
  readonly takenAt: IsoTime;
  readonly job: ExplainedJob;
  /** Null: no daemon has taken the job. */
  readonly wait: ExplainedWait | null;
  /** Null: the job does not wait. */
  readonly pending: PendingJob | null;
  /** Null: the job does not run, or its daemon is alive as far as is known. */
  readonly silent: SilentDaemon | null;
  /** Null: no task of the last hour died with this build. `explain --dead` looks further back. */
  readonly died: OrphanEvent | null;
  readonly notes: readonly string[];
};

export type ExplainedWait = {
  /** `log`: the function saw the start. `live`: from what coderd and ECS tell now. */
  readonly source: 'log' | 'live';
  /** Null: no pool served the job, as far as is known. */
  readonly pool: string | null;
  readonly task: string | null;
  readonly waitMs: number;
  /** What the first look that saw the job promised: p50 and p95 of its start. Null: unknown. */
  readonly promised: { readonly from: IsoTime; readonly to: IsoTime } | null;
  /** In order of time. They add up to `waitMs`. */
  readonly parts: readonly { readonly part: WaitPart; readonly ms: number; readonly from: IsoTime | null }[];
};

export function explainedJob(job: JobDetails, organization: OrganizationReadings) {
  const { metadata } = job;
  const { workspaces } = organization;
  const known = workspaces?.items.find(({ id }) => id === metadata?.workspace_id);
  const name = metadata?.workspace_name || known?.name;
  return {
    id: job.id as string,
    organization: organization.name,
    type: job.type,
    transition: metadata?.workspace_build_transition ?? transitionOf(job, known?.latest_build) ?? null,
    template: metadata?.template_name || null,
    /** `owner/workspace`, or the workspace's name if its owner is unknown. */
    workspace: name ? [known?.owner_name, name].filter(Boolean).join('/') : null,
    tags: displayTags(job.tags),
    status: job.status,
    error: job.error || null,
    createdAt: isoTime(job.created_at),
    startedAt: timeOrNull(job.started_at),
    canceledAt: timeOrNull(job.canceled_at),
    completedAt: timeOrNull(job.completed_at),
  };
}

export type ExplainedJob = ReturnType<typeof explainedJob>;

type LatestBuild = { readonly transition: string; readonly job: { readonly id?: string | null | undefined } };

/** Old servers send no transition with a job, but they send it with the latest build. */
function transitionOf({ id }: JobDetails, latest: LatestBuild | undefined): string | undefined {
  return latest?.job.id === id ? latest.transition : undefined;
}

function timeOrNull(at: EpochMs | null | undefined): IsoTime | null {
  return at == null ? null : isoTime(at);
}

/** The parts in order of time, each with its begin. An unknown part hides where the others begin. */
export function orderedParts(parts: WaitParts, createdAt: EpochMs): ExplainedWait['parts'] {
  const isKnown = parts.unknown === undefined;
  let at: number = createdAt;
  return WAIT_PARTS.flatMap((part) => {
    const ms = parts[part] ?? 0;
    if (ms === 0) return [];
    const from = isKnown ? isoTime(at) : null;
    at += ms;
    return [{ part, ms, from }];
  });
}

export function explainPending(job: JobDetails, { coder, takenAt }: Snapshot, plan: PromisedPlan) {
  const organization = coder.organizations.find(({ id }) => id === job.organization_id);
  const tags = displayTags(job.tags);
  const isIts = (row: { readonly organization: string; readonly tags: Tags }): boolean =>
    row.organization === organization?.name && tagKey(row.tags) === tagKey(tags);
  const unserved = plan.unserved.find(isIts);
  const alike = pendingLike(job, organization);
  const names = new Set(plan.assignment.filter(isIts).map(({ pool }) => pool));
  return {
    waitedSeconds: Math.max(0, Math.round((takenAt - job.created_at) / 1000)),
    /** Pending jobs with the same tags, and how many of them are older. */
    alike: alike.length,
    older: alike.filter(({ created_at }) => created_at < job.created_at).length,
    /** The pools that the plan has for these jobs, with the reasons of their counts. */
    pools: plan.pools
      .filter(({ name }) => names.has(name))
      .map(({ name, why, daemons }) => ({ pool: name, why: why.map(reasonIn(daemons)) })),
    /** When it will start, or why that is unknown. Null: the queue is too long to tell. */
    start: plan.pendingJobs.find(({ id }) => id === job.id) ?? null,
    unschedulable: unserved === undefined ? null : unservedSentence(unserved, plan.takenAt),
  };
}

export type PendingJob = ReturnType<typeof explainPending>;

function pendingLike(job: JobDetails, organization: OrganizationReadings | undefined) {
  const jobs = unique(organization?.jobs.items ?? [], ({ id }) => id);
  return jobs.filter(({ status, tags }) => status === 'pending' && tagKey(tags) === tagKey(job.tags));
}

/**
 * A daemon that dies was seen up to a minute before. coderd fails its job 5 minutes after the last
 * update, and looks for such jobs once a minute (docs/internals/coder.md §5).
 */
const FAILED_WITHIN_MS = 7 * MINUTE_MS;

/** When coderd fails a job of which it no longer hears, because the daemon has probably died. */
export function silentDaemon(job: JobDetails, { daemonOf, ofDaemon }: ServingTasks, takenAt: EpochMs) {
  const daemon = job.completed_at == null ? daemonOf(job) : undefined;
  if (daemon?.last_seen_at == null) return null;
  const hasStopped = ofDaemon.get(daemon.id)?.lastStatus === 'STOPPED';
  if (isAlive(daemon, takenAt) && !hasStopped) return null;
  return {
    daemon: daemon.name,
    lastSeenAt: isoTime(daemon.last_seen_at),
    /** Later if more than 10 jobs hang: coderd fails at most 10 a minute. */
    failsBy: isoTime(plusMs(daemon.last_seen_at, FAILED_WITHIN_MS)),
  };
}

export type SilentDaemon = NonNullable<ReturnType<typeof silentDaemon>>;
