/** What a backtest found: data for the table, the JSON document, the report and the search for better settings. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';
import type { JobKind } from '../trace/trace.ts';

/** Seconds from when a job came, or was due, until a daemon had it. Shares: 0 to 1. All 0 without jobs. */
export type WaitFigures = {
  readonly jobs: number;
  readonly meanS: number;
  readonly p50S: number;
  readonly p95S: number;
  readonly p99S: number;
  readonly maxS: number;
  readonly over10s: number;
  readonly over60s: number;
  readonly over5min: number;
};

export type Figures = {
  /** How the jobs of the trace ended; they add up to `submitted`. */
  readonly jobs: {
    readonly submitted: number;
    readonly succeeded: number;
    /** Pending for 30 min: coderd's reaper failed them. */
    readonly reaped: number;
    /** Their task was stopped under them, by the policy. */
    readonly killed: number;
    /** Not over, or never inserted, when the world ended. */
    readonly unserved: number;
  };
  /** Of all jobs; those that no daemon ever had waited until the reaper came or the world ended. */
  readonly wait: WaitFigures;
  /** Of those that people wait for (`PEOPLE_WAIT_FOR`). */
  readonly waitOfPeople: WaitFigures;
  /** By the pool whose daemon had them; those that nobody had: `-`. */
  readonly waitByPool: Readonly<Record<string, WaitFigures>>;
  /** By organization and tags: `default` or `default size=large`. */
  readonly waitByGroup: Readonly<Record<string, WaitFigures>>;
  readonly waitByKind: Readonly<Partial<Record<JobKind, WaitFigures>>>;
  /** Jobs of prebuilt workspaces that were killed, given up or not over. */
  readonly failedPrebuilds: number;
  /** Jobs that coderd's lifecycle executor had to insert. It inserts them late where it sees no daemon for them. */
  readonly executor: {
    readonly due: number;
    /** A minute or more late. */
    readonly delayed: number;
    /** Later than `wake.maxDelay`. */
    readonly tooLate: number;
    /** How late the latest autostop, dormancy or deletion was. */
    readonly longestStopDelayS: number;
  };
  readonly tasks: {
    /** As Fargate bills them: from the pull of the image to the end, a minute at least. */
    readonly hours: number;
    /** Of them, those in which a job ran. */
    readonly busyHours: number;
    readonly peak: number;
    readonly launches: number;
    /** Launches whose daemon never had a job. */
    readonly idleLaunches: number;
  };
  /** The most tasks that the desired counts asked for at a time. */
  readonly peaks: { readonly all: number; readonly byPool: Readonly<Record<string, number>> };
  readonly dollars: {
    /** With the price of their launches. */
    readonly tasks: number;
    /** What people waited, at `valueOfMinute`: see `PEOPLE_WAIT_FOR`. */
    readonly waiting: number;
    /** What jobs cost that were killed or came to nothing: see `FAILURE_MINUTES`. */
    readonly failures: number;
    /** All of it: what a grid search makes as small as it can. */
    readonly total: number;
  };
  /** What was asked of coderd and of AWS. */
  readonly calls: { readonly ticks: number; readonly coderd: number; readonly ecs: number };
};

/** Somebody sits in front of the screen, or comes to work and finds no workspace. */
export const PEOPLE_WAIT_FOR: ReadonlySet<JobKind> = new Set(['user', 'autostart', 'import']);

/**
 * Minutes of a person, an assumption: a killed build leaves resources behind that nobody knows of, and is found to be dead after 5 min; a
 * job that was never run is asked for again.
 */
export const FAILURE_MINUTES = { killed: 60, reaped: 30, unserved: 30 } as const;

/**
 * Of one job's wait so much is counted in dollars at the most: after as long coderd's reaper gives a pending job up, and whoever finds no
 * workspace has long started one by hand.
 */
export const LONGEST_WAIT_MINUTES = 30;

/** A change of a pool's desired count. */
export type Change = {
  readonly at: EpochMs;
  readonly from: number;
  readonly to: number;
  /** Sentences. */
  readonly why: readonly string[];
};

/** What a pool did, in steps of `stepS`: means of each step, of the queue the most. */
export type PoolSeries = {
  readonly pool: string;
  /** Jobs that wait and that it could run first: those of other pools are not in it. */
  readonly queue: readonly number[];
  /** Tasks whose daemon has a job; whose daemon has none; without a daemon yet; that are leaving or have left. */
  readonly busy: readonly number[];
  readonly idle: readonly number[];
  readonly starting: readonly number[];
  readonly leaving: readonly number[];
  readonly changes: readonly Change[];
};

/** Of the jobs that people wait for: 168 values each, Monday's first hour first, by the clock of the trace's zone. */
export type HoursOfWeek = {
  readonly jobs: readonly number[];
  /** 0 where there were no jobs. */
  readonly meanWaitS: readonly number[];
};

export type PolicyRun = {
  /** `autoscaler`, `static`, … */
  readonly policy: string;
  /** For people: `KEDA`, `static fleet of 180`. */
  readonly title: string;
  /** The public source of its rule. */
  readonly source?: { readonly title: string; readonly url: string };
  /** What it ran with, for people. */
  readonly settings: Readonly<Record<string, string | number>>;
  /** Whether the grid search chose them. */
  readonly isTuned: boolean;
  readonly figures: Figures;
  /** How many of the jobs that people wait for waited up to each of `WAIT_EDGES_S`, and more than all of them. */
  readonly waitCounts: readonly number[];
  readonly hoursOfWeek: HoursOfWeek;
  readonly pools: readonly PoolSeries[];
};

/** Seconds; the last count is of those above the last edge. */
export const WAIT_EDGES_S = [1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800] as const;

/** What nothing can be below. */
export type Bound = {
  readonly bound: 'busy-hours' | 'clairvoyant';
  readonly title: string;
  /** What it assumes, a sentence. */
  readonly meaning: string;
  readonly hours: number;
  readonly dollars: number;
  /** 0 for the busy hours: nobody can run so. */
  readonly launches: number;
  /** Of those that people wait for, as coderd's executor comes once a minute. */
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

/** One run at one price of waiting. */
export type SweepPoint = {
  /** Dollars a minute of a person; the other prices of waiting follow in proportion. */
  readonly price: number;
  readonly isConfigured: boolean;
  /** Of tasks and their launches, for a month of 30.4 days. */
  readonly dollarsPerMonth: number;
  /** Of people. */
  readonly meanWaitS: number;
  readonly p95WaitS: number;
  /** Jobs of people that waited over 10 s. */
  readonly over10s: number;
  readonly launches: number;
  /** Of them, those whose daemon never had a job. */
  readonly idleLaunches: number;
  /** Killed, given up after 30 min, or never run. */
  readonly lostJobs: number;
};

export type Backtest = {
  readonly version: 1;
  readonly trace: {
    readonly name: string;
    readonly from: EpochMs;
    readonly to: EpochMs;
    readonly timezone: string;
    readonly jobs: number;
    readonly kinds: Readonly<Partial<Record<JobKind, number>>>;
    /** Lines that could not be used (`--skip-bad`). */
    readonly skipped: number;
    /** Jobs that no pool can run: they are left out, and in no other figure. */
    readonly unfit: number;
  };
  readonly seed: number;
  readonly settings: {
    /** Dollars. */
    readonly valueOfMinute: number;
    readonly region: string;
    /** Of the prices. */
    readonly pricesOf: string;
    /** Seconds from a task's creation to its daemon, the least and the most. */
    readonly startSeconds: readonly [from: number, to: number];
  };
  readonly pools: readonly BacktestPool[];
  /** Of each series of `runs`. */
  readonly stepS: number;
  /** The autoscaler as configured is the first, then each policy as tuned, so that each has its place; then those as they are. */
  readonly runs: readonly PolicyRun[];
  readonly bounds: readonly Bound[];
  /** The autoscaler at several prices of waiting, the lowest first. */
  readonly sweep?: readonly SweepPoint[];
};
