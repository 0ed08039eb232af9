/**
 * Supply: what every pool has, from the readings of ECS and coderd. The states are those of design.md,
 * "The lease"; a state that can't be told is read as the one that holds.
 */
import type { EpochMs } from './brands.ts';
import type { Config, PoolConfig } from './config.ts';
import { type DaemonIndex, indexDaemons } from './daemons.ts';
import { compare } from './order.ts';
import type { Daemon, OrganizationSight, Protection, Service, Snapshot, Task } from './snapshot.ts';
import { normalizeTags, type TagSet, tagKey } from './tags.ts';

/** The service of a pool carries this tag with the pool's name as its value. */
export const POOL_TAG = 'coder-autoscaler:pool';

/** An enabled protection with less left than this means: leaving. */
const LEASE_MS = 24 * 3_600_000;
/** A task that has been RUNNING for this long has had its time to get a lease and a daemon. */
const BOOT_MS = 15 * 60_000;
const FAILING_WINDOW_MS = 10 * 60_000;

export type TaskState = 'starting' | 'working' | 'leaving' | 'left' | 'unguarded';

/**
 * What a task that counts as supply is good for. `registering`: its daemon is still to come. `silent`: it should
 * have a daemon and has none. `unknown`: the daemons could not be read.
 */
export type Use = 'busy' | 'idle' | 'registering' | 'silent' | 'unknown';

export type TaskSight = {
  readonly task: Task;
  readonly state: TaskState;
  readonly use: Use;
  readonly daemon: Daemon | undefined;
  /** What its daemon offers; the pool's tags where no daemon is known. */
  readonly offers: TagSet;
  readonly idleSince: EpochMs | undefined;
};

export type PoolSight = {
  readonly pool: PoolConfig;
  readonly organization: OrganizationSight | undefined;
  readonly service: Service | undefined;
  /** More than one service with this pool's tag: none of them is touched. */
  readonly rivals: readonly Service[];
  /** All that ECS means to keep running, in order of ARN. */
  readonly tasks: readonly TaskSight[];
  /** All tasks of the service in the list that have not stopped, those on their way out included. */
  readonly listed: number;
  /** Tasks that are desired and not there yet. */
  readonly missing: number;
  /** Tasks that stopped before they ran, in the last 10 minutes. */
  readonly failing: number;
};

/** Reads the state of every pool, in order of name. */
export function readSupply(snapshot: Snapshot, config: Config): readonly PoolSight[] {
  const protections = new Map(snapshot.ecs.protections.items.map((item) => [item.taskArn, item]));
  const byGroup = Map.groupBy(snapshot.ecs.tasks.items, (task) => task.group ?? '');
  const indexes = new Map(
    snapshot.coder.organizations.map((sight) => [sight, indexDaemons(sight, snapshot.takenAt)]),
  );
  return config.pools
    .toSorted((a, b) => compare(a.name, b.name))
    .map((pool) => readPool({ pool, snapshot, protections, byGroup, indexes }));
}

/** The organization of a pool, by name or UUID. */
export function organizationOf(pool: PoolConfig, snapshot: Snapshot): OrganizationSight | undefined {
  return snapshot.coder.organizations.find(
    ({ id, name }) => name === pool.organization || id === pool.organization,
  );
}

/** Daemons whose tags are not their pool's: they were started with another pool's key. */
export function hasOtherTags(sight: TaskSight, pool: PoolConfig): boolean {
  return sight.daemon !== undefined && tagKey(sight.offers) !== tagKey(pool.tags);
}

type PoolInput = {
  readonly pool: PoolConfig;
  readonly snapshot: Snapshot;
  readonly protections: ReadonlyMap<string, Protection>;
  readonly byGroup: ReadonlyMap<string, readonly Task[]>;
  readonly indexes: ReadonlyMap<OrganizationSight, DaemonIndex>;
};

function readPool({ pool, snapshot, protections, byGroup, indexes }: PoolInput): PoolSight {
  const services = servicesOf(pool, snapshot);
  const service = services.length === 1 ? services[0] : undefined;
  const organization = organizationOf(pool, snapshot);
  const all = service === undefined ? [] : (byGroup.get(`service:${service.serviceName}`) ?? []);
  const index = organization && indexes.get(organization);
  const tasks = all
    .filter(isWanted)
    .toSorted((a, b) => compare(a.taskArn, b.taskArn))
    .map((task) =>
      readTask({
        task,
        pool,
        organization,
        index,
        now: snapshot.takenAt,
        protection: protections.get(task.taskArn),
      }),
    );
  return {
    pool,
    organization,
    service,
    rivals: services.length > 1 ? services : [],
    tasks,
    listed: all.filter(({ lastStatus }) => lastStatus !== 'STOPPED').length,
    missing: Math.max(0, (service?.desiredCount ?? 0) - tasks.length),
    failing: all.filter((task) => failedToStart(task, snapshot.takenAt)).length,
  };
}

function servicesOf(pool: PoolConfig, snapshot: Snapshot): readonly Service[] {
  return snapshot.ecs.services.items.filter(
    ({ status, tags }) =>
      status === 'ACTIVE' && tags.some(({ key, value }) => key === POOL_TAG && value === pool.name),
  );
}

/** ECS counts a task towards the desired count until it has decided to stop it. */
function isWanted(task: Task): boolean {
  return task.desiredStatus === 'RUNNING' && task.lastStatus !== 'STOPPED';
}

function failedToStart(task: Task, now: EpochMs): boolean {
  return task.stopCode === 'TaskFailedToStart' && now - (task.stoppedAt ?? now) <= FAILING_WINDOW_MS;
}

type TaskInput = {
  readonly task: Task;
  readonly pool: PoolConfig;
  readonly organization: OrganizationSight | undefined;
  readonly index: DaemonIndex | undefined;
  readonly now: EpochMs;
  readonly protection: Protection | undefined;
};

function readTask(input: TaskInput): TaskSight {
  const { task, pool, index } = input;
  const daemon = index?.ofTask(task);
  const use = readUse(input, daemon);
  return {
    task,
    daemon,
    use,
    state: readState(input, daemon),
    offers: normalizeTags(daemon?.tags ?? pool.tags),
    idleSince: daemon !== undefined && use === 'idle' ? index?.idleSince(daemon, task) : undefined,
  };
}

function readState(input: TaskInput, daemon: Daemon | undefined): TaskState {
  const { task, now, protection } = input;
  if (task.lastStatus !== 'RUNNING') return 'starting';
  if (protection?.protectionEnabled === true) {
    const leftMs = (protection.expirationDate ?? now) - now;
    return leftMs >= LEASE_MS ? 'working' : 'leaving';
  }
  if (hasLeft(input, daemon)) return 'left';
  return daemon === undefined && isBooting(task, now) ? 'starting' : 'unguarded';
}

/**
 * Left: nothing protects the task, and coderd says that no daemon of its can hold a job. An absent row
 * proves that only for a task that is too old to be booting, and only from readings that are whole.
 */
function hasLeft(
  { task, organization, index, now, protection }: TaskInput,
  daemon: Daemon | undefined,
): boolean {
  const isKnown = organization?.jobs.status === 'ok' && organization.daemons.status === 'ok';
  if (!isKnown || protection === undefined) return false;
  if (daemon === undefined) return !isBooting(task, now);
  return index?.activity(daemon) === 'offline';
}

function readUse({ task, organization, index, now }: TaskInput, daemon: Daemon | undefined): Use {
  const activity = daemon && index?.activity(daemon);
  if (activity === 'busy' || activity === 'idle') return activity;
  const isComing = daemon === undefined && isBooting(task, now);
  if (task.lastStatus !== 'RUNNING' || isComing) return 'registering';
  return organization?.daemons.status === 'ok' ? 'silent' : 'unknown';
}

function isBooting(task: Task, now: EpochMs): boolean {
  return now - (task.startedAt ?? now) < BOOT_MS;
}
