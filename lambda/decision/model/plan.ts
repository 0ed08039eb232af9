/**
 * The plan: the actions that one look decided, and the reasons for them. It is plain data. Reasons
 * are codes in closed unions; `lambda/explain/text.ts` turns them into sentences.
 */
import type { JobId, PoolName, ServiceArn, TaskArn } from './brands.ts';
import type { ScaleIn } from './config.ts';
import type { SecretKind } from './secrets.ts';
import type { ReadingStatus } from './snapshot.ts';
import type { Tags } from './tags.ts';

/** The kinds of demand that have their own price of waiting. */
export type Audience = 'people' | 'autostarts' | 'stops' | 'prebuilds';

/** RFC 3339, UTC, with milliseconds. The plan is a JSON document without further conversion. */
export type IsoTime = string;

/**
 * Why a task that is not spare gets a drain request. Another task replaces it, unless its pool is
 * retiring. Order: useless tasks first.
 */
export const REPLACING = ['retiring', 'no-daemon', 'wrong-key', 'old-revision', 'old-secret'] as const;
export type Replacing = (typeof REPLACING)[number];

/**
 * The transitions that coderd makes by itself. `autostop` includes the clean-up of failed builds.
 */
export type TransitionKind = 'autostart' | 'autostop' | 'dormancy' | 'deletion';

/** The number of transitions of one kind, and when the earliest is due. */
export type Transitions = {
  readonly kind: TransitionKind;
  readonly transitions: number;
  readonly at: IsoTime;
};

/** The time from the creation of a pool's task until its daemon is registered. */
export type StartTime = {
  /** `setting`: fewer than three starts were seen, so the configured start time is used. */
  readonly from: 'setting' | 'learned';
  readonly samples: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
};

/**
 * Why a pool has its numbers. Every pool has at least one reason; a pool that needs no action has
 * one too.
 */
export type Reason =
  | { readonly code: 'pending-jobs' | 'served-by-free' | 'served-by-starting'; readonly jobs: number }
  | { readonly code: TasksReason; readonly tasks: number }
  | {
      readonly code: 'floor';
      readonly from: Exclude<Floor['from'], 'wake' | 'stock'>;
      readonly count: number;
    }
  /** Free daemons that are kept for unforeseen builds, by which rule, and why by this one. */
  | {
      readonly code: 'stock';
      /** Daemons of this pool. */
      readonly daemons: number;
      /** The rule, for all pools that can run these builds. Further idle daemons are spare ones. */
      readonly free: number;
      readonly spareMinutes: number;
      /** Minutes after the last build; null: always. */
      readonly afterBuildMinutes: number | null;
      /** Whether a build that will end soon counts as a free daemon. */
      readonly countsEnding: boolean;
      /** Null: too few builds are known. */
      readonly learned: {
        readonly builds: number;
        readonly hours: number;
        /** Of the rule, weighted for this half hour. */
        readonly dollarsPerHour: { readonly tasks: number; readonly waiting: number };
        /** The best rules that keep the next smaller and larger numbers free. */
        readonly others: readonly { readonly free: number; readonly dollarsPerHour: number }[];
      } | null;
    }
  /** One daemon opens coderd's gate for transitions that are due now or soon. */
  | { readonly code: 'awake-for'; readonly for: readonly Transitions[] }
  /** The forecast is incomplete, so more transitions may be due. The last daemon stays. */
  | { readonly code: 'holding-for-forecast' }
  /**
   * Transitions that coderd would make if it saw a daemon of this pool, which is paused or pinned.
   */
  | { readonly code: 'not-woken-for'; readonly for: readonly Transitions[] }
  /** Daemons that must be ready when coderd inserts the jobs. */
  | { readonly code: 'prewarm'; readonly daemons: number; readonly due: number }
  | { readonly code: 'capped-at-prewarm-max'; readonly due: number; readonly max: number }
  /** The clocks differ, or others change the count: floors and transitions that are due launch no task. */
  | { readonly code: 'launching-for-jobs-only'; readonly wanted: number }
  /** The pool wants more tasks than its pin allows. */
  | ({ readonly code: 'pinned'; readonly wanted: number; readonly count: number } & OverrideNote)
  /** The only action of a paused pool is to protect tasks that have no guard. */
  | ({ readonly code: 'paused' } & OverrideNote)
  | ({ readonly code: 'scale-in-paused' } & OverrideNote)
  /** A retiring pool: tasks that cannot get a drain request, or have one already. */
  | {
      readonly code: 'retiring-waits';
      readonly starting: number;
      readonly leaving: number;
      readonly unguarded: number;
    }
  /** A retiring pool that has no task left. */
  | { readonly code: 'retired' }
  | { readonly code: 'capped-at-max'; readonly wanted: number; readonly max: number }
  | (OverallLimit & { readonly code: 'capped-at-max-tasks'; readonly maxTasks: number })
  | (OverallLimit & { readonly code: 'capped-at-dollars-per-hour'; readonly dollarsPerHour: number })
  | { readonly code: 'capped-at-prebuilds-max-tasks'; readonly jobs: number; readonly maxTasks: number }
  /**
   * Tasks to replace, and how many of them get a drain request in this look. Only a share of a pool
   * drains at a time, and replacements start first.
   */
  | {
      readonly code: Exclude<Replacing, 'old-secret'>;
      readonly tasks: number;
      readonly asked: number;
    }
  | OldSecretReason
  /**
   * Rung `confirm`: tasks that ECS may stop once all other tasks are protected and a second look
   * plans the same.
   */
  | { readonly code: 'stopping-after-confirmation'; readonly tasks: number; readonly unprotected: number }
  | {
      readonly code: 'starts-failing';
      /** Failed starts since a daemon last registered. */
      readonly failures: number;
      readonly wanted: number;
      /** Existing tasks and one probe at the most. */
      readonly granted: number;
      /** ECS's own words. */
      readonly reason: string;
    }
  | {
      /** ECS cannot place tasks because a quota is used up or there is no capacity. */
      readonly code: 'placement-failing';
      /** Desired tasks that have no task record. */
      readonly tasks: number;
      readonly wanted: number;
      /** Existing tasks and one probe at the most. */
      readonly granted: number;
      readonly since: IsoTime;
      /** ECS's own words. */
      readonly reason: string;
    }
  | { readonly code: 'count-below-tasks'; readonly desired: number; readonly tasks: number }
  | { readonly code: 'holding-for-deployment' }
  | { readonly code: 'holding-for-doubt'; readonly doubts: readonly Doubt[] }
  | { readonly code: 'server-too-old'; readonly version: string; readonly oldest: string }
  | { readonly code: 'no-service' }
  | { readonly code: 'nothing-to-do' };

/** Reasons that say only how many tasks. */
type TasksReason =
  /** Idle daemons that drain because a limit over all pools keeps a job of another pool waiting. */
  | 'making-room'
  /** Tasks above the pin. Running builds finish; idle daemons drain after `idleTimeout`. */
  | 'above-pin'
  | 'idle-long-enough'
  | 'idle-too-briefly'
  /**
   * Tasks without a guard. The autoscaler protects them because they may hold a job or have to
   * stay.
   */
  | 'protecting'
  /**
   * Rung `confirm`: tasks that have been idle long enough, but the protection of their last build
   * still runs.
   */
  | 'holding-for-protection'
  /** Rung `never`: idle tasks that stay. */
  | 'never-scaled-in'
  | 'tasks-left'
  | 'waiting-for-vacant'
  | 'holding-for-starting'
  /** Rung `confirm`: a task drains that still has the lease of an earlier guard or of a person. */
  | 'holding-for-leaving'
  | 'holding-for-unguarded'
  /** Idle daemons that are kept because the record of earlier builds is too short to drain them. */
  | 'holding-for-record';

/** A limit over all pools that applies. */
type OverallLimit = {
  readonly wanted: number;
  readonly granted: number;
  /** Minutes that people wait because of this limit, for each hour. */
  readonly waitMinutesPerHour: number;
};

/** A secret of a pool, of which tasks still have an earlier value. */
export type ChangedSecret = {
  /** The name in Secrets Manager. */
  readonly secret: string;
  readonly kind: SecretKind;
  /** When the present value was stored, as far as AWS tells; at the latest, if it does not. */
  readonly changedAt: IsoTime;
  /** When the value before it was stored; null: unknown. */
  readonly previousAt: IsoTime | null;
};

/** Tasks that were started with an earlier value of a secret. A share of them drains at a time. */
export type OldSecretReason = ChangedSecret & {
  readonly code: 'old-secret';
  /** Tasks with the earlier value, including those that drain already. */
  readonly tasks: number;
  /** All tasks of the pool. */
  readonly of: number;
  readonly draining: number;
  /** Tasks that get a drain request in this look. */
  readonly asked: number;
  /**
   * Why no task is replaced. `until-connected`: coderd may not have the new pre-shared key yet.
   * `no-guard`: nothing in these tasks reacts to a drain request. Null: nothing prevents it.
   */
  readonly held: 'until-connected' | 'no-guard' | null;
};

/** Why the readings of a pool cannot be trusted fully. Any doubt holds scale-in. */
export type Doubt =
  | ReadingDoubt
  | 'organization-unknown'
  | 'daemons-empty-while-leased'
  | 'jobs-empty-while-busy'
  | 'worker-unknown'
  | 'daemons-share-task'
  | 'clocks-differ'
  | 'server-too-old'
  | 'tasks-fewer-than-counted'
  | 'count-contested'
  | 'override-malformed'
  /** Set by a person. It can come with other doubts. */
  | 'scale-in-paused';

/** The lists without which a pool cannot be managed. */
export const READING_NAMES = [
  'jobs',
  'daemons',
  'previous-jobs',
  'services',
  'tasks',
  'protections',
] as const;
export type ReadingName = (typeof READING_NAMES)[number];
type ReadingDoubt = `${ReadingName}-${Exclude<ReadingStatus, 'ok'>}`;

export type Floor = {
  readonly count: number;
  readonly from: 'min' | 'warm' | 'schedule' | 'wake' | 'stock' | 'pin' | 'override' | 'when-blind';
};

/**
 * The number of a pool's daemons (and of tasks without a daemon yet) in each state of
 * docs/internals/architecture.md, "The lease".
 */
export type DaemonCounts = {
  readonly busy: number;
  readonly idle: number;
  /** Desired tasks whose daemon has not been seen yet. */
  readonly starting: number;
  readonly leaving: number;
  readonly left: number;
  /** Tasks that run without a lease although their pool expects one. */
  readonly unguarded: number;
  /**
   * Tasks of the last 10 minutes that stopped before their daemon registered. Also tasks that ECS
   * has not begun to run for 10 minutes, and tasks that ECS cannot place.
   */
  readonly failing: number;
};

export type OverrideKind = 'pause' | 'pause-scale-in' | 'pin' | 'floor';

/** A temporary change by a person, without a deployment (docs/adr/0016). */
export type Override = OverrideNote & {
  readonly kind: OverrideKind;
  /** Tasks. Only `pin` and `floor` have a count. */
  readonly count?: number;
};

/** When an override ends, who set it, and why. */
type OverrideNote = { readonly until: IsoTime; readonly by: string; readonly why: string };

/** A tag of an override that cannot be parsed. */
export type MalformedOverride = {
  readonly tag: string;
  /** The value of the tag; empty if the tag is missing. */
  readonly seen: string;
  readonly problem: 'unknown-tag' | 'unknown-value' | 'no-end' | 'unreadable-end';
};

export type PoolPlan = {
  readonly name: PoolName;
  readonly scaleIn: ScaleIn;
  readonly retiring: boolean;
  /** The overrides that are in force. */
  readonly overrides: readonly Override[];
  /** Null: no service with this pool's tag was seen. */
  readonly service: ServiceArn | null;
  /** The desired count in tasks; null without a service. */
  readonly desired: { readonly from: number | null; readonly to: number | null };
  readonly daemons: DaemonCounts;
  /** The starting tasks that ECS has not created yet. */
  readonly notCreated: number;
  /** Jobs assigned to this pool, including jobs that wait. */
  readonly pending: number;
  /** Transitions that are due soon and need a daemon of this pool now. */
  readonly due: number;
  readonly startTime: StartTime;
  readonly floor: Floor;
  readonly why: readonly Reason[];
};

export type Action =
  | {
      readonly kind: 'set-desired';
      readonly pool: PoolName;
      readonly service: ServiceArn;
      /** Tasks. */
      readonly from: number;
      readonly to: number;
      readonly why: Reason['code'];
      /**
       * Rung `confirm`: the only tasks that ECS may choose to stop. `apply` acts on it only if a
       * second look plans the same.
       */
      readonly stops?: readonly TaskArn[] | undefined;
    }
  | {
      readonly kind: 'ask-to-leave';
      readonly pool: PoolName;
      readonly task: TaskArn;
      readonly why: 'idle-long-enough' | Replacing;
    }
  /**
   * For tasks without a guard (rungs `confirm` and `never`): keeps ECS from stopping the task for
   * half an hour.
   */
  | {
      readonly kind: 'protect';
      readonly pool: PoolName;
      readonly task: TaskArn;
      readonly why: 'may-hold-a-job' | 'is-to-stay';
    };

/**
 * Which daemon will run a job: a free, a starting, a new or a busy one. `when-there-is-room`: a new
 * one, as soon as the limits allow. `by-doubtful`: a daemon that the autoscaler does not own and
 * coderd lists as idle, but that may have left.
 */
export type Served =
  | 'by-free'
  | 'by-starting'
  | 'by-launch'
  | 'when-there-is-room'
  | 'by-busy'
  | 'by-doubtful';

export type AssignmentRow = {
  /** Name. */
  readonly organization: string;
  readonly tags: Tags;
  readonly for: Audience;
  readonly jobs: number;
  /** Null: a daemon that the autoscaler does not own. */
  readonly pool: PoolName | null;
  readonly served: Served;
};

export type UnservedRow = {
  readonly organization: string;
  readonly tags: Tags;
  readonly jobs: number;
  readonly oldest: IsoTime;
  /** When coderd fails the oldest of these jobs; null if coderd lets them wait. */
  readonly failsAt: IsoTime | null;
  /** The distinct types of the jobs: `workspace_build`, `template_version_import`, … */
  readonly types: readonly string[];
  /**
   * `scope-is-user`: only daemons with the token of this user can run the jobs, and no pool has
   * this scope and owner. Daemons with a key have the scope of the organization.
   */
  readonly why:
    | 'no-pool-has-these-tags'
    | 'no-pool-in-this-organization'
    | 'pool-is-retiring'
    | 'scope-is-user';
  /** The pool that differs least from the tags of the jobs. */
  readonly closest: {
    readonly pool: PoolName;
    /** Tags of the job that the pool lacks, or has with another value. */
    readonly missing: Tags;
    /** The pool's values of those tags, as far as it has them. */
    readonly has: Tags;
    /** Tags of the pool that the job does not have. */
    readonly surplus: Tags;
  } | null;
};

/** Transitions that coderd will make by itself within the hour, or that are overdue. */
export type ForecastRow = Transitions & {
  /** Name. */
  readonly organization: string;
  /** The tags of the template's active version. */
  readonly tags: Tags;
  /**
   * The pool that is awake for these transitions. Null: a daemon outside the autoscaler opens the
   * gate, it is too early, or the pools that fit are paused or pinned.
   */
  readonly pool: PoolName | null;
};

/**
 * The lists that the forecast reads. A problem with one of them only keeps the last daemon of a
 * pool.
 */
export type ForecastReadingName = 'workspaces' | 'templates';

/**
 * Why a task ended while it ran a build. `memory`: its container ran out of memory. `exited`: its
 * process ended unasked. `scaling`: ECS stopped it for a scale-in or a deployment.
 */
export type DeathCause =
  | 'spot'
  | 'host'
  | 'maintenance'
  | 'memory'
  | 'by-hand'
  | 'exited'
  | 'scaling'
  | 'unknown';

/** A workspace build that died with its task: coderd never got its result, nor its new state. */
export type DeadBuild = {
  readonly job: JobId;
  /** The name of the workspace; null: unknown, as is each field below that is null. */
  readonly workspace: string | null;
  readonly workspaceId: string | null;
  /** The user name of the owner. */
  readonly owner: string | null;
  /** `start`, `stop` or `delete`. */
  readonly transition: string | null;
  /** The name of the template, or its id. */
  readonly template: string | null;
  /** By coderd's clock. */
  readonly startedAt: IsoTime;
  /** When its task was STOPPED, by AWS's clock. */
  readonly stoppedAt: IsoTime;
  /** The task id: the last part of its ARN. */
  readonly task: string;
  readonly cause: DeathCause;
  /** ECS's own words. */
  readonly reason: string;
};

export type Finding =
  | {
      readonly code: `${ForecastReadingName}-${Exclude<ReadingStatus, 'ok'>}`;
      readonly organization: string;
      readonly error?: string | undefined;
      /** The time of the older reading that is used instead. */
      readonly takenAt?: IsoTime | undefined;
    }
  | { readonly code: 'workspaces-empty'; readonly organization: string; readonly jobs: number }
  | (Transitions & {
      readonly code: 'transitions-without-pool' | 'transitions-late';
      readonly organization: string;
      readonly tags: Tags;
    })
  /** Transitions that are due and that coderd did not make although it saw a daemon. */
  | (Transitions & {
      readonly code: 'transitions-refused';
      readonly organization: string;
      readonly tags: Tags;
      /** The first few, as `owner/workspace`. */
      readonly workspaces: readonly string[];
      /** How many of them belong to an owner whose status coderd does not show. */
      readonly ownersUnknown: number;
      /** When a pool is woken for the next of them. Null: no pool wakes for them. */
      readonly nextTryAt: IsoTime | null;
    })
  | (Transitions & {
      readonly code: 'transitions-held';
      readonly organization: string;
      readonly tags: Tags;
      /**
       * All pools that could be woken for the transitions, in order of name, each with its
       * override.
       */
      readonly pools: readonly { readonly name: PoolName; readonly override: Override }[];
    })
  | {
      readonly code: ReadingDoubt;
      readonly organization?: string | undefined;
      readonly error?: string | undefined;
    }
  | { readonly code: 'version-unknown' }
  | { readonly code: 'token-expires'; readonly at: IsoTime }
  | { readonly code: 'license-in-grace' }
  | { readonly code: 'license-missing' }
  | (MalformedOverride & { readonly code: 'override-malformed'; readonly pool: PoolName })
  | { readonly code: 'server-too-old'; readonly version: string; readonly oldest: string }
  | {
      readonly code: 'image-newer-than-server';
      readonly pool: PoolName;
      readonly image: string;
      readonly version: string;
    }
  | {
      readonly code: 'daemons-share-task';
      readonly pool: PoolName;
      /** The number of tasks that more than one daemon may belong to. */
      readonly tasks: number;
      /** The names of these daemons. */
      readonly daemons: readonly string[];
    }
  | {
      readonly code: 'clocks-differ';
      readonly where: 'jobs' | 'daemons' | 'tasks' | 'readings' | 'coderd';
      readonly organization?: string | undefined;
      /** For `coderd`: seconds ahead of AWS's clock; negative: behind it. */
      readonly seconds: number;
    }
  | {
      readonly code: 'starts-failing';
      readonly pool: PoolName;
      readonly tasks: number;
      readonly reason: string;
    }
  | {
      readonly code: 'placement-failing';
      readonly pool: PoolName;
      readonly tasks: number;
      readonly since: IsoTime;
      readonly reason: string;
    }
  /** Builds that died with tasks that ECS still lists: for about an hour. */
  | {
      readonly code: 'build-died-with-task';
      readonly pool: PoolName;
      readonly organization: string;
      /** The latest death first. */
      readonly builds: readonly DeadBuild[];
    }
  /** Tasks that ended unasked, and coderd lists no daemon of theirs. */
  | { readonly code: 'build-of-task-unknown'; readonly pool: PoolName; readonly tasks: readonly TaskArn[] }
  | { readonly code: 'daemons-without-task'; readonly pool: PoolName; readonly daemons: readonly string[] }
  | {
      readonly code: 'jobs-waiting';
      readonly organization: string;
      readonly tags: Tags;
      readonly jobs: number;
      readonly oldest: IsoTime;
      readonly pool: PoolName | null;
    }
  | {
      readonly code: 'jobs-about-to-fail';
      readonly organization: string;
      readonly tags: Tags;
      readonly jobs: number;
      readonly failsAt: IsoTime;
    }
  /** A limit holds back launches, so that coderd will fail prebuilds before a daemon takes them. */
  | {
      readonly code: 'prebuilds-waiting';
      readonly organization: string;
      readonly tags: Tags;
      /** The pending ones. */
      readonly jobs: number;
      /** How many of them coderd will fail. */
      readonly late: number;
      /** When it fails the first of them. */
      readonly failsAt: IsoTime;
      readonly pool: PoolName;
      /** What holds back launches, as the pool's reasons tell it. */
      readonly limits: readonly Reason['code'][];
    }
  /** A preset whose newest prebuilds failed. coderd makes more of them, for now. */
  | (FailingPreset & {
      readonly code: 'prebuilds-failing';
      /** After so many failures in a row coderd makes no more. Null: it never stops. */
      readonly limit: number | null;
    })
  /** A preset of which coderd makes no more prebuilds. */
  | (FailingPreset & { readonly code: 'prebuilds-stopped'; readonly limit: number })
  | { readonly code: 'organization-unknown'; readonly organization: string }
  | { readonly code: 'daemons-empty-while-leased'; readonly organization: string; readonly tasks: number }
  | { readonly code: 'jobs-empty-while-busy'; readonly organization: string; readonly daemons: number }
  | {
      readonly code: 'worker-unknown';
      readonly organization: string;
      readonly jobs: number;
      /** The first of them. */
      readonly jobIds: readonly JobId[];
      /** The pools whose scale-in is on hold because of it. */
      readonly pools: readonly PoolName[];
    }
  | {
      readonly code: 'tasks-fewer-than-counted';
      readonly pool: PoolName;
      readonly counted: number;
      readonly seen: number;
    }
  | { readonly code: 'service-missing'; readonly pool: PoolName }
  /** A pool was renamed or removed while its service still exists. */
  | {
      readonly code: 'service-without-pool';
      readonly pool: string;
      readonly service: string;
      /** Whether its tasks drain: only if the service surely belongs to this deployment. */
      readonly drains: boolean;
    }
  /** A desired count that this process has neither seen nor set. Reported once for each change. */
  | {
      readonly code: 'count-changed-by-others';
      readonly pool: PoolName;
      readonly from: number;
      readonly to: number;
    }
  /** Others have changed a desired count at least three times within ten minutes, in the last hour. */
  | { readonly code: 'count-contested'; readonly pool: PoolName; readonly changes: number }
  | { readonly code: 'pools-alike'; readonly organization: string; readonly pools: readonly PoolName[] }
  | { readonly code: 'service-ambiguous'; readonly pool: PoolName; readonly services: readonly string[] }
  | { readonly code: 'daemon-tags-differ'; readonly pool: PoolName; readonly daemons: readonly string[] }
  /** Daemons that claim a task of the pool with a name or with tags that its daemon does not have. */
  | {
      readonly code: 'possible-intruder';
      readonly pool: PoolName;
      /** `key`: the name of its key; null: coderd does not tell. */
      readonly daemons: readonly { readonly name: string; readonly key: string | null }[];
    }
  | { readonly code: TasksFinding; readonly pool: PoolName; readonly tasks: readonly TaskArn[] }
  /** Without this list a changed secret replaces no task. */
  | {
      readonly code: `secrets-${Exclude<ReadingStatus, 'ok' | 'truncated'>}`;
      readonly error?: string | undefined;
      readonly takenAt?: IsoTime | undefined;
    }
  /** The pre-shared key has changed, and no daemon that has the new one is connected. */
  | (ChangedSecret & { readonly code: 'psk-changed'; readonly pool: PoolName })
  /** Tasks that have kept an earlier value of a secret for an hour. */
  | (ChangedSecret & {
      readonly code: 'tasks-with-old-secret';
      readonly pool: PoolName;
      readonly tasks: readonly TaskArn[];
      readonly of: number;
    });

/** Tasks of a pool that need a person. */
export type TasksFinding =
  | 'tasks-unguarded'
  | 'tasks-vacant'
  | 'tasks-without-daemon'
  /** They have drained for half an hour without a daemon: their guard no longer reacts. */
  | 'tasks-draining-without-daemon'
  /** They have drained for six hours. */
  | 'tasks-draining-for-long';

/**
 * A preset of a template's active version, and its newest prebuilt workspaces, which have failed.
 */
export type FailingPreset = {
  readonly organization: string;
  /** The name of the template, or its id if the name is unknown. */
  readonly template: string;
  /** Its name, or its id if the name is unknown. */
  readonly preset: string;
  /** How many failed in a row, up to now. */
  readonly failed: number;
  /** How many of these coderd failed because no daemon took their jobs for half an hour. */
  readonly reaped: number;
  /** The name of the newest one, and when its build was submitted. */
  readonly workspace: string;
  readonly newest: IsoTime;
};

export type Plan = {
  readonly version: 1;
  readonly takenAt: IsoTime;
  readonly pools: readonly PoolPlan[];
  /** In the order in which they are to be applied. */
  readonly actions: readonly Action[];
  readonly assignment: readonly AssignmentRow[];
  readonly unserved: readonly UnservedRow[];
  /**
   * Milliseconds until the next look: a few seconds while something changes, else until the next
   * invocation.
   */
  readonly lookAgainAfterMs: number;
  readonly forecast: readonly ForecastRow[];
  readonly findings: readonly Finding[];
};
