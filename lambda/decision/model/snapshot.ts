/**
 * The snapshot: everything seen in one look. The field names are coderd's and AWS's own; only what a
 * decision needs is here, so nothing secret can slip in. `lambda/adapters/snapshot/` reads and writes it as JSON.
 */
import type { DaemonId, EpochMs, JobId, OrganizationId, ServiceArn, TaskArn } from './brands.ts';
import type { Tags } from './tags.ts';

type Maybe<T> = T | null | undefined;

/**
 * How far a reading can be trusted. `ok`: all of it. `truncated`: there is more. `forbidden`: coderd answered
 * 404 or 403. `failed`: no usable answer, see `error`. `stale`: from an earlier look, see `takenAt`.
 */
export type ReadingStatus = 'ok' | 'truncated' | 'forbidden' | 'failed' | 'stale';

/** One list that was read, with how far it can be trusted. */
export type Reading<T> = {
  readonly status: ReadingStatus;
  /** A sentence, for any status but `ok`. */
  readonly error?: string | undefined;
  readonly takenAt?: EpochMs | undefined;
  /** The limit asked for; 0 = none. */
  readonly limit?: number | undefined;
  readonly items: readonly T[];
};

/** `pending`, `running`, … Unknown values are tolerated. */
export type JobStatus = string;

export type Job = {
  readonly id: JobId;
  readonly created_at: EpochMs;
  readonly started_at?: Maybe<EpochMs>;
  readonly completed_at?: Maybe<EpochMs>;
  readonly canceled_at?: Maybe<EpochMs>;
  readonly status: JobStatus;
  readonly worker_id?: Maybe<DaemonId>;
  readonly organization_id: OrganizationId;
  readonly initiator_id?: Maybe<string>;
  readonly tags: Tags;
  readonly type: string;
  /** Why coderd made the workspace build: `initiator`, `autostart`, … Lists of jobs do not tell it (docs/coder.md §1), builds do. */
  readonly reason?: Maybe<string>;
  /** `workspace_id` and the transition: workspace builds only; the transition is missing before 2026's servers (docs/coder.md §1). */
  readonly metadata?: Maybe<{
    readonly workspace_id?: Maybe<string>;
    readonly template_id?: Maybe<string>;
    readonly workspace_build_transition?: Maybe<string>;
  }>;
};

/**
 * Jobs of every status, newest first: what recent looks saw, and the latest build of each workspace. A lower bound: a list that is cut
 * off, or that forgot what an earlier process saw, is no doubt.
 */
export type RecentJobs = Reading<Job> & {
  /** So many of each tag set, the newest. */
  readonly limit?: number | undefined;
  /** When this process began to record. Before, only the latest builds of the workspaces are known. Absent: unknown. */
  readonly since?: EpochMs | undefined;
};

export type JobRef = { readonly id: JobId; readonly status: JobStatus };

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
  /** `offline`, `idle` or `busy`, as coderd sees it; an `idle` may be 90 s old. */
  readonly status?: Maybe<string>;
  readonly current_job?: Maybe<JobRef>;
  readonly previous_job?: Maybe<JobRef>;
};

/** A workspace, as far as coderd's lifecycle executor decides by it (docs/coder.md §10). */
export type Workspace = {
  readonly id: string;
  readonly organization_id: OrganizationId;
  readonly template_id: string;
  readonly name?: Maybe<string>;
  readonly owner_id?: Maybe<string>;
  /** A username. */
  readonly owner_name?: Maybe<string>;
  /** `always` or `never`: whether a start takes the template's active version. */
  readonly automatic_updates?: Maybe<string>;
  /** Then every start takes it. */
  readonly template_require_active_version?: Maybe<boolean>;
  /** Whether the latest build is of another version than the active one. */
  readonly outdated?: Maybe<boolean>;
  readonly is_prebuild?: Maybe<boolean>;
  /** `CRON_TZ=Europe/Berlin 30 9 * * 1-5`. */
  readonly autostart_schedule?: Maybe<string>;
  readonly next_start_at?: Maybe<EpochMs>;
  readonly last_used_at?: Maybe<EpochMs>;
  readonly dormant_at?: Maybe<EpochMs>;
  readonly deleting_at?: Maybe<EpochMs>;
  readonly latest_build: {
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
      readonly tags?: Maybe<Tags>;
    };
  };
};

/** A template, as far as coderd's lifecycle executor decides by it (docs/coder.md §10). */
export type Template = {
  readonly id: string;
  readonly organization_id: OrganizationId;
  readonly active_version_id: string;
  /** When its settings or its active version were changed last. */
  readonly updated_at?: Maybe<EpochMs>;
  readonly allow_user_autostart?: Maybe<boolean>;
  /** `monday`, …; absent or null: every day. */
  readonly autostart_requirement?: Maybe<{ readonly days_of_week?: Maybe<readonly string[]> }>;
  readonly failure_ttl_ms?: Maybe<number>;
  readonly time_til_dormant_ms?: Maybe<number>;
  readonly time_til_dormant_autodelete_ms?: Maybe<number>;
};

/** A member of an organization, as far as coderd's lifecycle executor decides by it. */
export type Member = {
  readonly user_id: string;
  /** `active`, `suspended`, `dormant`; absent before 2.32. */
  readonly status?: Maybe<string>;
  /** At the earliest when the status was changed. */
  readonly user_updated_at?: Maybe<EpochMs>;
};

/** What is about to be due. Read every few minutes: `takenAt` of each reading says when. */
export type ForecastReadings = {
  readonly workspaces: Reading<Workspace>;
  readonly templates: Reading<Template>;
  /** The tags of each template's active version, by template id: those that coderd's autostart gate asks for. */
  readonly activeVersionTags: Readonly<Record<string, Tags>>;
  /** The members that may be read; without them every owner counts as active. */
  readonly members?: Reading<Member> | undefined;
  /** Daemons that have gone in the last four days, the newest: when coderd's gate was open. Absent before 2.26, which lists them with the others. */
  readonly offlineDaemons?: Reading<Daemon> | undefined;
};

export type OrganizationReadings = {
  readonly id: OrganizationId;
  readonly name: string;
  /** Pending and running jobs. */
  readonly jobs: Reading<Job>;
  readonly daemons: Reading<Daemon>;
  /** The previous jobs of idle daemons: their `completed_at` says since when. */
  readonly previousJobs: Reading<Job>;
  /** Absent: nothing is known of earlier jobs. */
  readonly recentJobs?: RecentJobs | undefined;
} & Partial<ForecastReadings>;

export type BuildInfo = { readonly version: string };

export type Deployment = {
  readonly id?: string | undefined;
  readonly status?: string | undefined;
  readonly taskDefinition?: string | undefined;
  readonly desiredCount?: number | undefined;
  readonly runningCount?: number | undefined;
  readonly pendingCount?: number | undefined;
  readonly rolloutState?: string | undefined;
  readonly createdAt?: EpochMs | undefined;
};

/** What ECS says of a service in words. */
export type ServiceEvent = {
  readonly id?: string | undefined;
  readonly createdAt: EpochMs;
  readonly message: string;
};

/** How ECS deploys a service, as far as it matters here. */
export type DeploymentConfiguration = {
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
  readonly deployments: readonly Deployment[];
  /** The newest ones about placing and starting tasks, newest first; absent in snapshots of earlier versions. */
  readonly events?: readonly ServiceEvent[] | undefined;
  readonly deploymentConfiguration?: DeploymentConfiguration | undefined;
  readonly tags: readonly { readonly key: string; readonly value: string }[];
  /** The desired count that this process saw or set last, in the look that sees another one. */
  readonly changedFrom?: number | undefined;
};

export type Task = {
  readonly taskArn: TaskArn;
  /** `service:<service name>`. */
  readonly group?: string | undefined;
  readonly lastStatus: string;
  readonly desiredStatus: string;
  readonly taskDefinitionArn?: string | undefined;
  /** The id of the deployment that started it. */
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
};

export type Protection = {
  readonly taskArn: TaskArn;
  readonly protectionEnabled: boolean;
  readonly expirationDate?: EpochMs | undefined;
};

export type Snapshot = {
  readonly version: 1;
  /** By coderd's clock (its `Date` header), where coderd answered. */
  readonly takenAt: EpochMs;
  /** When the look began, by the function's own clock; absent in snapshots of earlier versions. */
  readonly clock?: EpochMs | undefined;
  readonly coder: {
    /** Absent when coderd did not answer. */
    readonly buildInfo?: BuildInfo | undefined;
    /** Absent: it was not read. */
    readonly token?: { readonly expiresAt: EpochMs } | undefined;
    readonly organizations: readonly OrganizationReadings[];
  };
  readonly ecs: {
    readonly cluster: string;
    /** The stack of this deployment. Absent: unknown, so every service may be its own. */
    readonly stack?: string | undefined;
    /** `takenAt`: by AWS's clock (the `Date` header of its answer). */
    readonly services: Reading<Service>;
    readonly tasks: Reading<Task>;
    readonly protections: Reading<Protection>;
  };
};
