/** A trace: what a coderd had to build, and when; in a file one JSON line a job (docs/traces.md). */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';

/**
 * Who or what asked for a job. `user`: a person, in whatever way; `import`: a template version that is imported or tried; `prebuild`: coderd's
 * reconciler of prebuilt workspaces; the others: coderd's lifecycle executor (docs/coder.md §10).
 */
export const JOB_KINDS = ['user', 'autostart', 'autostop', 'dormancy', 'prebuild', 'import'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** Those that coderd's lifecycle executor inserts, and only while it sees a matching daemon: `at` is when they are due. */
export const EXECUTOR_KINDS: ReadonlySet<JobKind> = new Set(['autostart', 'autostop', 'dormancy']);

/** The first time from then on at which the executor comes: each full minute. */
export const executorTick = (at: number): EpochMs => (Math.ceil(at / 60_000) * 60_000) as EpochMs;

export const TRANSITIONS = ['start', 'stop', 'delete'] as const;
export type Transition = (typeof TRANSITIONS)[number];

export type TraceJob = {
  /** When it enters the queue, or is due. */
  readonly at: EpochMs;
  /** The name of the coderd organization. */
  readonly organization: string;
  /** Of the job, as a person writes them: `normalizeTags` makes the tag set of them. */
  readonly tags: Tags;
  /** How long a daemon takes for it. */
  readonly seconds: number;
  readonly kind: JobKind;
  /** Which workspace it builds: any text that no other workspace of the organization has. Undefined: none, or not known. */
  readonly workspace?: string | undefined;
  /** What it does with that workspace. Undefined: not known. */
  readonly transition?: Transition | undefined;
};

/** A time in which coderd answered nobody. */
export type Outage = { readonly at: EpochMs; readonly seconds: number };

/** A period and its jobs, in order of time. */
export type Trace = {
  readonly name: string;
  /** The figures are of this period; all jobs are in it. */
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** IANA name: by its clock the hours of the week are told. */
  readonly timezone: string;
  readonly outages: readonly Outage[];
  /** What a new task took from its creation to its daemon, from and to. Undefined: as far as is known for Fargate. */
  readonly startSeconds: readonly [from: number, to: number] | undefined;
  readonly jobs: readonly TraceJob[];
};
