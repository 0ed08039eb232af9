import type { PoolName } from './brands.ts';
import type { Tags } from './tags.ts';

/** Where a secret value lies: a Secrets Manager name or ARN and, if it is JSON, the key in it. */
export type SecretRef = { readonly secret: string; readonly jsonKey?: string | undefined };

export type Architecture = 'arm64' | 'x86_64';

/**
 * How a pool is scaled in. `lease`: the guard in each task protects it, and leaves when asked. `confirm`: for images without sh or
 * curl; the autoscaler itself protects busy tasks and looks again just before it lowers a count. `never`: as `confirm`, but
 * no count is ever lowered.
 */
export type ScaleIn = 'lease' | 'confirm' | 'never';

/** Which of coderd's own transitions a pool is woken for, though no job shows them while it sleeps (docs/coder.md §10). */
export type Wake = {
  readonly autostart: boolean;
  /** Autostop, clean-up of failed builds, dormancy and deletion. */
  readonly autostop: boolean;
  /** How late such a transition may be at the most. */
  readonly maxDelayMs: number;
};

export type Prewarm = {
  /** The most daemons that are ready when coderd inserts the jobs that are due. */
  readonly max: number;
};

/** What one job's waiting costs, in dollars a minute. */
export type Waiting = {
  /** A job that a person submitted, template imports included. */
  readonly person: number;
  /** A workspace that coderd starts by its schedule. */
  readonly autostart: number;
  /** A prebuilt workspace. */
  readonly prebuild: number;
  /** Autostop, clean-up of failed builds, dormancy and deletion. */
  readonly stop: number;
};

/** 0 = Sunday, as JavaScript counts. */
export type Weekday = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** Floors at certain times, by the clock on the wall there. */
export type Schedule = {
  /** The days on which it begins. */
  readonly days: readonly Weekday[];
  /** Minutes since midnight, 0 to 1439. */
  readonly fromMinute: number;
  /** Minutes since midnight, 0 to 1440; not after `fromMinute`: on the next day. */
  readonly toMinute: number;
  /** IANA name. */
  readonly timezone: string;
  /** Tasks. */
  readonly min: number;
  /** Daemons kept free. */
  readonly warm: number;
  /** Dates on which it does not begin: `2026-12-25`. */
  readonly except: readonly string[];
};

/** One pool = one ECS service. All values are complete: defaults are filled in when the file is read. */
export type PoolConfig = {
  readonly name: PoolName;
  /** Name or UUID of the coderd organization. */
  readonly organization: string;
  /** As written by the user; `normalizeTags` makes the tag set of it. */
  readonly tags: Tags;
  readonly key: SecretRef;
  /** Tasks. `auto`: none where the forecast wakes the pool in time, else one. */
  readonly min: number | 'auto';
  /** Tasks. */
  readonly max: number;
  /** Daemons kept free, on top of the busy ones. `auto`: as many as are worth their price (stock.ts). */
  readonly warm: number | 'auto';
  /** How long a daemon that nothing needs stays idle. */
  readonly idleTimeoutMs: number;
  readonly waiting: Waiting;
  /** What a launch costs beside the task's time: the image through a NAT gateway, say. */
  readonly dollarsPerLaunch: number;
  readonly prebuilds: {
    /** The most tasks that launches for prebuilds bring the pool to. */
    readonly maxTasks: number;
  };
  readonly whenBlind: {
    /** Tasks kept while coderd cannot be read. */
    readonly floor: number;
  };
  readonly wake: Wake;
  readonly prewarm: Prewarm;
  /** What a new task takes until its daemon is registered, until that has been learned. */
  readonly startTimeMs: number;
  readonly schedules: readonly Schedule[];
  readonly scaleIn: ScaleIn;
  /** On its way out of the configuration: everyone is asked to leave and nothing is launched (docs/adr/0017). */
  readonly retiring: boolean;
  readonly image: string;
  /** Fargate CPU units, 1024 = 1 vCPU. */
  readonly cpu: number;
  /** MiB. */
  readonly memory: number;
  readonly architecture: Architecture;
  /** Runs on Fargate Spot: cheaper, and AWS may take a task back with two minutes' notice. */
  readonly spot: boolean;
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, SecretRef>>;
};

export type Config = {
  readonly coder: {
    readonly url: string;
    readonly token: SecretRef;
    readonly caBundle?: string | undefined;
    /** The URL of the HTTP proxy through which coderd is reached. */
    readonly proxy?: string | undefined;
  };
  /** Jobs that wait longer are a finding. */
  readonly alertAfterMs: number;
  readonly limits: {
    readonly maxTasks: number;
    /** The most that all tasks together may cost an hour. Absent: no limit. */
    readonly dollarsPerHour?: number | undefined;
  };
  readonly looks: { readonly everyMs: number };
  /** The share of a pool's tasks that is replaced at a time after a deployment, 1 to 100. */
  readonly roll: { readonly atOncePercent: number };
  readonly pools: readonly PoolConfig[];
};
