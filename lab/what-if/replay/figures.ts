/** Computes the figures of a run from the outcome of each job and the bill of each task. */
import { MOST_DELAY_MS } from '../../../lambda/decision/forecast/wake-demand.ts';
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import { meanOf, percentile, sum } from '../../../lambda/decision/model/collections.ts';
import { displayTags } from '../../../lambda/decision/model/tags.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { weekdayIn } from '../../../lambda/decision/model/zones.ts';
import type { JobWait } from '../../../lambda/look/waits/job-wait.ts';
import { addParts } from '../../../lambda/look/waits/wait-parts.ts';
import type { JobRecord } from '../../world/coderd/tables/jobs.ts';
import type { DayFigures } from '../estimate/estimate.ts';
import { EXECUTOR_KINDS, executorTick, type Trace, type TraceJob } from '../trace/trace.ts';
import type { Acquisition, Bill } from './ledger.ts';
import type { ReplayedJob } from './replay.ts';
import { type Figures, PEOPLE_WAIT_FOR, type PeopleWait, type WaitFigures } from './result.ts';

export type JobOutcome = {
  readonly job: TraceJob;
  readonly end: keyof Omit<Figures['jobs'], 'submitted'>;
  readonly waitMs: number;
  /** The pool whose daemon ran it. `-`: no daemon did. */
  readonly pool: string;
  readonly taskId: string | undefined;
  /** Milliseconds on a daemon. */
  readonly runMs: number;
  /** The time at which its daemon finished it. Undefined: no daemon had it. */
  readonly until: EpochMs | undefined;
  /** From the executor's first run at which the job was due until it was inserted. 0 for other jobs. */
  readonly delayMs: number;
};

/** `killedAt`: the time at which the task of the job stopped while it ran. `end`: the end of the world. */
export function outcomeOf(
  { job, record }: ReplayedJob,
  given: {
    readonly by: Acquisition | undefined;
    readonly killedAt: EpochMs | undefined;
    readonly end: EpochMs;
  },
): JobOutcome {
  const { by, killedAt, end } = given;
  const insertedAt = record?.createdAt ?? end;
  const delayMs = EXECUTOR_KINDS.has(job.kind) ? Math.max(0, insertedAt - executorTick(job.at)) : 0;
  const isReaped = record?.failedBy === 'pending-reaper';
  const startedAt = isReaped ? record.completedAt : record?.startedAt;
  const runUntil = killedAt ?? record?.completedAt ?? end;
  return {
    job,
    pool: by?.pool ?? '-',
    taskId: by?.taskId,
    delayMs,
    end: endOf(record, killedAt),
    waitMs: Math.max(0, (startedAt ?? end) - job.at),
    runMs: startedAt === undefined || isReaped ? 0 : runUntil - startedAt,
    until: startedAt === undefined || isReaped ? undefined : runUntil,
  };
}

function endOf(record: ReplayedJob['record'], killedAt: EpochMs | undefined): JobOutcome['end'] {
  if (killedAt !== undefined) return 'killed';
  if (record?.failedBy === 'pending-reaper') return 'reaped';
  return record?.completedAt === undefined ? 'unserved' : 'succeeded';
}

/** The figures that depend on jobs alone. */
export function jobFigures(outcomes: readonly JobOutcome[]) {
  const ended = (end: JobOutcome['end']): number => outcomes.filter((job) => job.end === end).length;
  const stops = outcomes.filter(({ job }) => job.kind === 'autostop' || job.kind === 'dormancy');
  const byExecutor = outcomes.filter(({ job }) => EXECUTOR_KINDS.has(job.kind));
  return {
    jobs: {
      submitted: outcomes.length,
      succeeded: ended('succeeded'),
      reaped: ended('reaped'),
      killed: ended('killed'),
      unserved: ended('unserved'),
    },
    wait: waitFigures(outcomes),
    waitOfPeople: waitFigures(ofPeople(outcomes)),
    waitByPool: waitBy(outcomes, ({ pool }) => pool),
    waitByGroup: waitBy(outcomes, ({ job }) => groupName(job)),
    waitOfPeopleByGroup: waitBy(ofPeople(outcomes), ({ job }) => groupName(job)),
    waitByKind: waitBy(outcomes, ({ job }) => job.kind),
    executor: {
      due: byExecutor.length,
      delayed: byExecutor.filter(({ delayMs }) => delayMs >= MINUTE_MS).length,
      tooLate: byExecutor.filter(({ delayMs }) => delayMs > MOST_DELAY_MS).length,
      longestStopDelayS: stops.reduce((longest, { delayMs }) => Math.max(longest, delayMs / 1000), 0),
    },
  };
}

export function ofPeople(outcomes: readonly JobOutcome[]): readonly JobOutcome[] {
  return outcomes.filter(({ job }) => PEOPLE_WAIT_FOR.has(job.kind));
}

/** `default`, or `default gpu=a10 size=large`. */
export function groupName({ organization, tags }: Pick<TraceJob, 'organization' | 'tags'>): string {
  const shown = Object.entries(displayTags(tags)).sort(([a], [b]) => (a < b ? -1 : 1));
  return [organization, ...shown.map(([name, value]) => `${name}=${value}`)].join(' ');
}

function waitBy(
  outcomes: readonly JobOutcome[],
  nameOf: (outcome: JobOutcome) => string,
): Record<string, WaitFigures> {
  const groups = [...Map.groupBy(outcomes, nameOf)].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(groups.map(([name, group]) => [name, waitFigures(group)]));
}

function waitFigures(outcomes: readonly JobOutcome[]): WaitFigures {
  const waits = outcomes.map(({ waitMs }) => waitMs / 1000).sort((a, b) => a - b);
  return {
    jobs: waits.length,
    meanS: meanOf(waits),
    p50S: percentile(waits, 0.5),
    p95S: percentile(waits, 0.95),
    p99S: percentile(waits, 0.99),
    maxS: waits.at(-1) ?? 0,
    over60s: meanOf(waits.map((wait) => Number(wait > 60))),
  };
}

/** The parts of the waits of people's jobs. `waits`: what the looks logged, by job id. */
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

type Period = Pick<Trace, 'from' | 'to' | 'timezone'>;

/** `waited`: the jobs of people. */
export function dayFigures(
  { from, to, timezone }: Period,
  bills: readonly Bill[],
  waited: readonly Pick<JobOutcome, 'job' | 'waitMs'>[],
): readonly DayFigures[] {
  const count = Math.max(1, Math.floor((to - from) / DAY_MS));
  const dayOf = (at: number): number => Math.min(count - 1, Math.floor((at - from) / DAY_MS));
  const waits = Map.groupBy(waited, ({ job }) => dayOf(job.at));
  return Array.from({ length: count }, (_, day) => {
    const start = plusMs(from, day * DAY_MS);
    const end = day === count - 1 ? to : plusMs(start, DAY_MS);
    return {
      ms: end - start,
      dollars: sum(bills, (bill) => billedBetween(start, end, bill)),
      waitsS: (waits.get(day) ?? []).map(({ waitMs }) => waitMs / 1000),
      isRestDay: REST_DAYS.has(weekdayIn(timezone, plusMs(start, DAY_MS / 2))),
    };
  });
}

const REST_DAYS: ReadonlySet<string | undefined> = new Set(['saturday', 'sunday']);

function billedBetween(start: EpochMs, end: EpochMs, bill: Bill): number {
  const { from, ms, dollarsPerHour, launchedAt, dollarsPerLaunch } = bill;
  const billedMs = Math.max(0, Math.min(from + ms, end) - Math.max(from, start));
  const isLaunched = launchedAt !== undefined && start <= launchedAt && launchedAt < end;
  return (billedMs / HOUR_MS) * dollarsPerHour + (isLaunched ? dollarsPerLaunch : 0);
}
