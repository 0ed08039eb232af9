/** The effect of a change of the configuration on one trace. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { type Estimates, perMonth } from '../estimate/estimate.ts';
import { type Figures, lostJobs } from '../replay/result.ts';
import type { Outage, Trace } from '../trace/trace.ts';
import type { Difference, Pair } from './difference.ts';

export type ConfigChange = {
  readonly trace: {
    readonly name: string;
    readonly from: EpochMs;
    readonly to: EpochMs;
    readonly jobs: number;
    /** Invalid lines that were left out (`--skip-bad`). */
    readonly skipped: number;
    readonly outages: readonly Outage[];
  };
  readonly seeds: readonly number[];
  /** Jobs of the trace by the configurations that have a pool for them. */
  readonly fits: JobFits;
  /** Jobs that people wait for, in the replays after the change. */
  readonly jobsOfPeople: number;
  readonly measures: Readonly<Record<MeasureId, Difference>>;
  /** Of another week like the trace. */
  readonly estimates: Pair<Estimates>;
  readonly pools: readonly PoolChange[];
  /** The waits of people by organization and tags, if there are several groups. */
  readonly groups: readonly GroupChange[];
};

export type JobFits = {
  readonly both: number;
  /** The change leaves them without a pool. */
  readonly onlyBefore: number;
  readonly onlyAfter: number;
  /** They are in no replay. */
  readonly neither: number;
};

export type PoolChange = {
  readonly state: 'kept' | 'renamed' | 'added' | 'removed';
  /** One name, or the names before and after. */
  readonly names: readonly string[];
  /** Jobs of the trace that fit it, after the change if it exists then. */
  readonly fitting: number;
  readonly dollarsPerMonth: Difference;
  readonly launches: Difference;
  /** Jobs that its daemons ran. */
  readonly jobs: Difference;
};

export type GroupChange = {
  /** `default` or `default size=large`. */
  readonly group: string;
  /** The fewest jobs in any replay. */
  readonly jobs: number;
  readonly meanWaitS: Difference;
  readonly p95WaitS: Difference;
};

type Replay = { readonly figures: Figures; readonly trace: Pick<Trace, 'from' | 'to'> };

/** A month has 730 hours. Waits are those of jobs that people wait for. */
export const MEASURES = {
  dollarsPerMonth: ({ figures, trace }: Replay) => perMonth(figures.dollars.tasks, trace.to - trace.from),
  meanWaitS: ({ figures }: Replay) => figures.waitOfPeople.meanS,
  p50WaitS: ({ figures }: Replay) => figures.waitOfPeople.p50S,
  p90WaitS: ({ figures }: Replay) => figures.waitOfPeople.p90S,
  p95WaitS: ({ figures }: Replay) => figures.waitOfPeople.p95S,
  maxWaitS: ({ figures }: Replay) => figures.waitOfPeople.maxS,
  minutesPerMonth: ({ figures, trace }: Replay) =>
    perMonth((figures.waitOfPeople.meanS * figures.waitOfPeople.jobs) / 60, trace.to - trace.from),
  lostJobs: ({ figures }: Replay) => lostJobs(figures),
  lateSchedules: ({ figures }: Replay) => figures.executor.delayed,
  launches: ({ figures }: Replay) => figures.tasks.launches,
  idleLaunches: ({ figures }: Replay) => figures.tasks.idleLaunches,
} satisfies Record<string, (replay: Replay) => number>;

export type MeasureId = keyof typeof MEASURES;
