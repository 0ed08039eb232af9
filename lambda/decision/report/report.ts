/**
 * The report of a look: how jobs are served, the unschedulable jobs, and the findings, from the
 * assignment and the supply.
 */
import type { Assignment } from '../assignment/assignment.ts';
import { unplacedTasks } from '../capacity/capacity.ts';
import { oldestOf, type TagGroup } from '../demand/demand.ts';
import type { EpochMs, TaskArn } from '../model/brands.ts';
import { by, partition } from '../model/collections.ts';
import type { Config } from '../model/config.ts';
import type { AssignmentRow, Finding, UnservedRow } from '../model/plan.ts';
import { isForeign, POOL_TAG, tagOf } from '../model/service-tags.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { covers, displayTags, type Tags, tagKey } from '../model/tags.ts';
import { daemonApiOf, isKnownVersion, releaseOfImage } from '../model/version.ts';
import type { Doubts } from '../supply/doubts.ts';
import { awsTimeOf, type PoolView } from '../supply/supply.ts';
import { drainedMs, type TaskView } from '../supply/task-state.ts';
import { deadBuildFindings } from './dead-builds.ts';
import { secretFindings, secretReadingFindings } from './secret-report.ts';
import { failsAt, isoTime, waitingFindings } from './waiting.ts';

/** Derives one row for each tag group and offer, in the order in which the groups are served. */
export function reportAssignment({ assigned }: Assignment<TagGroup>): readonly AssignmentRow[] {
  return assigned.map(({ group, offer, jobs }) => ({
    organization: group.organization,
    tags: displayTags(group.tags),
    for: group.for,
    jobs,
    pool: offer.pool,
    served: offer.served,
  }));
}

/** Derives the rows of unschedulable jobs, each with the pool that differs least. */
export function reportUnserved(
  { unserved }: Assignment<TagGroup>,
  pools: readonly PoolView[],
  snapshot: Snapshot,
): readonly UnservedRow[] {
  if (unserved.length === 0) return [];
  const types = pendingTypes(snapshot);
  return unserved.map((group) => {
    const near = pools.filter(({ organization }) => organization?.id === group.organizationId);
    return {
      organization: group.organization,
      tags: displayTags(group.tags),
      jobs: group.jobs,
      oldest: isoTime(oldestOf(group)),
      failsAt: failsAt(oldestOf(group), snapshot),
      types: types.get(group.key) ?? [],
      ...reasonUnserved(group, near),
    };
  });
}

/** The types of the pending jobs by the key of their tag group. There may be many groups. */
function pendingTypes({ coder }: Snapshot): ReadonlyMap<string, readonly string[]> {
  const pending = coder.organizations.flatMap(({ id, jobs }) =>
    jobs.items.flatMap(({ status, tags, type }) =>
      status === 'pending' ? [{ key: `${id} ${tagKey(tags)}`, type }] : [],
    ),
  );
  const byKey = Map.groupBy(pending, ({ key }) => key);
  return new Map([...byKey].map(([key, jobs]) => [key, [...new Set(jobs.map(({ type }) => type))].sort()]));
}

function reasonUnserved(group: TagGroup, near: readonly PoolView[]): Pick<UnservedRow, 'why' | 'closest'> {
  const own = near.filter(
    ({ tags: { scope, owner } }) => scope === group.tags.scope && owner === group.tags.owner,
  );
  if (own.length === 0 && group.tags.scope === 'user') return { why: 'scope-is-user', closest: null };
  if (near.length === 0) return { why: 'no-pool-in-this-organization', closest: null };
  const fitting = own.filter(({ tags }) => covers(tags, group.tags));
  if (fitting.length > 0) return { why: 'pool-is-retiring', closest: closestPool(group, fitting) };
  return { why: 'no-pool-has-these-tags', closest: closestPool(group, own.length > 0 ? own : near) };
}

function closestPool(group: TagGroup, pools: readonly PoolView[]): UnservedRow['closest'] {
  const [closest] = pools
    .map(({ pool, tags }) => ({ pool: pool.name, ...compareTags(tags, group.tags) }))
    .toSorted(
      by(
        ({ missing }) => Object.keys(missing).length,
        // a tag with a different value is closer than a missing tag: it is more likely a typing
        // error
        ({ has }) => -Object.keys(has).length,
        ({ surplus }) => Object.keys(surplus).length,
        ({ pool }) => pool,
      ),
    );
  return closest ?? null;
}

function compareTags(pool: Tags, job: Tags) {
  const pick = (tags: Tags, isPicked: (name: string, value: string) => boolean): Tags =>
    Object.fromEntries(Object.entries(tags).filter(([name, value]) => isPicked(name, value)));
  return {
    missing: pick(job, (name, value) => pool[name] !== value),
    has: pick(pool, (name, value) => Object.hasOwn(job, name) && job[name] !== value),
    surplus: pick(pool, (name) => !Object.hasOwn(job, name)),
  };
}

type Reported = {
  readonly supply: readonly PoolView[];
  readonly doubts: Doubts;
  readonly assignment: Assignment<TagGroup>;
  readonly snapshot: Snapshot;
  readonly config: Config;
};

/** None if coderd could not be read at all: then its version is not what is wrong. */
function versionFindings({ coder }: Snapshot): readonly Finding[] {
  const isRead =
    coder.buildInfo !== undefined || coder.organizations.some(({ jobs }) => jobs.status !== 'failed');
  return isKnownVersion(coder.buildInfo?.version) || !isRead ? [] : [{ code: 'version-unknown' }];
}

/** Derives all findings except those about the forecast. */
export function reportFindings({
  supply,
  doubts,
  assignment,
  snapshot,
  config,
}: Reported): readonly Finding[] {
  return [
    ...versionFindings(snapshot),
    ...tokenFindings(snapshot),
    ...licenseFindings(snapshot),
    ...secretReadingFindings(snapshot),
    ...doubts.findings,
    ...strayServices(snapshot, config, supply),
    ...poolsAlike(supply),
    ...supply.flatMap((pool) => [
      ...serviceFindings(pool, snapshot),
      ...imageFindings(pool, snapshot),
      ...startFindings(pool),
      ...taskFindings(pool),
      ...drainFindings(pool, snapshot.takenAt, doubts.doubtsOf(pool).length > 0),
      ...secretFindings(pool, awsTimeOf(snapshot)),
    ]),
    ...deadBuildFindings(supply, snapshot),
    ...waitingFindings(assignment, snapshot, config),
  ];
}

/** The finding appears early enough to create a new token. */
const TOKEN_DAYS_MS = 14 * 24 * 3_600_000;

function tokenFindings({ coder, takenAt }: Snapshot): readonly Finding[] {
  const expiresAt = coder.token?.expiresAt;
  if (expiresAt === undefined || expiresAt - takenAt >= TOKEN_DAYS_MS) return [];
  return [{ code: 'token-expires', at: isoTime(expiresAt) }];
}

function licenseFindings({ coder }: Snapshot): readonly Finding[] {
  if (coder.license === 'grace_period') return [{ code: 'license-in-grace' }];
  return coder.license === 'not_entitled' ? [{ code: 'license-missing' }] : [];
}

function strayServices(
  { ecs }: Snapshot,
  { pools }: Config,
  supply: readonly PoolView[],
): readonly Finding[] {
  const known = new Set<string>(pools.map(({ name }) => name));
  const drains = new Set(supply.flatMap(({ pool, service }) => (known.has(pool.name) ? [] : [service])));
  return ecs.services.items
    .filter((service) => service.status === 'ACTIVE' && !isForeign(service, ecs.stack))
    .flatMap((service) => {
      const pool = tagOf(service, POOL_TAG);
      if (pool === undefined || known.has(pool)) return [];
      const { serviceName } = service;
      return [
        { code: 'service-without-pool', pool, service: serviceName, drains: drains.has(service) } as const,
      ];
    })
    .toSorted(by(({ service }) => service));
}

/**
 * Finds pools of the same organization with the same tag set. The check of the configuration misses
 * them if one of them names the organization by UUID. A retiring pool may equal its successor.
 */
function poolsAlike(supply: readonly PoolView[]): readonly Finding[] {
  const known = supply.flatMap(({ pool, organization }) =>
    organization === undefined || pool.retiring ? [] : [{ pool, organization }],
  );
  const alike = Map.groupBy(known, ({ pool, organization }) => `${organization.id} ${tagKey(pool.tags)}`);
  return [...alike.values()].flatMap((members) => {
    const [first] = members;
    if (first === undefined || members.length < 2) return [];
    return [
      {
        code: 'pools-alike',
        organization: first.organization.name,
        pools: members.map(({ pool }) => pool.name),
      },
    ];
  });
}

function serviceFindings({ pool, rivals, service }: PoolView, { ecs }: Snapshot): readonly Finding[] {
  if (rivals.length > 0) {
    const services = rivals.map(({ serviceName }) => serviceName).sort();
    return [{ code: 'service-ambiguous', pool: pool.name, services }];
  }
  if (service === undefined)
    return ecs.services.status === 'ok' ? [{ code: 'service-missing', pool: pool.name }] : [];
  const { changedFrom: from, desiredCount: to } = service;
  return from === undefined ? [] : [{ code: 'count-changed-by-others', pool: pool.name, from, to }];
}

/**
 * coderd rejects a daemon that has a later API version than coderd (docs/internals/coder.md §5).
 */
function imageFindings({ pool }: PoolView, { coder }: Snapshot): readonly Finding[] {
  const version = coder.buildInfo?.version;
  if (version === undefined) return [];
  const server = daemonApiOf(version);
  const image = daemonApiOf(releaseOfImage(pool.image) ?? '');
  if (server === undefined || image === undefined || image <= server) return [];
  return [{ code: 'image-newer-than-server', pool: pool.name, image: pool.image, version }];
}

function startFindings(view: PoolView): readonly Finding[] {
  const { pool, failing, orphans, placement } = view;
  const found: Finding[] = [];
  const tasks = unplacedTasks(view);
  if (placement !== undefined && tasks > 0)
    found.push({
      code: 'placement-failing',
      pool: pool.name,
      tasks,
      since: isoTime(placement.since),
      reason: placement.reason,
    });
  if (failing.reason !== undefined && (failing.isTripped || failing.recent > 0))
    found.push({ code: 'starts-failing', pool: pool.name, tasks: failing.count, reason: failing.reason });
  if (orphans.length > 0) found.push({ code: 'daemons-without-task', pool: pool.name, daemons: orphans });
  return found;
}

function taskFindings({ pool, tasks }: PoolView): readonly Finding[] {
  const found: Finding[] = [];
  const stray = tasks.filter(({ hasOtherTags }) => hasOtherTags).flatMap(({ daemon }) => daemon?.name ?? []);
  if (stray.length > 0) found.push({ code: 'daemon-tags-differ', pool: pool.name, daemons: stray });
  const strangers = tasks
    .flatMap((task) => task.strangers)
    .map(({ name, key_name }) => ({ name, key: key_name ?? null }))
    .toSorted(by(({ name }) => name));
  if (strangers.length > 0) found.push({ code: 'possible-intruder', pool: pool.name, daemons: strangers });
  const unguarded = arns(tasks.filter(isAtRisk));
  if (unguarded.length > 0) found.push({ code: 'tasks-unguarded', pool: pool.name, tasks: unguarded });
  const silent = arns(tasks.filter(({ state, use }) => state === 'working' && use === 'silent'));
  if (silent.length > 0) found.push({ code: 'tasks-without-daemon', pool: pool.name, tasks: silent });
  const vacant = arns(tasks.filter(({ state, daemon }) => state === 'left' && daemon === undefined));
  if (vacant.length > 0) found.push({ code: 'tasks-vacant', pool: pool.name, tasks: vacant });
  return found;
}

/** A guard takes off the protection within a minute after its daemon has ended. */
const WITHOUT_DAEMON_MS = 30 * 60_000;
/** Nearly all builds are shorter. */
const LONG_DRAIN_MS = 6 * 3_600_000;

/**
 * Finds tasks that drain for too long. With doubts, a daemon may run although coderd does not list
 * it: deleting a key also deletes the rows of its daemons.
 */
function drainFindings(
  { pool: { name: pool }, tasks }: PoolView,
  now: EpochMs,
  isDoubtful: boolean,
): readonly Finding[] {
  const hasNoDaemon = (task: TaskView) => !isDoubtful && silentDrainMs(task, now) >= WITHOUT_DAEMON_MS;
  const [withoutDaemon, alive] = partition(tasks, hasNoDaemon);
  const longDraining = alive.filter((task) => (drainedMs(task) ?? 0) >= LONG_DRAIN_MS);
  const found: Finding[] = [];
  if (withoutDaemon.length > 0)
    found.push({ code: 'tasks-draining-without-daemon', pool, tasks: arns(withoutDaemon) });
  if (longDraining.length > 0)
    found.push({ code: 'tasks-draining-for-long', pool, tasks: arns(longDraining) });
  return found;
}

/** How long a task has drained at least without a live daemon, in milliseconds. */
function silentDrainMs(task: TaskView, now: EpochMs): number {
  if (task.use !== 'silent') return 0;
  return Math.min(drainedMs(task) ?? 0, now - (task.daemon?.last_seen_at ?? 0));
}

/** Whether a task runs a job without a lease. An idle daemon has most likely just left. */
function isAtRisk({ state, use, leaseMs }: TaskView): boolean {
  return state === 'unguarded' && use === 'busy' && leaseMs !== undefined;
}

function arns(tasks: readonly TaskView[]): readonly TaskArn[] {
  return tasks.map(({ task }) => task.taskArn);
}
