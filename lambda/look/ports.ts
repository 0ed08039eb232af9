/**
 * The interfaces that a look needs. Adapters implement those to coderd and AWS; what a process keeps between its looks
 * implements the others. This file knows neither HTTP nor an SDK.
 */
import type { EpochMs, JobId, OrganizationId, ServiceArn, TaskArn } from '../decision/model/brands.ts';
import type { PoolConfig } from '../decision/model/config.ts';
import type { SecretEntry, SecretOwner, UsedSecret } from '../decision/model/secrets.ts';
import type {
  BuildInfo,
  Daemon,
  ForecastReadings,
  HeartbeatsSeen,
  Job,
  LearnedStock,
  PoolMemory,
  Protection,
  Reading,
  Remembered,
  Service,
  Snapshot,
  Task,
  Workspace,
} from '../decision/model/snapshot.ts';
import type { StockSet } from '../decision/stock/stock-groups.ts';
import type { LookMessage } from './relay/relay.ts';

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

/** What a process remembers of its looks. It may be lost, or older than the last look of another process. */
export interface ProcessMemory {
  readonly counts: CountMemory;
  /** Whether no other process can have looked since the last look of this one. */
  readonly isSole: boolean;
  /** An invocation begins. `isOwn`: whether the last message of this process started it; undefined: the schedule did. */
  wake(invocation: { readonly now: EpochMs; readonly isOwn: boolean | undefined }): void;
  /** The looks of this minute have ended here: the schedule starts the next one at `until`. */
  rest(until: EpochMs): void;
  /** What the next decision gets to know. `now`: coderd's clock. */
  recall(now: EpochMs): Remembered;
  add(seen: SeenByLook): void;
}

/** What a look leaves to the next one. `now`: coderd's clock. */
export type SeenByLook = {
  readonly now: EpochMs;
  readonly mismatches: readonly string[];
  /** @default none */
  readonly heartbeats?: readonly HeartbeatsSeen[];
  readonly refused: readonly { readonly task: TaskArn }[];
  readonly pools: readonly PoolMemory[];
};

/** The desired counts that a process has seen and set. */
export interface CountMemory {
  /** Call this before the write, because its answer may be lost. */
  willSet(service: ServiceArn, count: number): void;
  /** ECS has confirmed the write. */
  didSet(service: ServiceArn, count: number): void;
  /** The service with what this process remembers of it. `now`: the function's clock. */
  compare(service: Service, look: { readonly now: EpochMs; readonly isSole: boolean }): Service;
}

/** Learns from the builds how many daemons to keep free. */
interface StockMemory {
  /** What the next decision gets to know. Undefined: nothing is known yet. */
  learned(): LearnedStock | undefined;
  /** Learns from a look, for at most so many steps. */
  learn(sets: readonly StockSet[], snapshot: Snapshot, steps?: number): void;
}

/** What `stock` knows, kept outside the process. Its calls never throw. */
interface BuildRecord {
  /** Begins to read what is missing, and waits for it for a while. */
  ready(isSole?: boolean): Promise<void>;
  /** Gives `stock` what has been read. `now`: coderd's clock. */
  restore(now: EpochMs): void;
  save(): Promise<void>;
}

/** Asks coderd for past builds. Never throws. */
interface BuildHistory {
  /** Call it after the actions of a look. Ends when `signal` aborts. */
  read(look: {
    readonly snapshot: Pick<Snapshot, 'coder' | 'takenAt'>;
    readonly pools: readonly PoolConfig[];
    readonly signal: AbortSignal;
  }): Promise<void>;
}

/** Hands the next look of a minute to a message. What it remembers may be lost. */
interface Handover {
  /** Whether the next look can be handed over, as far as this process knows. */
  isOpen(now: EpochMs): boolean;
  /** Whether a message still requests a look. */
  isDue(message: LookMessage, now: EpochMs): boolean;
  /** Whether this process sent the message, and none since. */
  isOwn(message: LookMessage): boolean;
  /** The last plan of this process needs no further look before `until`. */
  rest(minute: { readonly until: EpochMs; readonly now: EpochMs }): void;
  /** Returns false if the caller has to wait itself. */
  handOver(next: {
    readonly delayMs: number;
    readonly until: EpochMs;
    readonly now: EpochMs;
  }): Promise<boolean>;
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
  readonly stock?: StockMemory | undefined;
  /** What this process remembers of its looks. @default nothing */
  readonly memory?: ProcessMemory | undefined;
  /** Hands the next look to a message. @default none: an invocation waits for it */
  readonly relay?: Handover | undefined;
  /** What `stock` knows, kept for the next process. @default it is forgotten */
  readonly record?: BuildRecord | undefined;
  /** Asks coderd for past builds that no record has. @default they stay unknown */
  readonly past?: BuildHistory | undefined;
  readonly clock: Clock;
};
