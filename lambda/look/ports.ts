/** The interfaces that a look needs. Adapters implement them; this file does not know HTTP or an SDK. */
import type { EpochMs, JobId, OrganizationId, ServiceArn, TaskArn } from '../decision/model/brands.ts';
import type { SecretEntry, SecretOwner, UsedSecret } from '../decision/model/secrets.ts';
import type {
  BuildInfo,
  Daemon,
  ForecastReadings,
  Job,
  Protection,
  Reading,
  Service,
  Snapshot,
  Task,
  Workspace,
} from '../decision/model/snapshot.ts';
import type { LookMemory } from './look-memory.ts';
import type { Relay } from './relay/relay.ts';
import type { KeptRecord } from './stock/kept-record.ts';
import type { PastBuilds } from './stock/past-builds.ts';
import type { StockLearner } from './stock/stock-learner.ts';

export type Organization = { readonly id: OrganizationId; readonly name: string };

/** The readings of one look about an organization's jobs. */
export type SeenJobs = {
  /** Pending and running jobs. */
  readonly jobs: Reading<Job>;
  readonly previousJobs: Reading<Job>;
  /** The same object until the forecast is read again. */
  readonly workspaces?: Reading<Workspace> | undefined;
  /** coderd's clock. */
  readonly now: EpochMs;
};

/**
 * One coderd. Readings never throw; a missing or wrong answer is in the status. `signal`: no request is made or
 * waited for after it has aborted.
 */
export interface Coderd {
  buildInfo(signal?: AbortSignal): Promise<Reading<BuildInfo>>;
  organizations(signal?: AbortSignal): Promise<Reading<Organization>>;
  /** Pending and running jobs, all of them. */
  jobs(organization: Organization, build: BuildInfo | undefined, signal?: AbortSignal): Promise<Reading<Job>>;
  /** All daemons seen in the last hour, including offline ones if the server lists them. */
  daemons(
    organization: Organization,
    build: BuildInfo | undefined,
    signal?: AbortSignal,
  ): Promise<Reading<Daemon>>;
  /** Reads these jobs, whatever their status. */
  jobsByIds(organization: Organization, ids: readonly JobId[], signal?: AbortSignal): Promise<Reading<Job>>;
  /**
   * The forecast, at most `refreshMs` older than `now` (coderd's clock). A list that cannot be
   * refreshed is returned as it was, `stale`, with its time.
   */
  forecast(
    organizations: readonly Organization[],
    when: {
      readonly now: EpochMs;
      readonly refreshMs: number;
      readonly build?: BuildInfo | undefined;
    },
  ): Promise<ReadonlyMap<OrganizationId, ForecastReadings>>;
  /**
   * The jobs of the last seven days, as far as this look and earlier ones know them. Sends no
   * request. `items` is the same array until a job changes.
   */
  recentJobs(organization: Organization, seen: SeenJobs): Reading<Job>;
  /** Whether an earlier look of this process saw the end of this job, and why it failed. Sends no request. */
  knowsEnd(organization: Organization, id: JobId): boolean;
  /**
   * The jobs that earlier looks of this process saw pending, that this list of open jobs lacks, and that have waited
   * for so long that coderd may have failed them. Sends no request.
   */
  gone(organization: Organization, open: Reading<Job>): readonly JobId[];
  /**
   * When the token expires, at most an hour older than `now` (coderd's clock). Undefined: unknown,
   * or coderd extends the token with each use.
   */
  tokenExpiry(now: EpochMs): Promise<EpochMs | undefined>;
  /**
   * The license for external provisioner daemons, at most an hour older than `now`. Read again if it is
   * missing, or doubted.
   */
  license(now: EpochMs, isDoubted: boolean): Promise<LicenseReading>;
}

/** `unlicensedAt`: when this process last saw that it was missing. Empty: unknown. */
export type LicenseReading = Pick<Snapshot['coder'], 'license' | 'unlicensedAt'>;

/** A task whose protection ECS refused to change, with the reason of ECS. */
export type Refusal = {
  readonly task: TaskArn;
  readonly reason: string;
  readonly detail?: string | undefined;
};

/** A service of which only the name may be known. */
export type NamedService = Pick<Service, 'serviceName'>;

/** What a look reads of one ECS cluster. Readings never throw. `signal`: as of Coderd. */
export interface ReadableEcs {
  readonly cluster: string;
  /** The stack of this deployment; undefined: unknown. */
  readonly stack?: string | undefined;
  /** Whether the stack made the cluster: then its tasks are listed together. @default false */
  readonly ownsCluster?: boolean | undefined;
  /**
   * The services of the cluster that have the pool tag. `now`: the function's clock, in a look. `pools`: those that
   * need one; a service that none of them lacks may be seen minutes later.
   */
  services(signal?: AbortSignal, now?: EpochMs, pools?: readonly string[]): Promise<Reading<Service>>;
  /** Tasks of the services with these names that run, start, stop or stopped recently. */
  tasks(services: readonly NamedService[], signal?: AbortSignal): Promise<Reading<Task>>;
  protections(tasks: readonly TaskArn[], signal?: AbortSignal): Promise<Reading<Protection>>;
}

/** One ECS cluster. Writes throw if ECS refuses the whole request. */
export interface Ecs extends ReadableEcs {
  /** Sets the desired count, in tasks. */
  setDesired(service: ServiceArn, count: number): Promise<void>;
  /** Sends up to 10 tasks a drain request: sets their protection to 23 h. */
  requestDrain(tasks: readonly TaskArn[]): Promise<readonly Refusal[]>;
  /** Protects up to 10 tasks without a guard for half an hour. */
  protect(tasks: readonly TaskArn[]): Promise<readonly Refusal[]>;
}

/** A secret that a pool's tasks get, and when the oldest of these tasks was created. */
export type WantedSecret = UsedSecret & SecretOwner & { readonly oldestTaskAt: EpochMs | undefined };

/** The metadata of secrets. Readings never throw. */
export interface SecretList {
  /**
   * The metadata of these secrets, at most a minute older than `now` (AWS's clock). A list that
   * cannot be refreshed is returned as it was, `stale`, with its time. `signal`: as of Coderd.
   */
  entries(wanted: readonly WantedSecret[], now: EpochMs, signal?: AbortSignal): Promise<Reading<SecretEntry>>;
}

export interface Clock {
  now(): EpochMs;
  sleep(ms: number): Promise<void>;
  /** @default by the clock of the process */
  readonly startTimer?: StartTimer;
}

/** Calls `act` after `ms`, unless the function that it returns is called before. */
export type StartTimer = (ms: number, act: () => void) => () => void;

export type Ports = {
  readonly coderd: Coderd;
  readonly ecs: Ecs;
  /** @default none: a changed secret replaces no task */
  readonly secrets?: SecretList | undefined;
  /** Learns from the builds how many daemons to keep free. @default nothing is learned */
  readonly stock?: StockLearner | undefined;
  /** What this process remembers of its looks. @default nothing */
  readonly memory?: LookMemory | undefined;
  /** Hands the next look to a message. @default none: an invocation waits for it */
  readonly relay?: Relay | undefined;
  /** What `stock` knows, kept for the next process. @default it is forgotten */
  readonly record?: KeptRecord | undefined;
  /** Asks coderd for past builds that no record has. @default they stay unknown */
  readonly past?: PastBuilds | undefined;
  readonly clock: Clock;
};
