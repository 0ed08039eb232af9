/** The jobs of one coderd over a period. A file has one JSON line for each (docs/backtest.md). */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';

/**
 * The origin of a job. `user`: a person. `import`: the import or dry run of a template version.
 * `prebuild`: coderd's reconciler of prebuilt workspaces. The others: coderd's lifecycle executor
 * (docs/internals/coder.md §10).
 */
export const JOB_KINDS = ['user', 'autostart', 'autostop', 'dormancy', 'prebuild', 'import'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** coderd's lifecycle executor inserts them, while it sees a matching daemon: `at` is when they are due. */
export const EXECUTOR_KINDS: ReadonlySet<JobKind> = new Set(['autostart', 'autostop', 'dormancy']);

/** The first run of the executor at or after `at`. The executor runs at each full minute. */
export const executorTick = (at: number): EpochMs => (Math.ceil(at / 60_000) * 60_000) as EpochMs;

export const TRANSITIONS = ['start', 'stop', 'delete'] as const;
export type Transition = (typeof TRANSITIONS)[number];

export type TraceJob = {
  /** The time at which the job enters the queue, or is due (`EXECUTOR_KINDS`). */
  readonly at: EpochMs;
  readonly organization: string;
  /** The tags as a person writes them. `normalizeTags` makes a tag set of them. */
  readonly tags: Tags;
  readonly seconds: number;
  readonly kind: JobKind;
  /** The workspace that it builds: unique in its organization. Undefined: none, or unknown. */
  readonly workspace?: string | undefined;
  readonly transition?: Transition | undefined;
};

export type Outage = { readonly at: EpochMs; readonly seconds: number };

export type Trace = {
  readonly name: string;
  /** The period of the figures, from (inclusive) and to (exclusive). It contains all jobs. */
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** IANA name of the time zone of days and hours of the week. */
  readonly timezone: string;
  readonly outages: readonly Outage[];
  /** From the creation of a task to its daemon, shortest and longest. Undefined: as known of Fargate. */
  readonly startSeconds: readonly [from: number, to: number] | undefined;
  readonly jobs: readonly TraceJob[];
  /** Jobs of before `from`, the oldest first: coderd knows them, and no figure counts them. @default none */
  readonly past?: readonly TraceJob[] | undefined;
};
