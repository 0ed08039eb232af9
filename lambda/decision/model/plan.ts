/** The plan: what one look decided, and why, as plain data. */
import type { DaemonId, JobId, PoolName, ServiceArn, TaskArn } from './brands.ts';
import type { Capacity } from './config.ts';
import type { SecretKind } from './secrets.ts';
import type { ReadingStatus } from './snapshot.ts';
import type { Tags } from './tags.ts';

/** The kinds of demand that have their own price of waiting. */
export type Audience = 'people' | 'autostarts' | 'stops' | 'prebuilds';

/** RFC 3339, UTC, with milliseconds. The plan is a JSON document without further conversion. */
export type IsoTime = string;

/** Why a task gets a drain request though it is not spare. Useless tasks first. */
export const REPLACING = ['retiring', 'no-daemon', 'wrong-key', 'old-revision', 'old-secret'] as const;
export type Replacing = (typeof REPLACING)[number];

/** What coderd does by itself. `autostop` includes the clean-up of failed builds. */
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

/** The objects of a table of fields, each with its code. */
type Coded<Fields> = {
  [Code in keyof Fields]: Readonly<{ code: Code } & Fields[Code]>;
}[keyof Fields];

/** Why a pool has its numbers: at least one reason, also if nothing is to do. */
export type Reason = Coded<ReasonFields>;

type ReasonFields = Record<
  'pending-jobs' | 'served-by-free' | 'served-by-starting' | 'served-by-busy',
  { jobs: number }
> &
  Record<TasksReason, { tasks: number }> &
  /** `asked`: how many of the tasks to replace get a drain request in this look. */
  Record<Exclude<Replacing, 'old-secret'>, { tasks: number; asked: number }> &
  Record<'paused' | 'scale-in-paused', OverrideNote> & {
    /** `until`: when this stack launches for the first of these jobs, if it still waits. */
    'left-to-peers': { jobs: number; peers: readonly string[]; until: IsoTime };
    floor: { from: Exclude<Floor['from'], 'wake' | 'stock'>; count: number };
    /** Free daemons that are kept for unforeseen builds, by which rule, and why by this one. */
    stock: {
      /** Daemons of this pool. */
      daemons: number;
      /** The rule, for all pools that can run these builds. Further idle daemons are spare ones. */
      free: number;
      spareMinutes: number;
      /** Minutes after the last build; null: always. */
      afterBuildMinutes: number | null;
      /** Whether busy daemons, and jobs that wait for one, count among those that are kept. */
      countsBusy: boolean;
      /** Daemons of this pool among them that stay only as spare ones, beyond those that the rule keeps. */
      spare: number;
      /** The idle and busy daemons that the rule would have by now; null: no more than its own number keeps. */
      wouldHave: number | null;
      /** Null: the rule has not been learned from builds. */
      learned: LearnedRule | null;
    };
    /** One daemon opens coderd's gate for transitions that are due now or soon. */
    'awake-for': { for: readonly Transitions[] };
    /** The forecast is incomplete, so more transitions may be due. The last daemon stays. */
    'holding-for-forecast': object;
    /** Transitions that coderd would make if this pool, which is paused or pinned, had a daemon. */
    'not-woken-for': { for: readonly Transitions[] };
    /** Daemons that must be ready when coderd inserts the jobs. */
    prewarm: { daemons: number; due: number };
    'capped-at-prewarm-max': { due: number; max: number };
    /**
     * One task an hour: while heartbeats look old, for a floor or a due transition; while coderd lists no daemon of
     * an organization whose tasks hold leases, for each key.
     */
    'launching-to-be-seen': object;
    /** coderd lists no daemon although so many tasks hold leases: one more launches, to see whether its daemon comes. */
    'launching-beside-unseen': { tasks: number };
    /** Clocks or heartbeats are in doubt, or others change the count: floors and due transitions launch no task. */
    'launching-for-jobs-only': { wanted: number };
    /** The pool wants more tasks than its pin allows. */
    pinned: { wanted: number; count: number } & OverrideNote;
    /** A retiring pool: tasks that cannot get a drain request, or have one already. */
    'retiring-waits': { starting: number; leaving: number; unguarded: number };
    /** A retiring pool that has no task left. */
    retired: object;
    'capped-at-max': { wanted: number; max: number };
    /** Of a pool with two kinds of capacity. The price contains what interruptions cost. */
    'on-demand-instead': {
      because: 'placement-failing' | 'starts-failing' | 'interrupted' | 'no-service';
      interruptions: number;
      spotDollarsPerHour: number;
    };
    'capped-at-max-tasks': OverallLimit & { maxTasks: number };
    'capped-at-dollars-per-hour': OverallLimit & { dollarsPerHour: number };
    'capped-at-prebuilds-max-tasks': { jobs: number; maxTasks: number };
    /** `changes`: the most counts that a look changes. */
    'left-to-next-look': { to: number; changes: number };
    'old-secret': OldSecretFields;
    /** `failures`: failed starts since a daemon last registered. `tries`: how many tasks may start at a time. */
    'starts-failing': { failures: number; tries: 'few' | 'one' | 'later' } & Probe;
    /** Pools that count against a limit over all pools although their services are unread. `from`: how many. */
    'counts-unread-pools': {
      pools: readonly {
        readonly pool: PoolName;
        readonly tasks: number;
        readonly from: 'tasks' | 'memory' | 'max';
      }[];
    };
    /** `bindTaskRole`: the first task of a deployment must get its lease before others launch. */
    'role-untried': { wanted: number; granted: number };
    /** A list is unread, so nothing tells whether starts fail: few launch until daemons register. */
    'starts-unread': { wanted: number; granted: number };
    /** A quota is used up, or there is no capacity. `tasks`: desired ones without a task record. */
    'placement-failing': { tasks: number; since: IsoTime } & Probe;
    /** Desired tasks that ECS has not tried to start since one failed. It waits longer each time. */
    'starts-throttled': { tasks: number; since: IsoTime; waitedMs: number };
    /** `to`: the new desired count, which is lower than `tasks` if `max` is. */
    'count-below-tasks': { desired: number; tasks: number; to: number };
    'holding-for-deployment': object;
    'holding-for-doubt': { doubts: readonly Doubt[] };
    'server-too-old': { version: string; oldest: string };
    /** coderd has no license for external daemons: nothing launches. */
    'license-missing': { wanted: number };
    'no-service': object;
    'nothing-to-do': object;
  };

/**
 * Reasons that hold back launches for jobs: a new reason is one, unless it stands in this list. Those of the last line
 * hold launches back too, but have a finding of their own, or last for one look.
 */
export type Limit = Without<
  Reason['code'],
  | ('pending-jobs' | 'served-by-free' | 'served-by-starting' | 'served-by-busy' | 'left-to-peers')
  | ('floor' | 'stock' | 'awake-for' | 'not-woken-for' | 'prewarm' | 'capped-at-prewarm-max')
  | ('launching-to-be-seen' | 'launching-beside-unseen' | 'launching-for-jobs-only' | 'on-demand-instead')
  | ('making-room' | 'above-pin' | 'scale-in-paused' | 'idle-long-enough' | 'idle-too-briefly' | 'protecting')
  | (Replacing | 'retiring-waits' | 'retired' | 'tasks-left' | 'includes-leaving' | 'count-below-tasks')
  | ('holding-for-starting' | 'holding-for-unguarded' | 'holding-for-record' | 'holding-for-deployment')
  | ('holding-for-forecast' | 'nothing-to-do')
  | ('holding-for-doubt' | 'server-too-old' | 'starts-unread' | 'counts-unread-pools' | 'left-to-next-look')
>;

/** As `Exclude`, of codes that exist. */
type Without<All, Some extends All> = Exclude<All, Some>;

/** Limits that a larger number of the configuration moves. */
export type MovableLimit = 'capped-at-max' | 'capped-at-max-tasks' | 'capped-at-dollars-per-hour';

/** A finding names limits in this order. */
export const IS_MOVABLE: { readonly [Code in Limit]: Code extends MovableLimit ? true : false } = {
  'capped-at-max': true,
  'capped-at-max-tasks': true,
  'capped-at-dollars-per-hour': true,
  'capped-at-prebuilds-max-tasks': false,
  pinned: false,
  paused: false,
  'role-untried': false,
  'starts-failing': false,
  'placement-failing': false,
  'starts-throttled': false,
  'waiting-for-vacant': false,
  'license-missing': false,
  'no-service': false,
};
export const LIMITS = Object.keys(IS_MOVABLE) as readonly Limit[];

export type ReasonOf<Code extends Reason['code']> = Extract<Reason, { readonly code: Code }>;

/** Reasons that say only how many tasks. */
type TasksReason =
  /** Idle daemons that drain because a limit over all pools keeps a job of another pool waiting. */
  | 'making-room'
  /** Tasks above the pin. Running builds finish; idle daemons drain after `idleTimeout`. */
  | 'above-pin'
  | 'idle-long-enough'
  | 'idle-too-briefly'
  /** Tasks without a guard that may hold a job: the autoscaler protects them. */
  | 'protecting'
  | 'tasks-left'
  /** A raised count includes tasks that are leaving or have left: ECS has not stopped them yet. */
  | 'includes-leaving'
  | 'waiting-for-vacant'
  | 'holding-for-starting'
  | 'holding-for-unguarded'
  /** Idle daemons that are kept because the record of earlier builds is too short to drain them. */
  | 'holding-for-record';

/** Why a rule of the stock was chosen, from so many builds. */
type LearnedRule = Readonly<{
  builds: number;
  hours: number;
  /** Of the rule, weighted for this half hour. */
  dollarsPerHour: Readonly<{ tasks: number; waiting: number }>;
  /** The best rules that keep the next smaller and larger numbers free. */
  others: readonly Readonly<{ free: number; dollarsPerHour: number }>[];
}>;

/** `granted`: existing tasks and one probe at the most. `reason`: ECS's own words. */
type Probe = { wanted: number; granted: number; reason: string };

/** A limit over all pools. `waitMinutesPerHour`: minutes that people wait because of it, for each hour. */
type OverallLimit = { wanted: number; granted: number; waitMinutesPerHour: number };

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
type OldSecretFields = ChangedSecret & {
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
  readonly held: 'until-connected' | null;
};
export type OldSecretReason = ReasonOf<'old-secret'>;

/** Why the readings of a pool cannot be trusted fully. Any doubt holds scale-in. */
export type Doubt =
  | ReadingDoubt
  | 'organization-unknown'
  | 'daemons-empty-while-leased'
  | 'jobs-empty-while-busy'
  | 'worker-unknown'
  | 'daemons-share-task'
  | 'heartbeats-old'
  | 'clocks-differ'
  | 'server-too-old'
  | 'license-missing'
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
  readonly from: 'min' | 'warm' | 'schedule' | 'wake' | 'stock' | 'pin' | 'override';
};

/** Tasks by state, see docs/internals/architecture.md, "The lease". */
export type DaemonCounts = {
  readonly busy: number;
  readonly idle: number;
  /** Desired tasks whose daemon has not been seen yet. */
  readonly starting: number;
  readonly leaving: number;
  readonly left: number;
  /** Tasks that run without a lease although their pool expects one. */
  readonly unguarded: number;
  /** Starts that failed in the last 10 minutes or last longer, and unplaced tasks. */
  readonly failing: number;
  /** Tasks with a lease whose daemons could not be read. Absent: none. */
  readonly unknown?: number;
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
  /** Of a pool with two kinds of capacity: its services. All fields above are of both together. */
  readonly parts?: readonly PoolPart[] | undefined;
};

export type PoolPart = Pick<PoolPlan, 'service' | 'desired' | 'why'> & { readonly capacity: Capacity };

export type Action =
  | {
      readonly kind: 'set-desired';
      readonly pool: PoolName;
      readonly service: ServiceArn;
      /** Tasks. */
      readonly from: number;
      readonly to: number;
      readonly why: Reason['code'];
    }
  | {
      readonly kind: 'ask-to-leave';
      readonly pool: PoolName;
      readonly task: TaskArn;
      readonly why: 'idle-long-enough' | Replacing;
    }
  /** Without a guard: keeps ECS from stopping the task for half an hour. */
  | {
      readonly kind: 'protect';
      readonly pool: PoolName;
      readonly task: TaskArn;
      readonly why: 'may-hold-a-job';
    };

/**
 * Which daemon will run a job: a free, a starting, a new or a busy one. `when-there-is-room`: a new
 * one, as soon as the limits allow. `by-peer`: one of another stack. `by-doubtful`: a daemon that the
 * autoscaler does not own and coderd lists as idle, but that may have left.
 */
export type Served =
  | 'by-free'
  | 'by-starting'
  | 'by-launch'
  | 'when-there-is-room'
  | 'by-busy'
  | 'by-peer'
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
  /** `scope-is-user`: only daemons with a user's token can run these, and no pool has it. */
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
  /** The pool that is awake for them. Null: others open the gate, it is early, or none may. */
  readonly pool: PoolName | null;
};

/** A problem with one of these lists only keeps the last daemon of a pool. */
export type ForecastReadingName = 'workspaces' | 'templates';

/** `memory`: out of it. `exited`: unasked. `scaling`: for a scale-in or a deployment. */
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

/** What a person should know. The same of each pool, of each organization, and of the rest. */
export type Finding = Coded<FindingFields> | Coded<UnreadFields>;

/** The codes of findings, except those about a list that cannot be read. */
export type FindingCode = keyof FindingFields;

export type FindingOf<Code extends Finding['code']> = Extract<Finding, { readonly code: Code }>;

/** The key under which a process remembers since when looks see a mismatch (`Remembered.mismatches`). */
export const mismatchKey = (code: Finding['code'], item: string): string => `${code} ${item}`;

type InPool = { pool: PoolName };
type InOrganization = { organization: string };
/** Daemons whose tasks hold leases, and those among them that coderd has not seen for 90 s. */
type UnseenDaemons = { daemons: number; unseen: number };
/** `tags`: of the jobs or templates. */
type OfTags = InOrganization & { tags: Tags };

/** Lists that are incomplete or unavailable, if the error is known. */
type UnreadFields = Record<ReadingDoubt, { organization?: string | undefined } & Incomplete> &
  Record<`${ForecastReadingName}-${Exclude<ReadingStatus, 'ok'>}`, InOrganization & Incomplete & Unread> &
  /** Without this list a changed secret replaces no task. */
  Record<`secrets-${Exclude<ReadingStatus, 'ok' | 'truncated'>}`, Unread>;

/** `leftOut`: how many rows could not be read. */
type Incomplete = { error?: string | undefined; leftOut?: number | undefined };

/** `takenAt`: the time of the older reading that is used instead. */
type Unread = { error?: string | undefined; takenAt?: IsoTime | undefined };

type Counted = Readonly<{ name: string; jobs: number }>;

/** Who submitted jobs, and of which templates: the first few. `filledBy`: one account has most of them. */
export type SubmittedBy = Readonly<{
  accounts: readonly Counted[];
  templates: readonly Counted[];
  filledBy: string | null;
}>;

/** Absent: the pool is not at its maximum. */
type OfFullPool = { by?: SubmittedBy | undefined };

/** When a start last failed. Absent: one has failed in the last minutes, or is being tried. */
type NotTried = { notTriedSince?: IsoTime | undefined };

type FindingFields = {
  'version-unknown': object;
  /** `seconds`: how long coderd took for its lists of jobs. Even one look a minute costs its database much. */
  'jobs-list-slow': { seconds: number; jobs: number };
  'token-expires': { at: IsoTime };
  /** coderd accepts external daemons until the grace period of its license ends. */
  'license-in-grace': object;
  'license-missing': object;
  'server-too-old': { version: string; oldest: string };
  'clocks-differ': {
    where: 'jobs' | 'daemons' | 'tasks' | 'readings' | 'coderd';
    organization?: string | undefined;
    /** For `coderd`: seconds ahead of AWS's clock; negative: behind it. */
    seconds: number;
  };
  /** Its tasks drain only if the service surely belongs to this deployment. */
  'service-without-pool': { pool: string; service: string; drains: boolean };

  'organization-unknown': InOrganization;
  /** `cluster` and `task`: for the command that drains the first of them. */
  'daemons-empty-while-leased': InOrganization & { tasks: number; cluster: string; task: TaskArn };
  'jobs-empty-while-busy': InOrganization & { daemons: number };
  /** `jobIds`: the first of the jobs. `pools`: those whose scale-in is on hold because of it. */
  'worker-unknown': InOrganization & { jobs: number; jobIds: readonly JobId[]; pools: readonly PoolName[] };
  /** `pools`: those that the doubt concerns. `seen`: when coderd saw the first and the last. Null: over an hour ago. */
  'heartbeats-old': InOrganization &
    UnseenDaemons & { pools: readonly PoolName[]; seen: { from: IsoTime; to: IsoTime } | null };
  /** `times`: the first and the last of the looks that saw it again and again. Null: only this look is known. */
  'heartbeats-late': InOrganization & UnseenDaemons & { times: { since: IsoTime; until: IsoTime } | null };
  'pools-alike': InOrganization & { pools: readonly PoolName[] };
  'workspaces-empty': InOrganization & { jobs: number };
  'transitions-without-pool': OfTags & Transitions;
  'transitions-late': OfTags & Transitions;
  /** Transitions that are due and that coderd did not make although it saw a daemon. */
  'transitions-refused': OfTags &
    Transitions & {
      /** The first few, as `owner/workspace`. */
      workspaces: readonly string[];
      /** How many of them belong to an owner whose status coderd does not show. */
      ownersUnknown: number;
      /** When a pool is woken for the next of them. Null: no pool wakes for them. */
      nextTryAt: IsoTime | null;
    };
  /** `pools`: all that could be woken for the transitions, in order of name. */
  'transitions-held': OfTags &
    Transitions & { pools: readonly Readonly<{ name: PoolName; override: Override }>[] };
  'jobs-waiting': OfTags & { jobs: number; oldest: IsoTime; pool: PoolName | null } & OfFullPool;
  /** Pending jobs that coderd will fail after half an hour, by an estimate. */
  'jobs-about-to-fail': OfTags & {
    jobs: number;
    /** All pending jobs of these tags. */
    of: number;
    failsAt: IsoTime;
    /** The pool that they wait for. Null: a daemon that the autoscaler does not own. */
    pool: PoolName | null;
    /** What holds the pool back, or would before it has `tasks`. */
    limits: readonly Limit[];
    /** With so many tasks the pool would serve all in time. Null: unknown, or too late. */
    tasks: number | null;
    /** The assumed length of a build, in milliseconds. Null: it is known from builds that have ended. */
    assumedMs: number | null;
  } & OfFullPool;

  /** Jobs that coderd has failed within the hour because no daemon took them. */
  'jobs-never-started': OfTags & {
    jobs: number;
    /** When coderd failed the first and the last of them. */
    failed: Readonly<{ from: IsoTime; to: IsoTime }>;
    /** How long the one that waited longest had waited, in milliseconds. */
    waitedMs: number;
    /** The workspaces of the builds among them, in order of name, as far as coderd names them. */
    workspaces: readonly string[];
    /** The first pool that could have run them. Null: there is none. */
    pool: PoolName | null;
  };

  'override-malformed': InPool & MalformedOverride;
  'image-newer-than-server': InPool & { image: string; version: string };
  /** How many tasks more than one daemon may belong to, the names of these daemons, and coderd's rows. */
  'daemons-share-task': InPool & {
    tasks: number;
    daemons: readonly string[];
    rows: readonly Readonly<{ id: DaemonId; key: string | null }>[];
  };
  'starts-failing': InPool & { tasks: number; reason: string } & NotTried;
  /** ECS waits after a failed start. `cluster` and `service`: names, for the command that ends the wait. */
  'starts-throttled': InPool & {
    since: IsoTime;
    waitedMs: number;
    cluster: string;
    service: string;
    /** Empty: the command may be run now. */
    before: readonly BeforeDeployment[];
  };
  'placement-failing': InPool & { tasks: number; since: IsoTime; reason: string } & NotTried;
  /** Builds that died with tasks that ECS still lists, for about an hour: the latest death first. */
  'build-died-with-task': InPool & InOrganization & { builds: readonly DeadBuild[] };
  /** Tasks that ended unasked, and coderd lists no daemon of theirs. */
  'build-of-task-unknown': InPool & { tasks: readonly TaskArn[] };
  'daemons-without-task': InPool & { daemons: readonly string[] };
  'tasks-fewer-than-counted': InPool & { counted: number; seen: number };
  'service-missing': InPool;
  'service-ambiguous': InPool & { services: readonly string[] };
  /** A desired count that this process has neither seen nor set. Reported once for each change. */
  'count-changed-by-others': InPool & { from: number; to: number };
  /** Others have changed a desired count at least three times within ten minutes, in the last hour. */
  'count-contested': InPool & { changes: number };
  'daemon-tags-differ': InPool & { daemons: readonly string[] };
  /**
   * Daemons that claim a task of the pool with a name or with tags that its daemon does not have.
   * `key`: the name of its key; null: coderd does not tell.
   */
  'possible-intruder': InPool & { daemons: readonly Readonly<{ name: string; key: string | null }>[] };
  /** The pre-shared key has changed, and no daemon that has the new one is connected. */
  'psk-changed': InPool & ChangedSecret;
  /** Tasks that have kept an earlier value of a secret for an hour. */
  'tasks-with-old-secret': InPool & ChangedSecret & { tasks: readonly TaskArn[]; of: number };
} & Record<TasksFinding, InPool & { tasks: readonly TaskArn[] }>;

/** What must come before a person may end ECS's wait with a deployment (docs/internals/aws.md §2). */
export type BeforeDeployment = 'lists-are-whole' | 'deployment-is-completed' | 'tasks-have-stopped';

/** Tasks of a pool that need a person. */
export type TasksFinding =
  | 'tasks-unguarded'
  /** Their guards have not set their lease in time. */
  | 'tasks-lease-late'
  | 'tasks-vacant'
  | 'tasks-without-daemon'
  /** They have drained for half an hour without a daemon: their guard no longer reacts. */
  | 'tasks-draining-without-daemon'
  /** They have drained for six hours. */
  | 'tasks-draining-for-long'
  /** Each has run one job for a day. */
  | 'tasks-busy-for-long';

export type Plan = {
  readonly version: 1;
  readonly takenAt: IsoTime;
  readonly pools: readonly PoolPlan[];
  /** In the order in which they are to be applied. */
  readonly actions: readonly Action[];
  readonly assignment: readonly AssignmentRow[];
  readonly unserved: readonly UnservedRow[];
  /** Milliseconds until the next look. */
  readonly lookAgainAfterMs: number;
  readonly forecast: readonly ForecastRow[];
  readonly findings: readonly Finding[];
};

/**
 * Whether jobs of the pool wait because of `max` or `maxTasks`. A pin does not count. Neither do starts that fail, or
 * tasks of which fewer than half build: more of them would serve no job.
 */
export function isAtMax({ why, overrides, pending, daemons, desired }: PoolPlan): boolean {
  if (daemons.failing > 0 || daemons.busy * 2 < (desired.to ?? 0)) return false;
  const isCapped = why.some(({ code }) => code === 'capped-at-max' || code === 'capped-at-max-tasks');
  return isCapped && pending > 0 && !overrides.some(({ kind }) => kind === 'pin');
}
