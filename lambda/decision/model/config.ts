/** The configuration as the decision reads it: complete, with units in the names of the fields. */
import type { PoolName } from './brands.ts';
import type { Tags } from './tags.ts';

/** A name or ARN in Secrets Manager and, if the secret is JSON, the key in it. */
export type SecretRef = { readonly secret: string; readonly jsonKey?: string | undefined };

/** What the key function needs to manage provisioner keys. */
export type ManagedKeys = { readonly token: SecretRef; readonly rotateAfterDays: number };

/** How the daemons of a pool authenticate to coderd (docs/internals/coder.md §3). */
export type PoolAuth =
  /** A provisioner key that somebody else has made. */
  | { readonly kind: 'key'; readonly secret: SecretRef }
  /** A provisioner key that the key function makes and rotates. */
  | { readonly kind: 'managed' }
  /** The pre-shared key of coderd. The daemon sends the pool's tags. */
  | { readonly kind: 'psk'; readonly secret: SecretRef }
  /** The API token of a user. The daemon sends the pool's tags and its organization. */
  | { readonly kind: 'token'; readonly secret: SecretRef };

export type Architecture = 'arm64' | 'x86_64';

/** The price of waiting of one job, in dollars a minute. */
export type Waiting = {
  /** A job that a person submitted, template imports included. */
  readonly person: number;
  /** An autostart. */
  readonly autostart: number;
  /** A prebuilt workspace. */
  readonly prebuild: number;
  /** Autostop, clean-up of failed builds, dormancy and deletion. */
  readonly stop: number;
};

/** 0 = Sunday, as in JavaScript. */
export type Weekday = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** Floors that hold at certain local times of a time zone. */
export type Schedule = {
  /** The days on which the window begins. */
  readonly days: readonly Weekday[];
  /** Minutes since midnight, 0 to 1439. */
  readonly fromMinute: number;
  /** Minutes since midnight, 0 to 1440. A value up to `fromMinute` means the next day. */
  readonly toMinute: number;
  /** IANA name. */
  readonly timezone: string;
  /** Tasks. */
  readonly min: number;
  /** Daemons kept free. */
  readonly warm: number;
};

/** Spot comes first. Without `spot`, the service on Spot drains, so that it can be removed. */
export type Capacity = 'spot' | 'on-demand';

/** EC2 instances of a capacity provider that the user made. */
export type Instances = {
  readonly provider: string;
  /** Of one task. Absent: as much as on Fargate. */
  readonly dollarsPerHour?: number | undefined;
};

/** The names of the stacks whose pools run the same jobs: this one, and its peers. */
type Peers = { readonly self: string; readonly others: readonly string[] };

/** One pool = one ECS service. All values are present: `lambda/config` fills in the defaults. */
export type PoolConfig = {
  readonly name: PoolName;
  /** Name or UUID of the coderd organization. */
  readonly organization: string;
  /** The tags as you wrote them; `normalizeTags` turns them into the tag set. */
  readonly tags: Tags;
  readonly auth: PoolAuth;
  /** Tasks. `auto`: 0 if the forecast can wake the pool in time, else 1. */
  readonly min: number | 'auto';
  /** Tasks. */
  readonly max: number;
  /** Free daemons on top of the busy ones. `auto`: by the learned rule (stock-groups.ts). */
  readonly warm: number | 'auto';
  /** A spare daemon drains after it has been idle for this long. */
  readonly idleTimeoutMs: number;
  readonly waiting: Waiting;
  /** Beside the task's time, for example the image through a NAT gateway. */
  readonly dollarsPerLaunch: number;
  /**
   * Whether the pool starts for coderd's own transitions, which no job announces while it is at zero
   * (docs/internals/coder.md §10).
   */
  readonly wake: boolean;
  /** From the creation of a task until its daemon is registered, until that is learned. */
  readonly startTimeMs: number;
  readonly schedules: readonly Schedule[];
  /** Absent: no other stack launches for the same jobs (demand/peers.ts). */
  readonly peers?: Peers | undefined;
  /** About to be removed: all its tasks drain, and it launches none (docs/upgrade.md). */
  readonly retiring: boolean;
  readonly image: string;
  /** Fargate CPU units, 1024 = 1 vCPU. */
  readonly cpu: number;
  /** MiB. */
  readonly memory: number;
  readonly architecture: Architecture;
  /** Fargate Spot: cheaper, but AWS may take a task back with two minutes' notice. */
  readonly spot: boolean;
  /** The kinds of capacity of a pool with two services (settings/parts.ts). Absent: it has one service. */
  readonly capacity?: readonly Capacity[] | undefined;
  /** Absent: its tasks run on Fargate. */
  readonly instances?: Instances | undefined;
  /** Whether its tasks may change the protection of tasks of their own pool only. Never with a role of the user's. @default false */
  readonly bindTaskRole?: boolean | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, SecretRef>>;
};

/** How coderd is reached. */
export type CoderServer = {
  readonly url: string;
  readonly token: SecretRef;
  readonly caBundle?: string | undefined;
  /** The URL of the HTTP proxy through which coderd is reached. */
  readonly proxy?: string | undefined;
};

export type Config = {
  readonly coder: CoderServer;
  /** A job that waits longer is a finding. */
  readonly alertAfterMs: number;
  readonly limits: {
    readonly maxTasks: number;
    /** The limit on the cost of all tasks together, in dollars an hour. Absent: no limit. */
    readonly dollarsPerHour?: number | undefined;
  };
  /** `auto`: as often as looks save more waiting than they cost. */
  readonly looks: { readonly everyMs: number | 'auto' };
  /** The percentage of a pool's tasks that drain at a time after a deployment, 1 to 100. */
  readonly roll: { readonly atOncePercent: number };
  /** Present if a pool has a managed key. */
  readonly managedKeys?: ManagedKeys | undefined;
  readonly pools: readonly PoolConfig[];
};
