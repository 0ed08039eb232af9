/** The effect of a change of the configuration on one trace. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Estimates } from '../estimate/estimate.ts';
import type { Outage } from '../trace/trace.ts';
import type { Difference, Pair } from './difference.ts';
import type { MeasureId } from './measures.ts';

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
