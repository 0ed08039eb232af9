/** Makes a trace of a log: chooses its jobs, gives them tags, and scales their durations. */
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { partition, percentile } from '../../../../lambda/decision/model/collections.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { few } from '../../../../lambda/explain/format.ts';
import { Problems, TraceError } from '../problems.ts';
import { type ReadTrace, traceOf } from '../read.ts';
import { LONGEST_S } from '../schema.ts';
import type { Log, LogJob, Omission } from './log.ts';

export type ImportOptions = {
  readonly file: string;
  readonly name?: string | undefined;
  /** The period; a job outside it is left out. */
  readonly from?: EpochMs | undefined;
  readonly to?: EpochMs | undefined;
  /** Of the hours of the week. Undefined: UTC. */
  readonly timezone?: string | undefined;
  readonly organization: string;
  /** The field that makes groups: the name of their tag. */
  readonly group?: string | undefined;
  /** Tags by group, instead. Other groups are left out. */
  readonly tags?: ReadonlyMap<string, Tags> | undefined;
  /** Seconds. All durations are multiplied so that this is their median. */
  readonly median?: number | undefined;
  readonly skipBad: boolean;
};

/** Throws TraceError if there are bad lines without `skipBad`, or no jobs. */
export function importLog(log: Log, options: ImportOptions): ReadTrace {
  const { file, name, from, to, organization, skipBad } = options;
  const problems = new Problems(file);
  for (const line of log.lines) if (line.kind === 'bad') problems.add(line.problems);
  const jobs = log.lines.flatMap((line) => (line.kind === 'job' ? [line.job] : []));
  const bad = problems.settle(jobs.length, skipBad);
  checkGroups(jobs, options);
  const wanted = jobs.filter((job) => omissionOf(job, options) === undefined);
  const factor = factorOf(wanted, options);
  const [kept, long] = partition(wanted.map(scaledBy(factor)), ({ seconds }) => seconds <= LONGEST_S);
  const omissions = [
    ...log.lines.flatMap((line) => (line.kind === 'left-out' ? [line.omission] : [])),
    ...jobs.flatMap((job) => omissionOf(job, options) ?? []),
    ...long.map(() => 'too-long' as const),
  ];
  const leftOut = omissions.length > 0 ? [`left out: ${omissionsText(omissions)}`] : [];
  if (kept.length === 0)
    throw new TraceError([`${file}: importing a log: it has no job for a trace`, ...leftOut].join('; '));
  const trace = traceOf(
    file,
    kept.map(({ at, group, seconds }) => ({
      at,
      organization,
      tags: tagsOf(group, options) ?? {},
      seconds,
      kind: 'user',
    })),
    { name, from, to, timezone: options.timezone },
  );
  return { trace, skipped: problems.badLines, remarks: [...bad, ...leftOut] };
}

/** Throws TraceError if a group of the option does not occur: its name is wrong. */
function checkGroups(jobs: readonly LogJob[], { file, group, tags }: ImportOptions): void {
  const groups = new Set(jobs.map((job) => job.group ?? ''));
  const missing = [...(tags?.keys() ?? [])].find((name) => !groups.has(name));
  if (missing === undefined) return;
  throw new TraceError(
    `${file}: importing a log: no job has the ${group} "${missing}" of --tags; there are ${few([...groups].sort().map((name) => `"${name}"`))}`,
  );
}

function omissionOf({ at, group }: LogJob, options: ImportOptions): Omission | undefined {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = options;
  if (at < from || at >= to) return 'other-time';
  return tagsOf(group, options) === undefined ? 'other-group' : undefined;
}

/** Undefined if the group is not wanted. */
function tagsOf(value = '', { group, tags }: ImportOptions): Tags | undefined {
  if (tags !== undefined) return tags.get(value);
  return group === undefined || value === '' ? {} : { [group]: value };
}

function factorOf(jobs: readonly LogJob[], { file, median }: ImportOptions): number {
  if (median === undefined || jobs.length === 0) return 1;
  const own = percentile(
    jobs.map(({ seconds }) => seconds).sort((a, b) => a - b),
    0.5,
  );
  if (own > 0) return median / own;
  throw new TraceError(
    `${file}: importing a log: half of the jobs took no time, so that no factor gives a median of ${median} s; leave out --median`,
  );
}

/** Durations keep milliseconds. */
const scaledBy =
  (factor: number) =>
  (job: LogJob): LogJob => ({ ...job, seconds: Math.round(job.seconds * factor * 1000) / 1000 });

const OMISSION_TEXTS: Readonly<Record<Omission, string>> = {
  unfinished: 'not finished',
  'other-time': 'outside --from and --to',
  'other-group': 'of groups that --tags does not name',
  'too-long': 'longer than a day',
};

function omissionsText(omissions: readonly Omission[]): string {
  return [...Map.groupBy(omissions, (omission) => omission)]
    .map(([omission, { length }]) => `${length} ${OMISSION_TEXTS[omission]}`)
    .join('; ');
}
