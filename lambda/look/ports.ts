/**
 * What a look needs of the world. Adapters implement these interfaces; nothing here knows HTTP or
 * an SDK.
 */
import type { EpochMs, JobId, OrganizationId, ServiceArn, TaskArn } from '../decision/model/brands.ts';
import type {
  BuildInfo,
  Daemon,
  ForecastReadings,
  Job,
  Protection,
  Reading,
  RecentJobs,
  Service,
  Task,
  Workspace,
} from '../decision/model/snapshot.ts';

export type Organization = { readonly id: OrganizationId; readonly name: string };

/** What one look has read of an organization's jobs. */
export type SeenJobs = {
  /** Pending and running jobs. */
  readonly jobs: Reading<Job>;
  readonly previousJobs: Reading<Job>;
  /** The same object for as long as the forecast is not read again. */
  readonly workspaces?: Reading<Workspace> | undefined;
  /** By coderd's clock. */
  readonly now: EpochMs;
};

/** One coderd. Readings never throw for an answer that is missing or wrong: the status says so. */
export interface Coderd {
  buildInfo(): Promise<Reading<BuildInfo>>;
  organizations(): Promise<Reading<Organization>>;
  /** Pending and running jobs, all of them. */
  jobs(organization: Organization, build: BuildInfo | undefined): Promise<Reading<Job>>;
  /** All daemons seen in the last hour, offline ones included where the server tells. */
  daemons(organization: Organization, build: BuildInfo | undefined): Promise<Reading<Daemon>>;
  /** These jobs, whatever their status. */
  jobsByIds(organization: Organization, ids: readonly JobId[]): Promise<Reading<Job>>;
  /**
   * What is about to be due, as of at most `refreshMs` before `now` (coderd's clock). A list that
   * can't be read anew is served as it was, `stale`, with its time.
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
   * The jobs of the last seven days, as far as these readings and those of earlier looks tell.
   * Sends no request. `items` is the same array for as long as no job changes.
   */
  recentJobs(organization: Organization, seen: SeenJobs): RecentJobs;
  /**
   * When the token ends, as of at most an hour before `now` (coderd's clock). Undefined: unknown,
   * or not while it is used.
   */
  tokenExpiry(now: EpochMs): Promise<EpochMs | undefined>;
}

/** A task that ECS would not protect as asked, with ECS's own reason. */
export type Refusal = {
  readonly task: TaskArn;
  readonly reason: string;
  readonly detail?: string | undefined;
};

/**
 * One ECS cluster. Readings never throw; the writes throw when ECS refuses all that they ask for.
 */
export interface Ecs {
  readonly cluster: string;
  /** The stack of this deployment; undefined: unknown. */
  readonly stack?: string | undefined;
  /** The services of the cluster that carry the pool tag. */
  services(): Promise<Reading<Service>>;
  /** Tasks of these services that run, start, stop or stopped recently. */
  tasks(services: readonly Service[]): Promise<Reading<Task>>;
  protections(tasks: readonly TaskArn[]): Promise<Reading<Protection>>;
  /** Sets the desired count, in tasks. */
  setDesired(service: ServiceArn, count: number): Promise<void>;
  /** Asks up to 10 tasks to leave: their protection is set to 23 h. */
  askToLeave(tasks: readonly TaskArn[]): Promise<readonly Refusal[]>;
  /** Protects up to 10 tasks that have no guard for half an hour. */
  protect(tasks: readonly TaskArn[]): Promise<readonly Refusal[]>;
}

export interface Clock {
  now(): EpochMs;
  sleep(ms: number): Promise<void>;
}

export type Ports = { readonly coderd: Coderd; readonly ecs: Ecs; readonly clock: Clock };
