/**
 * The snapshot: all readings of one look. Field names are coderd's and AWS's own. Only fields that
 * a decision needs are here, so no secret gets in. `lambda/adapters/snapshot-schema.ts` reads and
 * writes it as JSON.
 */
import type { DaemonId, EpochMs, JobId, OrganizationId, PoolName, ServiceArn, TaskArn } from './brands.ts';
import type { SecretEntry } from './secrets.ts';
import type { TagSet, Tags } from './tags.ts';

type Maybe<T> = T | null | undefined;

/**
 * How complete a list is. `ok`: complete. `truncated`: the server has more items, or some cannot be read. `forbidden`:
 * coderd answered 404 or 403. `failed`: there was no usable answer, see `error`. `stale`: the list
 * is from an earlier look, see `takenAt`.
 */
export type ReadingStatus = 'ok' | 'truncated' | 'forbidden' | 'failed' | 'stale';

/** One list, with its status. */
export type Reading<T> = {
  readonly status: ReadingStatus;
  /** One sentence; present unless the status is `ok`. */
  readonly error?: string | undefined;
  readonly takenAt?: EpochMs | undefined;
  /** The limit of the request; 0: no limit. */
  readonly limit?: number | undefined;
  /** How long its requests took, in milliseconds. Of a list that failed: those of the last answer. Absent: unknown. */
  readonly tookMs?: number | undefined;
  readonly items: readonly T[];
  /** The rows that could not be read. Then the list is `truncated`. */
  readonly leftOut?: readonly LeftOutRow[] | undefined;
};

/** A row of a list that could not be read. */
export type LeftOutRow = {
  /** Its name, id or ARN. */
  readonly row: string;
  readonly why: string;
  /** The pool of a service, the service of a task, or the organization. Undefined: unknown. */
  readonly of?: string | undefined;
};

/** `pending`, `running`, … Unknown values are accepted. */
type JobStatus = string;

export type Job = {
  readonly id: JobId;
  readonly created_at: EpochMs;
  readonly started_at?: Maybe<EpochMs>;
  readonly completed_at?: Maybe<EpochMs>;
  readonly canceled_at?: Maybe<EpochMs>;
  readonly status: JobStatus;
  /** `hung`: coderd failed it after 5 minutes of silence. Error texts may hold secrets. */
  readonly error?: Maybe<'hung' | 'other'>;
  readonly worker_id?: Maybe<DaemonId>;
  /** The name of that daemon, while coderd has its row. Absent before 2.23. */
  readonly worker_name?: Maybe<string>;
  readonly organization_id: OrganizationId;
  readonly initiator_id?: Maybe<string>;
  readonly tags: Tags;
  readonly type: string;
  /** `initiator`, `autostart`, … Lists of jobs lack it (docs/internals/coder.md §1). */
  readonly reason?: Maybe<string>;
  /** For workspace builds. Old servers lack the transition (docs/internals/coder.md §1). */
  readonly metadata?: Maybe<{
    readonly workspace_id?: Maybe<string>;
    readonly workspace_name?: Maybe<string>;
    readonly template_id?: Maybe<string>;
    readonly template_name?: Maybe<string>;
    readonly workspace_build_transition?: Maybe<string>;
  }>;
};

type JobRef = { readonly id: JobId; readonly status: JobStatus };

export type Daemon = {
  readonly id: DaemonId;
  readonly organization_id: OrganizationId;
  readonly key_id?: Maybe<string>;
  readonly key_name?: Maybe<string>;
  readonly created_at: EpochMs;
  readonly last_seen_at?: Maybe<EpochMs>;
  readonly name: string;
  readonly version?: Maybe<string>;
  readonly tags: Tags;
  /** `offline`, `idle` or `busy`, as coderd sees it. An `idle` may be 90 s old. */
  readonly status?: Maybe<string>;
  readonly current_job?: Maybe<JobRef>;
  readonly previous_job?: Maybe<JobRef>;
};

/** What coderd's lifecycle executor decides by (docs/internals/coder.md §10). */
export type Workspace = {
  readonly id: string;
  readonly organization_id: OrganizationId;
  readonly template_id: string;
  readonly name?: Maybe<string>;
  readonly owner_id?: Maybe<string>;
  /** The owner's username. */
  readonly owner_name?: Maybe<string>;
  /** `always` or `never`: whether a start uses the template's active version. */
  readonly automatic_updates?: Maybe<string>;
  /** True: every start uses the active version. */
  readonly template_require_active_version?: Maybe<boolean>;
  /** Whether the latest build uses another version than the active one. */
  readonly outdated?: Maybe<boolean>;
  readonly is_prebuild?: Maybe<boolean>;
  /** `CRON_TZ=Europe/Berlin 30 9 * * 1-5`. */
  readonly autostart_schedule?: Maybe<string>;
  readonly next_start_at?: Maybe<EpochMs>;
  readonly last_used_at?: Maybe<EpochMs>;
  readonly dormant_at?: Maybe<EpochMs>;
  readonly deleting_at?: Maybe<EpochMs>;
  readonly latest_build: {
    /** From 1 on, in each workspace. */
    readonly build_number?: Maybe<number>;
    readonly created_at?: Maybe<EpochMs>;
    /** `start`, `stop` or `delete`. */
    readonly transition: string;
    /** `initiator`, `autostart`, `autostop`, `dormancy`, `autodelete`, … */
    readonly reason?: Maybe<string>;
    readonly deadline?: Maybe<EpochMs>;
    readonly max_deadline?: Maybe<EpochMs>;
    readonly initiator_id?: Maybe<string>;
    readonly job: {
      readonly id?: Maybe<JobId>;
      readonly status: JobStatus;
      readonly created_at?: Maybe<EpochMs>;
      readonly started_at?: Maybe<EpochMs>;
      readonly completed_at?: Maybe<EpochMs>;
      readonly worker_id?: Maybe<DaemonId>;
      readonly tags?: Maybe<Tags>;
    };
  };
};

/** What coderd's lifecycle executor decides by (docs/internals/coder.md §10). */
export type Template = {
  readonly id: string;
  readonly organization_id: OrganizationId;
  readonly active_version_id: string;
  readonly name?: Maybe<string>;
  /** coderd makes no prebuilt workspaces of a deprecated template. */
  readonly deprecated?: Maybe<boolean>;
  /** The last change of its settings or of its active version. */
  readonly updated_at?: Maybe<EpochMs>;
  readonly allow_user_autostart?: Maybe<boolean>;
  /** `monday`, …; absent or null: every day. */
  readonly autostart_requirement?: Maybe<{ readonly days_of_week?: Maybe<readonly string[]> }>;
  readonly failure_ttl_ms?: Maybe<number>;
  readonly time_til_dormant_ms?: Maybe<number>;
  readonly time_til_dormant_autodelete_ms?: Maybe<number>;
};

/** The fields of a member of an organization by which coderd's lifecycle executor decides. */
export type Member = {
  readonly user_id: string;
  /** `active`, `suspended`, `dormant`; absent before 2.32. */
  readonly status?: Maybe<string>;
  /** The status changed at this time or before. */
  readonly user_updated_at?: Maybe<EpochMs>;
};

/** The input of the forecast, read every few minutes: `takenAt` says when. */
export type ForecastReadings = {
  readonly workspaces: Reading<Workspace>;
  readonly templates: Reading<Template>;
  /** By template id: coderd's autostart gate checks the tags of the active version. */
  readonly activeVersionTags: Readonly<Record<string, Tags>>;
  /** The members that the token may read. Without them every owner counts as active. */
  readonly members?: Reading<Member> | undefined;
  /** Of the last four days: when the gate was open. Before 2.26 they are in `daemons`. */
  readonly offlineDaemons?: Reading<Daemon> | undefined;
};

export type OrganizationReadings = {
  readonly id: OrganizationId;
  readonly name: string;
  /** Pending and running jobs. */
  readonly jobs: Reading<Job>;
  readonly daemons: Reading<Daemon>;
  /** The previous jobs of idle daemons. Their `completed_at` says since when a daemon is idle. */
  readonly previousJobs: Reading<Job>;
  /** Of the last seven days: some may be missing. Absent: none is known. */
  readonly recentJobs?: Reading<Job> | undefined;
} & Partial<ForecastReadings>;

/** For external provisioner daemons (docs/internals/coder.md §3). */
export type Entitlement = 'entitled' | 'grace_period' | 'not_entitled';

export type BuildInfo = { readonly version: string };

type EcsDeployment = {
  readonly id?: string | undefined;
  readonly status?: string | undefined;
  readonly taskDefinition?: string | undefined;
  readonly desiredCount?: number | undefined;
  readonly runningCount?: number | undefined;
  readonly pendingCount?: number | undefined;
  readonly rolloutState?: string | undefined;
  readonly createdAt?: EpochMs | undefined;
  /** Its last change: of two answers, the one with the earlier time is the older one. */
  readonly updatedAt?: EpochMs | undefined;
};

/** A service event: a message of ECS about a service. */
export type ServiceEvent = {
  readonly id?: string | undefined;
  readonly createdAt: EpochMs;
  readonly message: string;
};

/** The part of a service's deployment configuration that the decision reads. */
type DeploymentConfiguration = {
  readonly earlySuccessCriteria?: { readonly enable?: boolean | undefined } | undefined;
};

export type Service = {
  readonly serviceArn: ServiceArn;
  readonly serviceName: string;
  readonly status: string;
  readonly desiredCount: number;
  readonly runningCount: number;
  readonly pendingCount: number;
  readonly taskDefinition?: string | undefined;
  readonly deployments: readonly EcsDeployment[];
  /** About placing and starting tasks, newest first. Earlier snapshots lack them. */
  readonly events?: readonly ServiceEvent[] | undefined;
  readonly deploymentConfiguration?: DeploymentConfiguration | undefined;
  readonly tags: readonly { readonly key: string; readonly value: string }[];
  /** What this process saw or set before, in the look that sees another count. */
  readonly changedFrom?: number | undefined;
  /** When this process saw that others had changed the count, in the last hour. */
  readonly changesByOthers?: readonly EpochMs[] | undefined;
  /** Since ECS last created a task, as far as this process knows. */
  readonly shortage?: Shortage | undefined;
};

/** For how long ECS has had fewer tasks than the desired count, and when that was last seen. */
export type Shortage = {
  readonly lastedMs: number;
  readonly until: EpochMs;
  /** When the service had last changed, if the first look of this process saw the shortage: it may be older. */
  readonly changedAt?: EpochMs | undefined;
};

export type Task = {
  readonly taskArn: TaskArn;
  /** `service:<service name>`. */
  readonly group?: string | undefined;
  readonly lastStatus: string;
  readonly desiredStatus: string;
  readonly taskDefinitionArn?: string | undefined;
  /** The id of the deployment that started the task. */
  readonly startedBy?: string | undefined;
  readonly availabilityZone?: string | undefined;
  readonly capacityProviderName?: string | undefined;
  readonly createdAt?: EpochMs | undefined;
  readonly pullStartedAt?: EpochMs | undefined;
  readonly pullStoppedAt?: EpochMs | undefined;
  readonly startedAt?: EpochMs | undefined;
  readonly stoppingAt?: EpochMs | undefined;
  readonly stoppedAt?: EpochMs | undefined;
  readonly stopCode?: string | undefined;
  readonly stoppedReason?: string | undefined;
  readonly containers: readonly {
    readonly name?: string | undefined;
    readonly exitCode?: number | undefined;
    readonly reason?: string | undefined;
    readonly networkInterfaces?: readonly { readonly privateIpv4Address?: string | undefined }[] | undefined;
  }[];
  /** Read only of tasks whose service no list has: nothing else tells their pool. */
  readonly tags?: readonly { readonly key: string; readonly value: string }[] | undefined;
};

export type Protection = {
  readonly taskArn: TaskArn;
  readonly protectionEnabled: boolean;
  readonly expirationDate?: EpochMs | undefined;
};

/** How many daemons a set of pools keeps free for unforeseen builds, learned from its builds. */
export type StockChoice = {
  readonly organizationId: OrganizationId;
  /** The names of the pools that can run these builds, in order. */
  readonly pools: readonly PoolName[];
  readonly rule: {
    /** How many daemons are kept free, and launched if fewer are. */
    readonly free: number;
    /** Further idle daemons stay for so long, in milliseconds. */
    readonly spareMs: number;
    /** Daemons are kept free for so long after the last build, in milliseconds; null: always. */
    readonly afterBuildMs: number | null;
    /** Whether busy daemons, and jobs that wait for one, count among those that are kept. */
    readonly countsBusy: boolean;
  };
  /** The builds that it was learned from, and the hours in which they came. 0: nothing is known. */
  readonly builds: number;
  readonly hours: number;
  /** What the rule would have cost in the past, weighted for this half hour. Dollars an hour. */
  readonly tasks: number;
  readonly waiting: number;
  /**
   * The idle and busy daemons that the pools would have until a time (coderd's clock) if the rule had always been in
   * force, and if no build came. Absent: unknown.
   */
  readonly stays?: { readonly daemons: number; readonly until: number } | undefined;
  /** What the waiting of builds is expected to cost now, in dollars an hour. Absent: as `waiting`. */
  readonly waitingNow?: number | undefined;
  /** The same with the next smaller and larger numbers of free daemons. */
  readonly others: readonly { readonly free: number; readonly dollars: number }[];
  /**
   * The last start of these pools that was seen, in milliseconds from the need for a task: ECS forgets
   * a task after an hour. Absent: none was seen.
   */
  readonly startMs?: number | undefined;
  /** When a look last saw these pools together, by coderd's clock. Only a record has it. */
  readonly seenAt?: number | undefined;
};

export type LearnedStock = {
  /** The tags of all builds that are known. */
  readonly tagSets: readonly {
    readonly organizationId: OrganizationId;
    readonly tags: TagSet;
    /** When the newest of them came. Absent: unknown. */
    readonly lastBuildAt?: EpochMs | undefined;
    /** How long the newest of them took, in milliseconds, the shortest first. Absent: unknown. */
    readonly durationsMs?: readonly number[] | undefined;
  }[];
  readonly choices: readonly StockChoice[];
};

/** What a look that read everything about a pool's tasks knew of its starts. All numbers are tasks. */
export type KnownStarts = {
  readonly at: EpochMs;
  /** Those that count against the limits: they exist, or are desired. */
  readonly tasks: number;
  /** Those whose daemon had registered. */
  readonly registered: number;
  /** Those that might start without a daemon at once. */
  readonly mayStart: number;
};

/** A pool in the last looks of this process. */
export type PoolMemory = {
  readonly pool: PoolName;
  readonly known?: KnownStarts | undefined;
  /** Since when looks cannot read everything about its tasks. Absent: the last look could. */
  readonly unreadSince?: EpochMs | undefined;
};

/** What looks saw of an organization's heartbeats. If it is lost, a doubt may end some looks sooner (heartbeats.ts). */
export type HeartbeatsSeen = {
  readonly organizationId: OrganizationId;
  /** The first and the last of the looks that saw late heartbeats again and again. */
  readonly late?: { readonly since: EpochMs; readonly at: EpochMs } | undefined;
  /** The last look at which heartbeats looked old. */
  readonly oldAt?: EpochMs | undefined;
};

/** What the process remembers of its earlier looks. */
export type Remembered = {
  /** Absent in snapshots of earlier versions. */
  readonly pools?: readonly PoolMemory[] | undefined;
  /** By its key: since when looks see a mismatch (report/mismatches.ts). */
  readonly mismatches: Readonly<Record<string, EpochMs>>;
  /** Tasks whose protection ECS has just refused to change: they get no request in this look. */
  readonly refused: readonly TaskArn[];
  readonly heartbeats?: readonly HeartbeatsSeen[] | undefined;
};

export type Snapshot = {
  readonly version: 1;
  /** The time by coderd's clock (its `Date` header), if coderd answered. */
  readonly takenAt: EpochMs;
  /** When the look began, by the function's own clock. Snapshots of earlier versions lack it. */
  readonly clock?: EpochMs | undefined;
  readonly coder: {
    /** Absent if coderd did not answer. */
    readonly buildInfo?: BuildInfo | undefined;
    /** Absent: the adapters did not read it. */
    readonly token?: { readonly expiresAt: EpochMs } | undefined;
    /** Absent: unknown. */
    readonly license?: Entitlement | undefined;
    /** When this process last saw that coderd had no license. Absent: it never did. */
    readonly unlicensedAt?: EpochMs;
    readonly organizations: readonly OrganizationReadings[];
  };
  readonly ecs: {
    readonly cluster: string;
    /** The stack of this deployment. Absent: unknown, so any service may belong to it. */
    readonly stack?: string | undefined;
    /** The stack made the cluster, so its tasks are listed together. Absent: they are listed by service. */
    readonly ownsCluster?: boolean | undefined;
    /** Its `takenAt` is by AWS's clock (the `Date` header of the answer). */
    readonly services: Reading<Service>;
    readonly tasks: Reading<Task>;
    readonly protections: Reading<Protection>;
  };
  /** What the process has learned of its pools' builds. Absent: it has just started. */
  readonly stock?: LearnedStock | undefined;
  /** Absent: there is one look only, as for a person. */
  readonly remembered?: Remembered | undefined;
  /** A message starts the next look; no invocation waits for it. Absent: no queue. */
  readonly canHandOver?: boolean | undefined;
  /** Metadata only. Absent: not read, as in snapshots of earlier versions. */
  readonly secrets?: Reading<SecretEntry> | undefined;
};

/** By AWS's clock, which is the function's own too: for times that ECS wrote (docs/adr/0027). */
export function awsTimeOf({ ecs, clock, takenAt }: Pick<Snapshot, 'ecs' | 'clock' | 'takenAt'>): EpochMs {
  return ecs.services.takenAt ?? clock ?? takenAt;
}
