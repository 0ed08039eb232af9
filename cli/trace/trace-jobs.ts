/** Reads coderd's jobs, converts them to jobs of a trace, and reports the omitted ones. */

import type { TraceJob } from '../../backtest/trace/trace.ts';
import type { WorkspaceBuild } from '../../lambda/adapters/coderd/history.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { by } from '../../lambda/decision/model/collections.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { isoTime } from '../../lambda/decision/report/waiting.ts';
import { some } from '../../lambda/explain/format.ts';
import { InputError } from '../shared/cli-environment.ts';
import { type OrganizationJobs, type Period, type Reader, readBuilds, readJobs } from './history.ts';
import { type FinishedJob, finished, needsBuild, type Omission, traceJob } from './trace-job.ts';

type Kept = { readonly organization: string; readonly job: FinishedJob };
type Selection = { readonly kept: readonly Kept[]; readonly omissions: readonly Omission[] };

/**
 * Reads the jobs of the period that daemons have completed, in order of time. Throws InputError.
 */
export async function readTraceJobs(
  reader: Reader,
  { pools }: Pick<Config, 'pools'>,
  period: Period,
): Promise<readonly TraceJob[]> {
  const names = [...new Set(pools.map(({ organization }) => organization))].sort();
  const { kept, omissions } = selectFinished(await readJobs(reader, names, period));
  if (omissions.length > 0) reader.tell(omissionsText(omissions));
  if (kept.length === 0) throw nothingToExport(period);
  const builds = await readBuilds(reader, workspacesOf(kept), period.from);
  const unknown = kept.filter(({ job }) => needsBuild(job) && !builds.has(job.id)).length;
  if (unknown > 0) reader.tell(unknownReasonText(unknown));
  return traceJobs(kept, builds, period.from);
}

function selectFinished(read: readonly OrganizationJobs[]): Selection {
  const kept: Kept[] = [];
  const omissions: Omission[] = [];
  for (const { organization, jobs } of read)
    for (const job of jobs.map(finished))
      if (typeof job === 'string') omissions.push(job);
      else kept.push({ organization, job });
  return { kept, omissions };
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
  'never-ran': 'never run (canceled or failed while pending)',
  'too-long': 'longer than a day, which is no real build',
  'of-one-user': 'of a single user (scope=user), which a shared pool cannot run',
};

function omissionsText(omissions: readonly Omission[]): string {
  const counts = Object.entries(OMISSION_TEXTS).map(([omission, why]) => {
    const count = omissions.filter((one) => one === omission).length;
    return count === 0 ? [] : [`${count} ${why}`];
  });
  return `left out: ${counts.flat().join('; ')}`;
}

function unknownReasonText(count: number): string {
  return `${some(count, 'build')} exported as "user", because their reason is unknown: the token's user cannot read the workspaces. Give the user the organization template admin role`;
}

function nothingToExport({ from, to }: Period): InputError {
  return new InputError(
    `exporting the jobs from ${isoTime(from)} to ${isoTime(to)}: coderd has no job that a daemon completed. Give another period with --from or --days, and --to`,
  );
}
