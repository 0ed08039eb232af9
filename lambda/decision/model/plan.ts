/**
 * The plan: what to do about a snapshot, and why. It is data; reasons are codes in closed unions, and
 * `lambda/explain/text.ts` makes sentences of them.
 */
import type { JobId, PoolName, ServiceArn, TaskArn } from './brands.ts';
import type { ScaleIn } from './config.ts';
import type { ReadingStatus } from './snapshot.ts';
import type { Tags } from './tags.ts';

/** Whose jobs wait, by what their waiting costs. */
export type Audience = 'people' | 'autostarts' | 'stops' | 'prebuilds';

/** RFC 3339, UTC, milliseconds: the plan is a JSON document as it is. */
export type IsoTime = string;

/** Why a task is asked to leave although it is not spare: another comes in its place, unless its pool is retiring. What is of no use goes first. */
export const REPLACING = ['retiring', 'no-daemon', 'wrong-key', 'old-revision'] as const;
export type Replacing = (typeof REPLACING)[number];

/** What coderd does to workspaces by itself; `autostop` includes the clean-up of failed builds. */
export type TransitionKind = 'autostart' | 'autostop' | 'dormancy' | 'deletion';

/** How many of a kind, and when the earliest is due. */
export type Transitions = {
  readonly kind: TransitionKind;
  readonly transitions: number;
  readonly at: IsoTime;
};

/** How long a pool's tasks take until their daemons are registered. */
export type StartTime = {
  /** `setting`: until three starts are in view. */
  readonly from: 'setting' | 'learned';
  readonly samples: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
};

/** Why a pool's numbers are what they are. Every pool has at least one; doing nothing has one too. */
export type Reason =
  | { readonly code: 'pending-jobs'; readonly jobs: number }
  | { readonly code: 'served-by-free'; readonly jobs: number }
  | { readonly code: 'served-by-starting'; readonly jobs: number }
  | {
      readonly code: 'floor';
      readonly from: Exclude<Floor['from'], 'wake' | 'stock'>;
      readonly count: number;
    }
  /** Free daemons for builds that nobody can foresee, and why there is not one more (stock.ts). */
  | {
      readonly code: 'stock';
      readonly daemons: number;
      /** Such builds. */
      readonly perMinute: number;
      /** From when a daemon is taken until another is ready. */
      readonly replaceSeconds: number;
      /** One more. Dollars. */
      readonly next: {
        readonly savesPerHour: number;
        readonly costsPerHour: number;
        /** Null: it would not be used. */
        readonly usedEveryHours: number | null;
      };
    }
  /** Idle daemons that are kept, since too little is known of earlier builds to drain them. */
  | { readonly code: 'holding-for-record'; readonly tasks: number }
  /** Idle daemons that drain, since a limit over all pools keeps a job of another pool waiting. */
  | { readonly code: 'making-room'; readonly tasks: number }
  /** One daemon opens coderd's gate for what is due, or is about to be. */
  | { readonly code: 'awake-for'; readonly for: readonly Transitions[] }
  /** More may be due than is known: the last daemon stays. */
  | { readonly code: 'holding-for-forecast' }
  /** What coderd would do if it saw a daemon of this pool, which people have paused or pinned. */
  | { readonly code: 'not-woken-for'; readonly for: readonly Transitions[] }
  /** Daemons that are to be ready when coderd inserts the jobs. */
  | { readonly code: 'prewarm'; readonly daemons: number; readonly due: number }
  | { readonly code: 'capped-at-prewarm-max'; readonly due: number; readonly max: number }
  /** Clocks differ: floors and what is due launch nothing. */
  | { readonly code: 'launching-for-jobs-only'; readonly wanted: number }
  /** More is wanted than a pin allows. */
  | ({ readonly code: 'pinned'; readonly wanted: number; readonly count: number } & Said)
  /** So many tasks more than a pin allows: who is idle for long enough leaves, and builds are not cut short. */
  | { readonly code: 'above-pin'; readonly tasks: number }
  /** Nothing is done but to protect tasks that have no guard. */
  | ({ readonly code: 'paused' } & Said)
  | ({ readonly code: 'scale-in-paused' } & Said)
  /** Of a retiring pool: tasks that can't be asked, or have been. */
  | {
      readonly code: 'retiring-waits';
      readonly starting: number;
      readonly leaving: number;
      readonly unguarded: number;
    }
  /** Of a retiring pool no task is left. */
  | { readonly code: 'retired' }
  | { readonly code: 'capped-at-max'; readonly wanted: number; readonly max: number }
  | {
      readonly code: 'capped-at-max-tasks';
      readonly wanted: number;
      readonly granted: number;
      readonly maxTasks: number;
      /** What people wait for it, in minutes an hour. */
      readonly waitMinutesPerHour: number;
    }
  | {
      readonly code: 'capped-at-dollars-per-hour';
      readonly wanted: number;
      readonly granted: number;
      readonly dollarsPerHour: number;
      readonly waitMinutesPerHour: number;
    }
  | { readonly code: 'capped-at-prebuilds-max-tasks'; readonly jobs: number; readonly maxTasks: number }
  | { readonly code: 'idle-long-enough'; readonly tasks: number }
  | { readonly code: 'idle-too-briefly'; readonly tasks: number }
  /** To be replaced, and how many of them are asked now: a share at a time, what comes in their place first. */
  | { readonly code: Replacing; readonly tasks: number; readonly asked: number }
  /** Without a guard: kept from being stopped by ECS, since they may hold a job or are to stay. */
  | { readonly code: 'protecting'; readonly tasks: number }
  /** Rung `confirm`: to be stopped once all others are protected and a second look agrees. */
  | { readonly code: 'stopping-after-confirmation'; readonly tasks: number; readonly unprotected: number }
  /** Rung `confirm`: idle for long enough, but the protection of their last build still runs. */
  | { readonly code: 'holding-for-protection'; readonly tasks: number }
  /** Rung `never`. */
  | { readonly code: 'never-scaled-in'; readonly tasks: number }
  | { readonly code: 'tasks-left'; readonly tasks: number }
  | { readonly code: 'waiting-for-vacant'; readonly tasks: number }
  | {
      readonly code: 'starts-failing';
      /** Since a daemon last registered. */
      readonly failures: number;
      readonly wanted: number;
      /** Existing tasks and one probe at the most. */
      readonly granted: number;
      /** ECS's own words. */
      readonly reason: string;
    }
  | {
      /** ECS cannot place tasks: a quota is used up, or there is no capacity. */
      readonly code: 'placement-failing';
      /** Desired, and without a task record. */
      readonly tasks: number;
      readonly wanted: number;
      /** Existing tasks and one probe at the most. */
      readonly granted: number;
      readonly since: IsoTime;
      /** ECS's own words. */
      readonly reason: string;
    }
  | { readonly code: 'count-below-tasks'; readonly desired: number; readonly tasks: number }
  | { readonly code: 'holding-for-starting'; readonly tasks: number }
  /** Rung `confirm`: a task with the lease of a guard of before, or of a person, drains. */
  | { readonly code: 'holding-for-leaving'; readonly tasks: number }
  | { readonly code: 'holding-for-unguarded'; readonly tasks: number }
  | { readonly code: 'holding-for-deployment' }
  | { readonly code: 'holding-for-doubt'; readonly doubts: readonly Doubt[] }
  | { readonly code: 'server-too-old'; readonly version: string; readonly oldest: string }
  | { readonly code: 'no-service' }
  | { readonly code: 'nothing-to-do' };

/** What makes the view of a pool less than full, so that it isn't scaled in. */
export type Doubt =
  | ReadingDoubt
  | 'organization-unknown'
  | 'daemons-empty-while-leased'
  | 'jobs-empty-while-busy'
  | 'worker-unknown'
  | 'daemons-share-name'
  | 'clocks-differ'
  | 'server-too-old'
  | 'tasks-fewer-than-counted'
  | 'override-malformed'
  /** By a person, with or without all else. */
  | 'scale-in-paused';

/** The lists of a snapshot. */
export type ReadingName = 'jobs' | 'daemons' | 'previous-jobs' | 'services' | 'tasks' | 'protections';
type ReadingDoubt = `${ReadingName}-${Exclude<ReadingStatus, 'ok'>}`;

export type Floor = {
  readonly count: number;
  readonly from: 'min' | 'warm' | 'schedule' | 'wake' | 'stock' | 'pin' | 'override' | 'when-blind';
};

/** How many daemons (and tasks without one yet) a pool has in each state of docs/architecture.md, "The lease". */
export type DaemonCounts = {
  readonly busy: number;
  readonly idle: number;
  /** Desired, but no daemon of its has been seen yet. */
  readonly starting: number;
  readonly leaving: number;
  readonly left: number;
  /** Running without a lease where one is expected. */
  readonly unguarded: number;
  /**
   * Tasks that stopped before their daemon registered, in the last 10 minutes, those that ECS has not begun to run for as long, and those
   * that ECS cannot place.
   */
  readonly failing: number;
};

export type OverrideKind = 'pause' | 'pause-scale-in' | 'pin' | 'floor';

/** What a person has changed for a time, without a deployment (docs/adr/0016). */
export type Override = Said & {
  readonly kind: OverrideKind;
  /** Tasks; of `pin` and `floor`. */
  readonly count?: number;
};

/** Who said it, and why. */
type Said = { readonly until: IsoTime; readonly by: string; readonly why: string };

/** Tags of an override that can't be read. */
export type MalformedOverride = {
  readonly tag: string;
  /** Its value; empty: there is no such tag. */
  readonly seen: string;
  readonly problem: 'unknown-tag' | 'unknown-value' | 'no-end' | 'unreadable-end';
};

export type PoolPlan = {
  readonly name: PoolName;
  readonly scaleIn: ScaleIn;
  readonly retiring: boolean;
  /** Those that are in force. */
  readonly overrides: readonly Override[];
  /** Absent: no service with this pool's tag was seen. */
  readonly service: ServiceArn | null;
  /** Tasks; null without a service. */
  readonly desired: { readonly from: number | null; readonly to: number | null };
  readonly daemons: DaemonCounts;
  /** Jobs assigned to this pool, waiting ones included. */
  readonly pending: number;
  /** What coderd is about to do, for which this pool has to be there now. */
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
      /** Rung `confirm`: the only tasks that ECS may choose to stop. Carried out only if a second look plans the same. */
      readonly stops?: readonly TaskArn[] | undefined;
    }
  | {
      readonly kind: 'ask-to-leave';
      readonly pool: PoolName;
      readonly task: TaskArn;
      readonly why: 'idle-long-enough' | Replacing;
    }
  /** For tasks without a guard, of rungs `confirm` and `never`: keeps ECS from stopping it for half an hour. */
  | {
      readonly kind: 'protect';
      readonly pool: PoolName;
      readonly task: TaskArn;
      readonly why: 'may-hold-a-job' | 'is-to-stay';
    };

/** Who will run a job: a daemon that is free, one that starts, one to be launched, or nobody before there is room. */
export type Served = 'by-free' | 'by-starting' | 'by-launch' | 'when-there-is-room' | 'by-busy';

export type AssignmentRow = {
  /** Name. */
  readonly organization: string;
  readonly tags: Tags;
  readonly for: Audience;
  readonly jobs: number;
  /** Absent: a daemon that the autoscaler does not own. */
  readonly pool: PoolName | null;
  readonly served: Served;
};

export type UnservedRow = {
  readonly organization: string;
  readonly tags: Tags;
  readonly jobs: number;
  readonly oldest: IsoTime;
  /** When coderd fails the oldest of them; null where it lets them wait. */
  readonly failsAt: IsoTime | null;
  /** Of the jobs, each once: `workspace_build`, `template_version_import`, … */
  readonly types: readonly string[];
  /** `scope-is-user`: only daemons that this user starts can run them; a key's daemons have the scope of the organization. */
  readonly why:
    | 'no-pool-has-these-tags'
    | 'no-pool-in-this-organization'
    | 'pool-is-retiring'
    | 'scope-is-user';
  /** The pool that lacks least, and the tags that it lacks or has otherwise. */
  readonly closest: {
    readonly pool: PoolName;
    /** The job's tags that the pool lacks or has otherwise. */
    readonly missing: Tags;
    /** What the pool has instead, where it has the tag. */
    readonly has: Tags;
    /** The pool's tags that the job does not have. */
    readonly surplus: Tags;
  } | null;
};

/** What coderd will do by itself within the hour, or should have done. */
export type ForecastRow = Transitions & {
  /** Name. */
  readonly organization: string;
  /** Of the template's active version. */
  readonly tags: Tags;
  /** The pool that is awake for it; absent: others' daemons are, it is not time yet, or those that could be are paused or pinned. */
  readonly pool: PoolName | null;
};

/** The lists of the forecast: what is wrong with them holds nothing but a pool's last daemon. */
export type ForecastReadingName = 'workspaces' | 'templates';

export type Finding =
  | {
      readonly code: `${ForecastReadingName}-${Exclude<ReadingStatus, 'ok'>}`;
      readonly organization: string;
      readonly error?: string | undefined;
      /** Of what is used in its place. */
      readonly takenAt?: IsoTime | undefined;
    }
  | { readonly code: 'workspaces-empty'; readonly organization: string; readonly jobs: number }
  | (Transitions & {
      readonly code: 'transitions-without-pool';
      readonly organization: string;
      readonly tags: Tags;
    })
  | (Transitions & { readonly code: 'transitions-late'; readonly organization: string; readonly tags: Tags })
  /** Due, and coderd did not make them although it saw a daemon. */
  | (Transitions & {
      readonly code: 'transitions-refused';
      readonly organization: string;
      readonly tags: Tags;
      /** The first few, as `owner/workspace`. */
      readonly workspaces: readonly string[];
      /** How many of them have an owner of whom coderd does not tell the status. */
      readonly ownersUnknown: number;
      /** When a pool is woken for the next of them. */
      readonly nextTryAt: IsoTime;
    })
  | (Transitions & {
      readonly code: 'transitions-held';
      readonly organization: string;
      readonly tags: Tags;
      /** All that could be woken for it, in order of name, and what a person wants of each. */
      readonly pools: readonly { readonly name: PoolName; readonly override: Override }[];
    })
  | {
      readonly code: ReadingDoubt;
      readonly organization?: string | undefined;
      readonly error?: string | undefined;
    }
  | { readonly code: 'version-unknown' }
  | { readonly code: 'token-expires'; readonly at: IsoTime }
  | (MalformedOverride & { readonly code: 'override-malformed'; readonly pool: PoolName })
  | { readonly code: 'server-too-old'; readonly version: string; readonly oldest: string }
  | {
      readonly code: 'image-newer-than-server';
      readonly pool: PoolName;
      readonly image: string;
      readonly version: string;
    }
  | { readonly code: 'daemons-share-name'; readonly organization: string; readonly names: readonly string[] }
  | {
      readonly code: 'clocks-differ';
      readonly where: 'jobs' | 'daemons' | 'tasks' | 'readings' | 'coderd';
      readonly organization?: string | undefined;
      /** Of `coderd`: ahead of AWS's clock; negative: behind it. */
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
  | { readonly code: 'organization-unknown'; readonly organization: string }
  | { readonly code: 'daemons-empty-while-leased'; readonly organization: string; readonly tasks: number }
  | { readonly code: 'jobs-empty-while-busy'; readonly organization: string; readonly daemons: number }
  | {
      readonly code: 'worker-unknown';
      readonly organization: string;
      readonly jobs: number;
      /** The first of them. */
      readonly jobIds: readonly JobId[];
      /** Those that are not scaled in for it. */
      readonly pools: readonly PoolName[];
    }
  | {
      readonly code: 'tasks-fewer-than-counted';
      readonly pool: PoolName;
      readonly counted: number;
      readonly seen: number;
    }
  | { readonly code: 'service-missing'; readonly pool: PoolName }
  /** A pool that was renamed or removed before its service was. */
  | {
      readonly code: 'service-without-pool';
      readonly pool: string;
      readonly service: string;
      /** Its tasks are asked to leave: it is surely this deployment's. */
      readonly drains: boolean;
    }
  /** A desired count that this process has neither seen nor set. Told once for each change. */
  | {
      readonly code: 'count-changed-by-others';
      readonly pool: PoolName;
      readonly from: number;
      readonly to: number;
    }
  | { readonly code: 'pools-alike'; readonly organization: string; readonly pools: readonly PoolName[] }
  | { readonly code: 'service-ambiguous'; readonly pool: PoolName; readonly services: readonly string[] }
  | { readonly code: 'daemon-tags-differ'; readonly pool: PoolName; readonly daemons: readonly string[] }
  | { readonly code: 'tasks-unguarded'; readonly pool: PoolName; readonly tasks: readonly TaskArn[] }
  | { readonly code: 'tasks-vacant'; readonly pool: PoolName; readonly tasks: readonly TaskArn[] }
  | { readonly code: 'tasks-without-daemon'; readonly pool: PoolName; readonly tasks: readonly TaskArn[] }
  /** For half an hour: its guard no longer reacts. */
  | {
      readonly code: 'tasks-draining-without-daemon';
      readonly pool: PoolName;
      readonly tasks: readonly TaskArn[];
    }
  /** For six hours. */
  | { readonly code: 'tasks-draining-for-long'; readonly pool: PoolName; readonly tasks: readonly TaskArn[] };

export type Plan = {
  readonly version: 1;
  readonly takenAt: IsoTime;
  readonly pools: readonly PoolPlan[];
  /** In the order in which they are to be applied. */
  readonly actions: readonly Action[];
  readonly assignment: readonly AssignmentRow[];
  readonly unserved: readonly UnservedRow[];
  /** When to look again: soon while it matters, else with the next invocation. */
  readonly lookAgainAfterMs: number;
  readonly forecast: readonly ForecastRow[];
  readonly findings: readonly Finding[];
};
