/** Supply: what every pool has, from the readings of ECS and coderd. */
import type { EpochMs } from '../model/brands.ts';
import { compare, unique } from '../model/collections.ts';
import type { Config, PoolConfig } from '../model/config.ts';
import type { MalformedOverride, Override, StartTime } from '../model/plan.ts';
import { isForeign, isOwn, POOL_TAG, tagOf } from '../model/service-tags.ts';
import type { Daemon, OrganizationReadings, Protection, Service, Snapshot, Task } from '../model/snapshot.ts';
import { normalizeTags, type TagSet } from '../model/tags.ts';
import { isKnownVersion } from '../model/version.ts';
import { deriveOverrides } from '../settings/overrides.ts';
import { type InForce, settingsInForce } from '../settings/settings-in-force.ts';
import { type DaemonIndex, indexDaemons, isAlive, poolNamed, taskId } from './daemons.ts';
import { deriveFailingStarts, type FailingStarts } from './failing-starts.ts';
import { countOlder, type OlderTasks } from './older-tasks.ts';
import { derivePlacement, type PlacementFailure } from './placement.ts';
import { learnStartTime } from './start-time.ts';
import { readTask, type TaskView } from './task-state.ts';

export type PoolView = InForce & {
  /** As the configuration has it, whatever is in force. */
  readonly configured: PoolConfig;
  /** Those that hold now, whether they change a setting or not. */
  readonly overrides: readonly Override[];
  readonly malformed: readonly MalformedOverride[];
  /** Those of the pool, normalised. */
  readonly tags: TagSet;
  readonly organization: OrganizationReadings | undefined;
  /** The daemons of its organization. */
  readonly index: DaemonIndex | undefined;
  readonly service: Service | undefined;
  /** More than one service with this pool's tag: none of them is touched. */
  readonly rivals: readonly Service[];
  /** All that ECS means to keep running, in order of ARN. */
  readonly tasks: readonly TaskView[];
  /** All tasks of the service in the list that have not stopped, those on their way out included. */
  readonly listed: number;
  /** Running tasks that could not be read, whose daemons are busy. */
  readonly unseen: number;
  /** Tasks that are desired and not there yet. */
  readonly missing: number;
  /** Why ECS cannot place those; undefined: it can, as far as its events tell. */
  readonly placement: PlacementFailure | undefined;
  readonly olderTasks: OlderTasks;
  readonly failing: FailingStarts;
  readonly startTime: StartTime;
  /** The daemons of all its listed tasks, those on their way out included. */
  readonly owned: ReadonlySet<Daemon>;
  /** Names of live daemons of this pool that no task in any list explains. */
  readonly orphans: readonly string[];
};

/** Reads the state of every pool, in order of name. */
export function deriveSupply(snapshot: Snapshot, config: Config): readonly PoolView[] {
  const protections = new Map(snapshot.ecs.protections.items.map((item) => [item.taskArn, item]));
  const tasks = unique(snapshot.ecs.tasks.items, ({ taskArn }) => taskArn);
  const byGroup = Map.groupBy(tasks, (task) => task.group ?? '');
  const indexes = new Map(
    snapshot.coder.organizations.map((view) => [view, indexDaemons(view, snapshot.takenAt)]),
  );
  return config.pools
    .toSorted((a, b) => compare(a.name, b.name))
    .map((pool) => readPool({ pool, snapshot, protections, byGroup, indexes }));
}

/** Now by AWS's clock, with which times that ECS wrote are compared. The function's own clock is AWS's, too. */
export function awsTimeOf({ ecs, clock, takenAt }: Pick<Snapshot, 'ecs' | 'clock' | 'takenAt'>): EpochMs {
  return ecs.services.takenAt ?? clock ?? takenAt;
}

/** The organization of a pool, by name or UUID. */
function organizationOf(pool: PoolConfig, snapshot: Snapshot): OrganizationReadings | undefined {
  return snapshot.coder.organizations.find(
    ({ id, name }) => name === pool.organization || id === pool.organization,
  );
}

type PoolInput = {
  readonly pool: PoolConfig;
  readonly snapshot: Snapshot;
  readonly protections: ReadonlyMap<string, Protection>;
  readonly byGroup: ReadonlyMap<string, readonly Task[]>;
  readonly indexes: ReadonlyMap<OrganizationReadings, DaemonIndex>;
};

function readPool({ pool: configured, snapshot, protections, byGroup, indexes }: PoolInput): PoolView {
  const services = servicesOf(configured, snapshot);
  const service = services.length === 1 ? services[0] : undefined;
  const now = awsTimeOf(snapshot);
  const { active: overrides, malformed } = deriveOverrides(service ?? { tags: [] }, snapshot.takenAt);
  const organization = organizationOf(configured, snapshot);
  const { pool, minFrom } = settingsInForce(configured, overrides, organization);
  const all = service === undefined ? [] : (byGroup.get(`service:${service.serviceName}`) ?? []);
  const index = organization && indexes.get(organization);
  const daemons = new Map(all.map((task) => [task, index?.ofTask(task)]));
  const owned = new Set([...daemons.values()].filter((daemon) => daemon !== undefined));
  const tasks = all
    .filter(isWanted)
    .toSorted((a, b) => compare(a.taskArn, b.taskArn))
    .map((task) =>
      readTask({
        task,
        pool,
        organization,
        index,
        now,
        protection: protections.get(task.taskArn),
      }),
    );
  const unseen =
    snapshot.ecs.tasks.status === 'ok' ? 0 : busyUnseen({ pool, tasks: all, index, owned }, service);
  const olderTasks =
    service === undefined ? { older: 0, uncounted: 0 } : countOlder(all.filter(isWanted), service);
  // in doubt whether ECS counts old tasks nothing more is expected: else a count that somebody lowered is waited for without end
  const missing = Math.max(0, (service?.desiredCount ?? 0) - tasks.length - unseen);
  const isWhole = organization?.daemons.status === 'ok' && isKnownVersion(snapshot.coder.buildInfo?.version);
  const registered = (task: Task) => registration(daemons.get(task), isWhole);
  const inForce = whileBlind({ pool, minFrom }, { organization, tasks: all, now });
  return {
    ...inForce,
    configured,
    overrides,
    malformed,
    tags: normalizeTags(pool.tags),
    organization,
    index,
    service,
    rivals: services.length > 1 ? services : [],
    tasks,
    listed: all.filter(({ lastStatus }) => lastStatus !== 'STOPPED').length,
    unseen,
    missing,
    placement: service && derivePlacement(service, all, now),
    olderTasks,
    failing: deriveFailingStarts({ tasks: all, now, registration: registered }),
    startTime: learnStartTime({ tasks: all, registration: registered, settingMs: pool.startTimeMs }),
    owned,
    orphans:
      service !== undefined && snapshot.ecs.tasks.status === 'ok'
        ? orphansOf({ pool, tasks: all, index, owned }, snapshot.takenAt)
        : [],
  };
}

/** While coderd can't be read, a floor of its own holds, unless daemons exit as soon as they start: they can't reach coderd either. */
function whileBlind(inForce: InForce, { organization, tasks, now }: Blind): InForce {
  const { pool } = inForce;
  const { floor } = pool.whenBlind;
  if (floor <= pool.min || !isUnread(organization)) return inForce;
  // nothing tells whether a daemon registered, so what has stopped counts as failed
  const failing = deriveFailingStarts({ tasks, now, registration: () => 'never' });
  return failing.isTripped ? inForce : { pool: { ...pool, min: floor }, minFrom: 'when-blind' };
}

type Blind = Pick<PoolView, 'organization'> & { readonly tasks: readonly Task[]; readonly now: EpochMs };

function isUnread(organization: OrganizationReadings | undefined): boolean {
  if (organization === undefined) return true;
  const { jobs, daemons } = organization;
  return [jobs, daemons].some(({ status }) => status === 'failed' || status === 'forbidden');
}

/** Those of another stack never; those without a stack tag only where none has the own one. */
function servicesOf(pool: PoolConfig, { ecs }: Snapshot): readonly Service[] {
  const tagged = unique(ecs.services.items, ({ serviceArn }) => serviceArn).filter(
    (service) =>
      service.status === 'ACTIVE' && tagOf(service, POOL_TAG) === pool.name && !isForeign(service, ecs.stack),
  );
  const own = tagged.filter((service) => isOwn(service, ecs.stack));
  return own.length > 0 ? own : tagged;
}

/** ECS counts a task towards the desired count until it has decided to stop it. */
function isWanted(task: Task): boolean {
  return task.desiredStatus === 'RUNNING' && task.lastStatus !== 'STOPPED';
}

/** An absent row proves that no daemon came only where offline ones are listed too (docs/coder.md §2). */
function registration(daemon: Daemon | undefined, isWhole: boolean): EpochMs | 'never' | 'unknown' {
  return daemon?.created_at ?? (isWhole ? 'never' : 'unknown');
}

type Unlisted = Pick<PoolView, 'pool' | 'index' | 'owned'> & { readonly tasks: readonly Task[] };

/** Busy daemons whose tasks are in no list, since it could not be read: no more than ECS counts as running. */
function busyUnseen(given: Unlisted, service: Service | undefined): number {
  const { index, tasks } = given;
  const busy = unlisted(given).filter((daemon) => index?.activity(daemon) === 'busy').length;
  return Math.max(0, Math.min(busy, (service?.runningCount ?? 0) - tasks.length));
}

function orphansOf(given: Unlisted, now: EpochMs): readonly string[] {
  return unlisted(given)
    .filter((daemon) => isAlive(daemon, now))
    .map(({ name }) => name)
    .sort();
}

/** The daemons that are named after a pool and none of these tasks. */
function unlisted({ pool, tasks, index, owned }: Unlisted): readonly Daemon[] {
  const others = (index?.namedAfter(pool.name) ?? []).filter((daemon) => !owned.has(daemon));
  if (others.length === 0) return [];
  const ids = new Set(tasks.map(taskId));
  return others.filter(({ name }) => !ids.has(name.slice(pool.name.length + 1)));
}

/**
 * Not one of ours: no task of a pool holds it, and it does not have the name that a pool's daemon would have
 * (those whose task is gone still read idle for up to 90 s, docs/coder.md §2).
 */
export function foreignTo(pools: readonly PoolView[]): (daemon: Daemon) => boolean {
  const names = new Set<string>(pools.map(({ pool }) => pool.name));
  return (daemon) => {
    const named = poolNamed(daemon);
    if (named !== undefined && names.has(named)) return false;
    return !pools.some(({ owned }) => owned.has(daemon));
  };
}
