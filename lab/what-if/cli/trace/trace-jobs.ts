/** Reads coderd's jobs, converts them to jobs of a trace, and reports the omitted ones. */
import { createHash } from 'node:crypto';
import { InputError } from '../../../../cli/shared/cli-environment.ts';
import { PREBUILDS_USER } from '../../../../lambda/decision/demand/record.ts';
import { type EpochMs, isoTime } from '../../../../lambda/decision/model/brands.ts';
import { by } from '../../../../lambda/decision/model/collections.ts';
import type { Config } from '../../../../lambda/decision/model/config.ts';
import type { Job } from '../../../../lambda/decision/model/snapshot.ts';
import { displayTags, normalizeTags } from '../../../../lambda/decision/model/tags.ts';
import { few, some } from '../../../../lambda/explain/format.ts';
import { LONGEST_S } from '../../trace/schema.ts';
import { EXECUTOR_KINDS, type JobKind, TRANSITIONS, type TraceJob } from '../../trace/trace.ts';
import {
  type OrganizationJobs,
  type Period,
  type Reader,
  readBuilds,
  readJobs,
  type WorkspaceBuild,
} from './history.ts';

type Kept = { readonly organization: string; readonly job: FinishedJob };
type Omitted = { readonly why: Omission; readonly id: string };
type Selection = { readonly kept: readonly Kept[]; readonly omitted: readonly Omitted[] };

/** What a trace has of a period: the part of it that coderd has jobs of, and these jobs. */
type TraceJobs = { readonly period: Period; readonly jobs: readonly TraceJob[] };

/** Reads the jobs of the period that daemons have completed, in order of time. Throws InputError. */
export async function readTraceJobs(
  reader: Reader,
  { pools }: Pick<Config, 'pools'>,
  wanted: Period,
): Promise<TraceJobs> {
  const names = [...new Set(pools.map(({ organization }) => organization))].sort();
  const { period, read } = await readJobs(reader, names, wanted);
  const { kept, omitted } = selectFinished(read);
  for (const line of omissionLines(omitted)) reader.tell(line);
  if (kept.length === 0) throw nothingToExport(wanted);
  const builds = await readBuilds(reader, workspacesOf(kept), period.from);
  const unknown = kept.filter(({ job }) => needsBuild(job) && !builds.has(job.id)).length;
  if (unknown > 0) reader.tell(unknownReasonText(unknown));
  return { period, jobs: traceJobs(kept, builds, period.from) };
}

function selectFinished(read: readonly OrganizationJobs[]): Selection {
  const kept: Kept[] = [];
  const omitted: Omitted[] = [];
  for (const { organization, jobs } of read)
    for (const listed of jobs) {
      const job = finished(listed);
      if (typeof job === 'string') omitted.push({ why: job, id: listed.id });
      else kept.push({ organization, job });
    }
  return { kept, omitted };
}

function workspacesOf(kept: readonly Kept[]): ReadonlySet<string> {
  const ofBuilds = kept.filter(({ job }) => needsBuild(job));
  return new Set(ofBuilds.flatMap(({ job }) => job.metadata?.workspace_id ?? []));
}

/** Jobs that were due in the minute of `from` get its time: a trace has no job before its period. */
function traceJobs(
  kept: readonly Kept[],
  builds: ReadonlyMap<string, WorkspaceBuild>,
  from: EpochMs,
): readonly TraceJob[] {
  const jobs = kept.map(({ organization, job }) => traceJob(job, organization, builds.get(job.id)));
  const bounded = jobs.map((job) => (job.at < from ? { ...job, at: from } : job));
  return bounded.toSorted(by(({ at }) => at));
}

const OMISSION_TEXTS: Readonly<Record<Omission, string>> = {
  unfinished: 'not finished',
  hung: 'hung (coderd failed them 5 minutes after it last heard of them, so their duration is unknown)',
  'never-ran': 'never run (canceled or failed while pending)',
  'too-long': 'longer than a day, which is no real build',
  'of-one-user': 'of a single user (scope=user), which a shared pool cannot run',
};

/** The number of jobs left out, and the ids of those whose daemons died. */
function omissionLines(omitted: readonly Omitted[]): readonly string[] {
  if (omitted.length === 0) return [];
  const idsOf = (omission: string): readonly string[] =>
    omitted.flatMap(({ why, id }) => (why === omission ? [id] : []));
  const counts = Object.entries(OMISSION_TEXTS).flatMap(([omission, why]) => {
    const count = idsOf(omission).length;
    return count === 0 ? [] : [`${count} ${why}`];
  });
  const hung = idsOf('hung');
  return [`left out: ${counts.join('; ')}`, ...(hung.length === 0 ? [] : [`hung jobs: ${few(hung)}`])];
}

function unknownReasonText(count: number): string {
  return `${some(count, 'build')} exported as "user", because their reason is unknown: the token's user cannot read the workspaces. Give the user the organization template admin role`;
}

function nothingToExport({ from, to }: Period): InputError {
  return new InputError(
    `exporting the jobs from ${isoTime(from)} to ${isoTime(to)}: coderd has no job that a daemon completed. Give another period with --from or --days, and --to`,
  );
}

type Omission = 'unfinished' | 'hung' | 'never-ran' | 'too-long' | 'of-one-user';

type FinishedJob = Job & { readonly started_at: EpochMs; readonly completed_at: EpochMs };

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
function needsBuild({ type, initiator_id }: Job): boolean {
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

/** Reasons of coderd's lifecycle executor (docs/internals/coder.md §10), with one for task workspaces. */
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

/** The executor runs once a minute: a job was due at the start of it, or waited for a daemon. */
function minuteOf(time: EpochMs): EpochMs {
  return (Math.floor(time / 60_000) * 60_000) as EpochMs;
}
