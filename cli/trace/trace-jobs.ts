/** Reads coderd's jobs, converts them to jobs of a trace, and reports the omitted ones. */

import type { TraceJob } from '../../backtest/trace/trace.ts';
import type { WorkspaceBuild } from '../../lambda/adapters/coderd/history.ts';
import { type EpochMs, isoTime } from '../../lambda/decision/model/brands.ts';
import { by } from '../../lambda/decision/model/collections.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { few, some } from '../../lambda/explain/format.ts';
import { InputError } from '../shared/cli-environment.ts';
import { type OrganizationJobs, type Period, type Reader, readBuilds, readJobs } from './history.ts';
import { type FinishedJob, finished, needsBuild, type Omission, traceJob } from './trace-job.ts';

type Kept = { readonly organization: string; readonly job: FinishedJob };
type Omitted = { readonly why: Omission; readonly id: string };
type Selection = { readonly kept: readonly Kept[]; readonly omitted: readonly Omitted[] };

/** What a trace has of a period: the part of it that coderd has jobs of, and these jobs. */
export type TraceJobs = { readonly period: Period; readonly jobs: readonly TraceJob[] };

/**
 * Reads the jobs of the period that daemons have completed, in order of time. Throws InputError.
 */
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

/**
 * Jobs that were due in the minute of `from` get its time: a trace has no job before its period.
 */
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
