/** Supply: the service, tasks, daemons and settings in force of every pool. */
import { type EpochMs, isSpotPart, lastPart, poolOfPart } from '../model/brands.ts';
import { compare, unique } from '../model/collections.ts';
import type { Config, PoolConfig } from '../model/config.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { MalformedOverride, Override } from '../model/plan.ts';
import { isForeign, isOwn, POOL_TAG, poolOfService, tagOf } from '../model/service-tags.ts';
import type { Daemon, OrganizationReadings, Protection, Service, Snapshot, Task } from '../model/snapshot.ts';
import { covers, normalizeTags, type TagSet } from '../model/tags.ts';
import { isKnownVersion } from '../model/version.ts';
import { deriveOverrides } from '../settings/overrides.ts';
import { partsOf } from '../settings/parts.ts';
import { type InForce, settingsInForce } from '../settings/settings-in-force.ts';
import { type Credential, deriveCredentials } from './credentials.ts';
import { type DaemonIndex, indexDaemons, nameInParts, taskId } from './daemons.ts';
import { listsFor } from './left-out.ts';
import { isOldRevision, withShutOut } from './older-tasks.ts';
import { type PoolStarts, startsOf } from './pool-starts.ts';
import { removedPools } from './removed-pools.ts';
import type { Share } from './spot.ts';
import { lateSince, type Registration, type Starts } from './starts.ts';
import {
  boundToLease,
  claimsOn,
  deriveTaskView,
  lacksGuard,
  leasedAt,
  type TaskView,
  withOneStart,
} from './task-state.ts';
import { claimants, judgeUnlisted } from './unlisted-daemons.ts';

export type PoolView = InForce &
  PoolStarts & {
    /** The pool as configured, without overrides. */
    readonly configured: PoolConfig;
    /** The active overrides, including those that change no setting. */
    readonly overrides: readonly Override[];
    readonly malformed: readonly MalformedOverride[];
    /** The pool's tags, normalized. */
    readonly tags: TagSet;
    readonly organization: OrganizationReadings | undefined;
    /** The index of its organization's daemons. */
    readonly index: DaemonIndex | undefined;
    /** The one with this pool's tag. Undefined: there is none, or there are several, and the autoscaler touches none. */
    readonly service: Service | undefined;
    /** All tasks that ECS intends to keep running, in order of ARN. */
    readonly tasks: readonly TaskView[];
    /** Whether the lists of services and tasks are whole, as far as they concern this pool. */
    readonly areTasksKnown: boolean;
    /** Whether this look could read everything that shows failed starts. */
    readonly areStartsKnown: boolean;
    /** The number of running tasks that are missing from the list but have busy daemons. */
    readonly unseen: number;
    /** Whether it may have a service whose row could not be read. */
    readonly isServiceUnread: boolean;
    /** Without one known service: the tasks that the pool has all the same. */
    readonly unmanaged: number;
    /** The number of desired tasks that do not exist yet. */
    readonly missing: number;
    /** The secrets that its tasks get, as far as AWS tells since when: the latest change first. */
    readonly credentials: readonly Credential[];
    /** All tasks that ECS lists, stopping and stopped ones too, and when their daemons registered. */
    readonly starts: Starts;
    /** The daemons of all listed tasks, stopping ones too, with all claimants: none is others' capacity. */
    readonly owned: ReadonlySet<Daemon>;
    /** The names of this pool's live daemons that have no task in any list. */
    readonly orphans: readonly string[];
    /** Of a part of a pool (turns/share.ts); undefined: the pool has no parts. */
    readonly share: Share | undefined;
  };

/** Derives the view of every pool, in order of name. */
export function deriveSupply(snapshot: Snapshot, config: Config): readonly PoolView[] {
  const protections = new Map(snapshot.ecs.protections.items.map((item) => [item.taskArn, item]));
  const tasks = unique(snapshot.ecs.tasks.items, ({ taskArn }) => taskArn);
  const byGroup = Map.groupBy(tasks, (task) => task.group ?? '');
  const indexes = new Map(
    snapshot.coder.organizations.map((view) => [view, indexDaemons(view, snapshot.takenAt)]),
  );
  return [...config.pools.flatMap(partsOf), ...removedPools(snapshot, config)]
    .toSorted((a, b) => compare(a.name, b.name))
    .map((pool) => derivePoolView({ pool, snapshot, protections, byGroup, indexes }));
}

/** By AWS's clock, which is the function's own too: for times that ECS wrote. */
export function awsTimeOf({ ecs, clock, takenAt }: Pick<Snapshot, 'ecs' | 'clock' | 'takenAt'>): EpochMs {
  return ecs.services.takenAt ?? clock ?? takenAt;
}

/** The organization of a pool, by name or UUID. */
function findOrganization(pool: PoolConfig, snapshot: Snapshot): OrganizationReadings | undefined {
  return snapshot.coder.organizations.find(
    ({ id, name }) => name === pool.organization || id === pool.organization,
  );
}

type PoolViewInput = {
  readonly pool: PoolConfig;
  readonly snapshot: Snapshot;
  readonly protections: ReadonlyMap<string, Protection>;
  readonly byGroup: ReadonlyMap<string, readonly Task[]>;
  readonly indexes: ReadonlyMap<OrganizationReadings, DaemonIndex>;
};

function derivePoolView({
  pool: configured,
  snapshot,
  protections,
  byGroup,
  indexes,
}: PoolViewInput): PoolView {
  const services = servicesOf(configured, snapshot.ecs);
  const service = services.length === 1 ? services[0] : undefined;
  const now = awsTimeOf(snapshot);
  const { active: overrides, malformed } = overridesOf(configured, snapshot);
  const organization = findOrganization(configured, snapshot);
  const { pool, minFrom } = settingsInForce(configured, overrides, organization);
  const all = service === undefined ? [] : (byGroup.get(`service:${service.serviceName}`) ?? []);
  const index = organization && indexes.get(organization);
  const given = (task: Task) => ({ task, pool, index, now, protection: protections.get(task.taskArn) });
  const claims = new Map(all.map((task) => [task, claimsOn(given(task))]));
  const owned = claimants([...claims.values()]);
  const isWhole = organization?.daemons.status === 'ok' && isKnownVersion(snapshot.coder.buildInfo?.version);
  const registered = (task: Task) => registration(claims.get(task)?.daemon, isWhole);
  const leased = (task: Task) => leasedAt(given(task));
  // coderd refused its daemon, which never dials again (docs/internals/coder.md §5). That is no failed start
  const { unlicensedAt = Number.NEGATIVE_INFINITY } = snapshot.coder;
  const isRefused = (task: Task) =>
    registered(task) === 'never' && (leased(task) ?? boundToLease(task, now)) < unlicensedAt;
  const credentials = deriveCredentials(configured, snapshot, now);
  const judged = {
    tasks: all,
    registration: (task: Task) => (isRefused(task) ? 'unknown' : registered(task)),
  };
  const { lateAfterMs, ...derivedStarts } = startsOf(judged, {
    ...{ pool, service, credentials, now },
    waitingSince: () => (snapshot.ecs.tasks.status === 'ok' ? waitingSince(pool, organization) : undefined),
    leasedAt: leased,
  });
  const { failing } = derivedStarts;
  const isFailing = failing.keepsEnding;
  const newest = Math.max(...all.filter((task) => typeof registered(task) === 'number').map(createdAt), 0);
  const derived = all
    .filter(isKeptRunning)
    .toSorted((a, b) => compare(a.taskArn, b.taskArn))
    .map((task) => {
      const lateness = { now, lateAfterMs, leasedAt: leased };
      const isTaskLate = lateSince(task, registered(task), lateness) !== undefined;
      const isOvertaken = newest > (task.startedAt ?? now);
      const judged = { isLate: isTaskLate, isRefused: isRefused(task), isOvertaken, isFailing };
      return deriveTaskView({ ...given(task), organization, ...judged });
    });
  // a task that starts without a guard gets its daemon at once
  const isGuarded = !derived.some(
    (task) => lacksGuard(task) && !(service && isOldRevision(task.task, service)),
  );
  const tasks = isFailing && isGuarded ? withOneStart(derived) : derived;
  const { busy, orphans } = judgeUnlisted({
    ...{ pool, index, owned },
    tasks: () => tasksOfPool(pool, snapshot, byGroup),
    now: snapshot.takenAt,
  });
  const lists = listsFor({ pool, service, tasks }, snapshot.ecs);
  const areTasksKnown = lists.services.status === 'ok' && lists.tasks.status === 'ok';
  const areDaemonsKnown = organization?.daemons.status === 'ok' && snapshot.coder.buildInfo !== undefined;
  // ECS's running count limits the busy daemons whose tasks are missing from an incomplete list
  const unseen = areTasksKnown ? 0 : Math.max(0, Math.min(busy, (service?.runningCount ?? 0) - all.length));
  return {
    pool,
    minFrom,
    ...{
      configured,
      overrides,
      malformed,
      organization,
      index,
      service,
      tasks,
      unseen,
      owned,
      areTasksKnown,
    },
    isServiceUnread: service === undefined && lists.services.status !== 'ok',
    unmanaged: service === undefined ? countUnmanaged(configured, { snapshot, byGroup, index }) : 0,
    areStartsKnown:
      service !== undefined && areTasksKnown && areDaemonsKnown && lists.protections.status === 'ok',
    tags: normalizeTags(pool.tags),
    // older tasks count as existing even if ECS may not count them: otherwise the autoscaler could
    // wait forever for a count that somebody lowered
    missing: Math.max(0, (service?.desiredCount ?? 0) - tasks.length - unseen),
    ...derivedStarts,
    credentials,
    starts: judged,
    ...(isGuarded && { failing: withShutOut(failing, { tasks, service, now }) }),
    orphans: service !== undefined && areTasksKnown && !isSpotPart(pool.name) ? orphans : [],
    share: undefined,
  };
}

/** Since when the oldest job waits that a pool can run. */
function waitingSince(
  { tags }: PoolConfig,
  organization: OrganizationReadings | undefined,
): EpochMs | undefined {
  const own = normalizeTags(tags);
  return organization?.jobs.items.reduce<EpochMs | undefined>(
    (oldest, { status, created_at: at, tags: wanted }) =>
      status === 'pending' && at < (oldest ?? at + 1) && covers(own, normalizeTags(wanted)) ? at : oldest,
    undefined,
  );
}

/** The services with a pool's tag: none of another stack; of no stack only if none has this stack's tag. */
export function servicesOf(pool: Pick<PoolConfig, 'name'>, ecs: Snapshot['ecs']): readonly Service[] {
  const tagged = activeServices(ecs).get(pool.name) ?? [];
  const own = tagged.filter((service) => isOwn(service, ecs.stack));
  return own.length > 0 ? own : tagged;
}

const activeServices = memoized(({ services, stack }: Snapshot['ecs']) =>
  Map.groupBy(
    unique(services.items, ({ serviceArn }) => serviceArn).filter(
      (service) => service.status === 'ACTIVE' && !isForeign(service, stack),
    ),
    (service) => tagOf(service, POOL_TAG),
  ),
);

/** Derives the overrides: those of the whole pool are on the service that has its name. */
function overridesOf({ name }: PoolConfig, snapshot: Snapshot) {
  const services = servicesOf({ name: poolOfPart(name) }, snapshot.ecs);
  const [service = { tags: [] }] = services.length === 1 ? services : [];
  return deriveOverrides(service, snapshot.takenAt);
}

/** The tasks of all parts: their daemons have the same name. */
function tasksOfPool(
  { name }: Pick<PoolConfig, 'name'>,
  { ecs }: Snapshot,
  byGroup: PoolViewInput['byGroup'],
): readonly Task[] {
  const pooled = poolOfPart(name);
  const services = ecs.services.items.filter((service) => poolOfService(service) === pooled);
  return services.flatMap(({ serviceName }) => byGroup.get(`service:${serviceName}`) ?? []);
}

/**
 * Counts the tasks of services that are several, that drain, whose rows could not be read, or that no list has.
 * Those of the last have tags; older ones lack them, so there are at least as many as coderd lists live daemons.
 */
function countUnmanaged(
  { name, spot }: PoolConfig,
  { snapshot, byGroup, index }: Pick<PoolViewInput, 'snapshot' | 'byGroup'> & Pick<PoolView, 'index'>,
): number {
  const { ecs } = snapshot;
  const pooled = poolOfPart(name);
  const tasksOf = (serviceName: string): readonly Task[] =>
    (byGroup.get(`service:${serviceName}`) ?? []).filter(isKeptRunning);
  const { items, leftOut = [] } = ecs.services;
  const own = items.filter((service) => tagOf(service, POOL_TAG) === name && !isForeign(service, ecs.stack));
  const daemons = index?.namedAfter(pooled) ?? [];
  const ids = new Set(daemons.map((daemon) => nameInParts(daemon.name).ending));
  const hidden = leftOut.flatMap(({ row, of }) => {
    const tasks = of === undefined || of === name ? tasksOf(lastPart(row)) : [];
    // whose service it is, only the names of the daemons tell
    return of === name ? tasks : tasks.filter(({ taskArn }) => ids.has(lastPart(taskArn)));
  });
  const tagged = [...byGroup.values()].flat().filter(({ tags = [] }) => poolOfService({ tags }) === pooled);
  const unlisted = tagged.filter((task) => isKeptRunning(task) && isOnSpot(task) === spot);
  const counted = [...own.flatMap(({ serviceName }) => tasksOf(serviceName)), ...hidden, ...unlisted];
  // the daemons of the other part's tasks have the same name
  const others = new Set([...tasksOfPool({ name }, snapshot, byGroup), ...tagged].map(taskId)).difference(
    new Set(counted.map(taskId)),
  );
  const live = daemons.filter(
    (daemon) => index?.activity(daemon) !== 'offline' && !others.has(nameInParts(daemon.name).ending),
  );
  return Math.max(counted.length, live.length);
}

const isOnSpot = ({ capacityProviderName }: Task): boolean => capacityProviderName === 'FARGATE_SPOT';

const createdAt = (task: Task): number => task.createdAt ?? 0;

/** ECS counts a task against the desired count until it has decided to stop it. */
function isKeptRunning(task: Task): boolean {
  return task.desiredStatus === 'RUNNING' && task.lastStatus !== 'STOPPED';
}

/** Only a list with offline daemons proves that none came (docs/internals/coder.md §2). */
function registration(daemon: Daemon | undefined, isWhole: boolean): Registration {
  return daemon?.created_at ?? (isWhole ? 'never' : 'unknown');
}
