/**
 * The result of a backtest: the data of the table, the JSON document, the report and the search.
 */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';
import type { JobKind } from '../trace/trace.ts';
import type { PolicyRun } from './run-result.ts';

export * from './run-result.ts';

export type Backtest = {
  readonly version: 1;
  readonly trace: {
    readonly name: string;
    readonly from: EpochMs;
    readonly to: EpochMs;
    readonly timezone: string;
    readonly jobs: number;
    readonly kinds: Readonly<Partial<Record<JobKind, number>>>;
    /** Invalid lines that were left out (`--skip-bad`). */
    readonly skipped: number;
    /** Jobs that no pool can run. They are left out of all other figures. */
    readonly unfit: number;
  };
  readonly seed: number;
  readonly settings: {
    /** Dollars. */
    readonly valueOfMinute: number;
    readonly region: string;
    /** The day on which the prices were read. */
    readonly pricesOf: string;
    /** Seconds from the creation of a task to its daemon, shortest and longest. */
    readonly startSeconds: readonly [from: number, to: number];
  };
  readonly pools: readonly BacktestPool[];
  /** Seconds of each step of the series in `runs`. */
  readonly stepS: number;
  /**
   * First the autoscaler as configured, then each policy with its best settings, then policies with
   * default settings.
   */
  readonly runs: readonly PolicyRun[];
  readonly bounds: readonly Bound[];
};

/** A lower bound of the cost of every policy. */
export type Bound = {
  readonly bound: 'busy-hours' | 'clairvoyant';
  readonly title: string;
  /** The assumption of the bound, as a sentence. */
  readonly meaning: string;
  readonly hours: number;
  readonly dollars: number;
  /** 0 for the busy hours, as they have no schedule of tasks. */
  readonly launches: number;
  /** The wait of people that remains, as coderd's executor runs only once a minute. */
  readonly meanWaitS: number;
};

export type BacktestPool = {
  readonly name: string;
  readonly organization: string;
  readonly tags: Tags;
  readonly min: number;
  readonly max: number;
  readonly dollarsPerTaskHour: number;
};
