/** The result of a backtest: the data of the table, the JSON document, the report and the search. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import type { WaitParts } from '../../../lambda/look/waits/wait-parts.ts';
import type { Estimates } from '../estimate/estimate.ts';
import type { JobKind } from '../trace/trace.ts';

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
    readonly pricesOf: string;
    /** Seconds from the creation of a task to its daemon, shortest and longest. */
    readonly startSeconds: readonly [from: number, to: number];
  };
  readonly pools: readonly BacktestPool[];
  /** Seconds of each step of the series in `runs`. */
  readonly stepS: number;
  /** The autoscaler, then each other policy with its best settings. */
  readonly runs: readonly PolicyRun[];
  /** The autoscaler at several prices of waiting, the lowest first. Empty: nobody asked for them. */
  readonly prices: readonly PricePoint[];
  /** Undefined: no fixed fleet was asked for, or the trace is too short for a month. */
  readonly breakEven?: BreakEven;
};

/** What one daemon around the clock in each pool would cost, with ever fewer builds of the trace. */
export type BreakEven = {
  /** One for each pool. */
  readonly daemons: number;
  /**
   * The whole trace, then parts of it, the largest first. The last one decides: there one daemon costs less, or the
   * autoscaler costs less than one daemon for which nobody waits. Neither: fewer builds were not played.
   */
  readonly volumes: readonly Volume[];
};

/** Dollars are for a month, with waiting and lost jobs. */
export type Volume = {
  readonly buildsPerDay: number;
  /** Undefined: not replayed, since one daemon costs more there than the autoscaler does with the whole trace. */
  readonly autoscaler: number | undefined;
  readonly oneDaemon: number;
  /** Of these, without waiting and lost jobs. */
  readonly oneDaemonTasks: number;
};

export type PricePoint = Pick<PolicyRun, 'figures' | 'estimates'> & {
  /** Dollars for each minute of a person. The other prices of waiting change in proportion. */
  readonly price: number;
  readonly isConfigured: boolean;
};

type BacktestPool = {
  readonly name: string;
  readonly organization: string;
  readonly tags: Tags;
  readonly min: number;
  readonly max: number;
  readonly dollarsPerTaskHour: number;
};

/** Seconds until a daemon had the job since it came, or was due. Shares: 0 to 1. All 0 without jobs. */
export type WaitFigures = {
  readonly jobs: number;
  readonly meanS: number;
  readonly p50S: number;
  readonly p95S: number;
  readonly p99S: number;
  readonly maxS: number;
  readonly over60s: number;
};

export type Figures = {
  /** How the jobs of the trace ended. The other numbers add up to `submitted`. */
  readonly jobs: {
    readonly submitted: number;
    readonly succeeded: number;
    /** Pending for 30 min: coderd's reaper failed them. */
    readonly reaped: number;
    /** The policy stopped their task while they ran. */
    readonly killed: number;
    /** Not ended, or never inserted, when the world ended. */
    readonly unserved: number;
  };
  /** Waits of all jobs. A job that no daemon had waited until the reaper failed it or the world ended. */
  readonly wait: WaitFigures;
  /** Waits of the jobs that people wait for (`PEOPLE_WAIT_FOR`). */
  readonly waitOfPeople: WaitFigures;
  /** By the pool whose daemon had the job. `-`: no daemon had it. */
  readonly waitByPool: Readonly<Record<string, WaitFigures>>;
  /** By organization and tags: `default` or `default size=large`. */
  readonly waitByGroup: Readonly<Record<string, WaitFigures>>;
  /** The same for the jobs that people wait for. */
  readonly waitOfPeopleByGroup: Readonly<Record<string, WaitFigures>>;
  readonly waitByKind: Readonly<Partial<Record<JobKind, WaitFigures>>>;
  /** Jobs of coderd's lifecycle executor. It inserts them late if it sees no matching daemon. */
  readonly executor: {
    readonly due: number;
    /** Inserted a minute or more late. */
    readonly delayed: number;
    /** Inserted more than `MOST_DELAY_MS` late. */
    readonly tooLate: number;
    /** The longest delay of an autostop, dormancy or deletion. */
    readonly longestStopDelayS: number;
  };
  readonly tasks: {
    /** As Fargate bills them: from the image pull to the end, at least one minute. */
    readonly hours: number;
    readonly busyHours: number;
    readonly peak: number;
    readonly launches: number;
    /** Launches whose daemon never had a job. */
    readonly idleLaunches: number;
    /** Every pool, also one without tasks. */
    readonly byPool: Readonly<Record<string, { readonly dollars: number; readonly launches: number }>>;
  };
  readonly peaks: { readonly all: number; readonly byPool: Readonly<Record<string, number>> };
  readonly dollars: {
    /** Including the price of launches. */
    readonly tasks: number;
    /** The wait of people (`PEOPLE_WAIT_FOR`) at `valueOfMinute`. */
    readonly waiting: number;
    /** The cost of killed, reaped and unserved jobs (`FAILURE_MINUTES`). */
    readonly failures: number;
    /** The sum. Grid searches minimize it. */
    readonly total: number;
  };
};

/** Jobs that were killed, failed by coderd after 30 min, or never run. */
export const lostJobs = ({ jobs }: Figures): number => jobs.killed + jobs.reaped + jobs.unserved;

/** Kinds of jobs that delay a person who sits at the screen or comes to work. */
export const PEOPLE_WAIT_FOR: ReadonlySet<JobKind> = new Set(['user', 'autostart', 'import']);

/** Assumption. A killed build leaves resources, noticed after 5 min; another one is requested again. */
export const FAILURE_MINUTES = { killed: 60, reaped: 30, unserved: 30 } as const;

/** By then coderd's reaper fails a pending job, and a person has started a workspace by hand. */
export const LONGEST_WAIT_MINUTES = 30;

/** Where the wait of people (`PEOPLE_WAIT_FOR`) went, until a daemon took the job. No other jobs count. */
export type PeopleWait = {
  readonly jobs: number;
  /** Jobs whose start no look could split: their wait is in `unknown`. */
  readonly missed: number;
  /** Milliseconds of all jobs together. They add up to the whole wait. */
  readonly parts: WaitParts;
};

export type DesiredCountChange = {
  readonly at: EpochMs;
  readonly from: number;
  readonly to: number;
  readonly why: readonly string[];
};

/** The series of one pool, one value for each step of `stepS`: means of task counts, peaks of the queue. */
export type PoolSeries = {
  readonly pool: string;
  /** Pending jobs for which this pool is the cheapest that fits. Each job counts for one pool. */
  readonly queue: readonly number[];
  /** Tasks with a busy daemon; with an idle daemon; without a daemon yet; leaving or left. */
  readonly busy: readonly number[];
  readonly idle: readonly number[];
  readonly starting: readonly number[];
  readonly leaving: readonly number[];
  readonly changes: readonly DesiredCountChange[];
};

export type PolicyRun = {
  /** `autoscaler`, `static`, … */
  readonly policy: string;
  /** The name for readers: `from zero`, `static fleet of 180`. */
  readonly title: string;
  readonly source?: { readonly title: string; readonly url: string };
  readonly settings: Readonly<Record<string, string | number>>;
  readonly isTuned: boolean;
  readonly figures: Figures;
  /** Of another week like the trace. */
  readonly estimates: Estimates;
  /** Of the autoscaler only. */
  readonly peopleWait?: PeopleWait;
  /** Empty for other policies. */
  readonly pools: readonly PoolSeries[];
};
