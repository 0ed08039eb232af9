/**
 * Converts a job of coderd to a job of a trace: its cause, time and duration. The result has no
 * personal data.
 */

import { createHash } from 'node:crypto';
import { LONGEST_S } from '../../backtest/trace/schema.ts';
import { EXECUTOR_KINDS, type JobKind, TRANSITIONS, type TraceJob } from '../../backtest/trace/trace.ts';
import type { WorkspaceBuild } from '../../lambda/adapters/coderd/history.ts';
import { PREBUILDS_USER } from '../../lambda/decision/demand/record.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Job } from '../../lambda/decision/model/snapshot.ts';
import { displayTags, normalizeTags } from '../../lambda/decision/model/tags.ts';

/** Why a job is not in a trace. */
export type Omission = 'unfinished' | 'hung' | 'never-ran' | 'too-long' | 'of-one-user';

/** A job that a daemon has completed. */
export type FinishedJob = Job & { readonly started_at: EpochMs; readonly completed_at: EpochMs };

/** The job if a trace can have it, otherwise the reason why not. */
export function finished(job: Job): FinishedJob | Omission {
  const { started_at, completed_at, worker_id, tags, error } = job;
  if (completed_at == null) return 'unfinished';
  // coderd ends it minutes after its daemon died (docs/internals/coder.md §5)
  if (error === 'hung') return 'hung';
  // the reaper of pending jobs writes a start too, and before 2.31.1 canceled ones were still run
  // (docs/internals/coder.md §4)
  if (started_at == null || worker_id == null || completed_at <= started_at) return 'never-ran';
  if (completed_at - started_at > LONGEST_S * 1000) return 'too-long';
  if (normalizeTags(tags).scope === 'user') return 'of-one-user';
  return { ...job, started_at, completed_at };
}

/** Whether the kind of the job is only known from its workspace build. */
export function needsBuild({ type, initiator_id }: Job): boolean {
  return type === 'workspace_build' && initiator_id !== PREBUILDS_USER;
}

/** Converts a finished job. `build` is undefined if it could not be read. */
export function traceJob(
  job: FinishedJob,
  organization: string,
  build: WorkspaceBuild | undefined,
): TraceJob {
  const { created_at, started_at, completed_at, tags, metadata } = job;
  const kind = needsBuild(job) ? kindOf(build) : kindOfJob(job);
  return {
    at: EXECUTOR_KINDS.has(kind) ? minuteOf(created_at) : created_at,
    organization,
    tags: displayTags(tags),
    seconds: (completed_at - started_at) / 1000,
    kind,
    ...(metadata?.workspace_id != null && OF_PEOPLE.has(kind)
      ? { workspace: shortHash(metadata.workspace_id), ...transitionOf(job) }
      : {}),
  };
}

/** The transition of the build. Servers before 2.33 do not include it in the job. */
function transitionOf({ metadata }: Job): Pick<TraceJob, 'transition'> {
  const transition = TRANSITIONS.find((name) => name === metadata?.workspace_build_transition);
  return transition === undefined ? {} : { transition };
}

/** Kinds of jobs whose workspace belongs to a person. Prebuilt workspaces do not yet. */
const OF_PEOPLE: ReadonlySet<JobKind> = new Set(['user', ...EXECUTOR_KINDS]);

/** An anonymous id that distinguishes workspaces. */
export function shortHash(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 12);
}

function kindOfJob({ type }: Job): JobKind {
  return type === 'workspace_build' ? 'prebuild' : 'import';
}

/**
 * Build reasons of coderd's lifecycle executor (docs/internals/coder.md §10). The executor has a
 * separate reason to stop the workspaces of tasks.
 */
const KIND_OF_REASON: ReadonlyMap<string, JobKind> = new Map([
  ['autostart', 'autostart'],
  ['autostop', 'autostop'],
  ['task_auto_pause', 'autostop'],
  ['dormancy', 'dormancy'],
  ['autodelete', 'dormancy'],
]);

/** The kind by the build. Servers before 2.28 have the initiator only in the build. */
function kindOf(build: WorkspaceBuild | undefined): JobKind {
  if (build?.initiator_id === PREBUILDS_USER) return 'prebuild';
  return KIND_OF_REASON.get(build?.reason ?? '') ?? 'user';
}

/**
 * The executor runs once a minute. A job that it inserts was due at the start of that minute, or
 * waited for a daemon, which no data shows.
 */
function minuteOf(time: EpochMs): EpochMs {
  return (Math.floor(time / 60_000) * 60_000) as EpochMs;
}
