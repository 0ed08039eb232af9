/** From coderd's jobs to those of a trace, and what there is to say of those that are not in it. */

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
type Sifted = { readonly kept: readonly Kept[]; readonly omissions: readonly Omission[] };

/** Those of the period that daemons have worked off, in order of time. Throws InputError. */
export async function readTraceJobs(
  reader: Reader,
  { pools }: Pick<Config, 'pools'>,
  period: Period,
): Promise<readonly TraceJob[]> {
  const names = [...new Set(pools.map(({ organization }) => organization))].sort();
  const { kept, omissions } = sift(await readJobs(reader, names, period));
  if (omissions.length > 0) reader.tell(omissionsText(omissions));
  if (kept.length === 0) throw nothingToExport(period);
  const builds = await readBuilds(reader, workspacesOf(kept), period.from);
  const untold = kept.filter(({ job }) => needsBuild(job) && !builds.has(job.id)).length;
  if (untold > 0) reader.tell(untoldText(untold));
  return traceJobs(kept, builds, period.from);
}

function sift(read: readonly OrganizationJobs[]): Sifted {
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

/** `from`: what was due in its minute is due at it, as all jobs of a trace are in its period. */
function traceJobs(
  kept: readonly Kept[],
  builds: ReadonlyMap<string, WorkspaceBuild>,
  from: EpochMs,
): readonly TraceJob[] {
  const jobs = kept.map(({ organization, job }) => traceJob(job, organization, builds.get(job.id)));
  const bounded = jobs.map((job) => (job.at < from ? { ...job, at: from } : job));
  return bounded.toSorted(by(({ at }) => at));
}

const WHY: Readonly<Record<Omission, string>> = {
  unfinished: 'not finished',
  'never-ran': 'never run, as they were canceled or given up',
  'too-long': 'that took longer than a day, as no build does',
  'of-one-user': 'of one user alone (scope=user), which no pool can run',
};

function omissionsText(omissions: readonly Omission[]): string {
  const counts = Object.entries(WHY).map(([omission, why]) => {
    const count = omissions.filter((one) => one === omission).length;
    return count === 0 ? [] : [`${count} ${why}`];
  });
  return `left out: ${counts.flat().join('; ')}`;
}

function untoldText(count: number): string {
  return `${some(count, 'build')} exported as "user", as nothing tells why: the token's user can not read the workspaces; the organization template admin role lets it`;
}

function nothingToExport({ from, to }: Period): InputError {
  return new InputError(
    `exporting the jobs from ${isoTime(from)} to ${isoTime(to)}: coderd has none that a daemon has worked off; give another time with --from or --days, and --to`,
  );
}
