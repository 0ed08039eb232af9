/** The findings about the readings, the services and the tasks, from the supply and the doubts. */
import type { JobAssignment } from '../assign/assignment.ts';
import { deadBuildFindings } from '../deaths/dead-builds.ts';
import { isPollingCostly, jobsTookMs } from '../demand/polling.ts';
import { type EpochMs, isoTime, poolOfPart } from '../model/brands.ts';
import { by, groupsBy, sum, unique } from '../model/collections.ts';
import type { Config } from '../model/config.ts';
import { memoizedWith } from '../model/memoize-by-object.ts';
import type { Finding, TasksFinding } from '../model/plan.ts';
import { isForeign, POOL_TAG, tagOf } from '../model/service-tags.ts';
import type { Job, Reading, Snapshot } from '../model/snapshot.ts';
import { awsTimeOf } from '../model/snapshot.ts';
import { tagKey } from '../model/tags.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../model/units.ts';
import { daemonApiOf, isKnownVersion, releaseOfImage } from '../model/version.ts';
import { partsOf } from '../settings/parts.ts';
import { launchesElsewhere, unplacedTasks } from '../supply/capacity.ts';
import type { Doubts } from '../supply/doubts.ts';
import { deriveEcsWait } from '../supply/hidden/ecs-wait.ts';
import { servicesOf } from '../supply/rows/pool-rows.ts';
import type { PoolView } from '../supply/supply.ts';
import { drainedMs, type TaskView } from '../supply/task-state.ts';
import { lostJobs } from './lost-jobs.ts';
import { notTriedSince } from './not-tried.ts';
import { secretFindings, secretReadingFindings } from './secret-report.ts';
import { waitingFindings } from './waiting.ts';

type Reported = {
  readonly supply: readonly PoolView[];
  readonly doubts: Doubts;
  readonly assignment: JobAssignment;
  readonly snapshot: Snapshot;
  readonly config: Config;
};

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
    ...pollingFindings(snapshot),
    ...tokenFindings(snapshot),
    ...licenseFindings(snapshot),
    ...secretReadingFindings(snapshot),
    ...doubts.findings,
    ...strayServices(snapshot, config, supply),
    ...poolsAlike(supply),
    ...supply.flatMap((pool) => [
      ...serviceFindings(pool, snapshot),
      ...imageFindings(pool, snapshot),
      ...startFindings(pool, snapshot),
      ...daemonFindings(pool),
      ...tasksFindings(pool, snapshot.takenAt, doubts.doubtsOf(pool).length > 0),
      ...secretFindings(pool, awsTimeOf(snapshot)),
    ]),
    ...deadBuildFindings(supply, snapshot),
    ...waitingFindings(assignment, snapshot, config),
    ...lostJobs(supply, snapshot),
  ];
}

/** None if coderd could not be read at all: then its version is not what is wrong. */
function versionFindings({ coder }: Snapshot): readonly Finding[] {
  const isRead =
    coder.buildInfo !== undefined || coder.organizations.some(({ jobs }) => jobs.status !== 'failed');
  return isKnownVersion(coder.buildInfo?.version) || !isRead ? [] : [{ code: 'version-unknown' }];
}

function pollingFindings({ coder }: Snapshot): readonly Finding[] {
  if (!isPollingCostly(coder)) return [];
  const jobs = sum(coder.organizations, (organization) => organization.jobs.items.length);
  return [{ code: 'jobs-list-slow', seconds: Math.round(jobsTookMs(coder) / 100) / 10, jobs }];
}

/** The finding appears early enough to create a new token. */
const TOKEN_DAYS_MS = 14 * DAY_MS;

function tokenFindings({ coder, takenAt }: Snapshot): readonly Finding[] {
  const expiresAt = coder.token?.expiresAt;
  if (expiresAt === undefined || expiresAt - takenAt >= TOKEN_DAYS_MS) return [];
  return [{ code: 'token-expires', at: isoTime(expiresAt) }];
}

function licenseFindings({ coder }: Snapshot): readonly Finding[] {
  return coder.license === 'grace_period' ? [{ code: 'license-in-grace' }] : [];
}

function strayServices(
  { ecs }: Snapshot,
  { pools }: Config,
  supply: readonly PoolView[],
): readonly Finding[] {
  const known = new Set<string>(pools.flatMap(partsOf).map(({ name }) => name));
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
  const written = unique(known, ({ pool }) => poolOfPart(pool.name));
  return groupsBy(written, ({ pool, organization }) => `${organization.id} ${tagKey(pool.tags)}`)
    .filter(({ length }) => length > 1)
    .map((members) => ({
      code: 'pools-alike',
      organization: members[0].organization.name,
      pools: members.map(({ pool }) => pool.name),
    }));
}

function serviceFindings({ pool, service }: PoolView, { ecs }: Snapshot): readonly Finding[] {
  const rivals = servicesOf(pool, ecs);
  if (rivals.length > 1) {
    const services = rivals.map(({ serviceName }) => serviceName).sort();
    return [{ code: 'service-ambiguous', pool: pool.name, services }];
  }
  if (service === undefined)
    return ecs.services.status === 'ok' ? [{ code: 'service-missing', pool: pool.name }] : [];
  const { changedFrom: from, desiredCount: to } = service;
  return from === undefined ? [] : [{ code: 'count-changed-by-others', pool: pool.name, from, to }];
}

/** coderd rejects a daemon with a later API version (docs/internals/coder.md §5). */
function imageFindings({ pool }: PoolView, { coder }: Snapshot): readonly Finding[] {
  const { version = '' } = coder.buildInfo ?? {};
  const server = daemonApiOf(version);
  const image = daemonApiOf(releaseOfImage(pool.image) ?? '');
  if (server === undefined || image === undefined || image <= server) return [];
  return [{ code: 'image-newer-than-server', pool: pool.name, image: pool.image, version }];
}

function startFindings(view: PoolView, snapshot: Snapshot): readonly Finding[] {
  const { pool, failing, orphans, placement } = view;
  const found: Finding[] = [];
  const tasks = unplacedTasks(view);
  const wait = deriveEcsWait(view, snapshot);
  const { ofStarts, ofPlacement } = notTriedSince(view, awsTimeOf(snapshot));
  const isPlaced = tasks === 0 && ofPlacement === undefined;
  if (placement !== undefined && !isPlaced && !launchesElsewhere(view) && wait === undefined)
    found.push({
      code: 'placement-failing',
      pool: pool.name,
      tasks,
      since: isoTime(placement.since),
      reason: placement.reason,
      ...(ofPlacement !== undefined && { notTriedSince: isoTime(ofPlacement) }),
    });
  if (failing.reason !== undefined && (failing.isTripped || failing.recent > 0 || ofStarts !== undefined))
    found.push({
      code: 'starts-failing',
      pool: pool.name,
      tasks: failing.count,
      reason: failing.reason,
      ...(ofStarts !== undefined && { notTriedSince: isoTime(ofStarts) }),
    });
  if (wait !== undefined) {
    const { cluster } = snapshot.ecs;
    found.push({ code: 'starts-throttled', pool: pool.name, cluster, ...wait, since: isoTime(wait.since) });
  }
  if (orphans.length > 0) found.push({ code: 'daemons-without-task', pool: pool.name, daemons: orphans });
  return found;
}

function daemonFindings({ pool, tasks }: PoolView): readonly Finding[] {
  const found: Finding[] = [];
  const stray = tasks.filter(({ hasOtherTags }) => hasOtherTags).flatMap(({ daemon }) => daemon?.name ?? []);
  if (stray.length > 0) found.push({ code: 'daemon-tags-differ', pool: pool.name, daemons: stray });
  const strangers = tasks
    .flatMap((task) => task.strangers)
    .map(({ name, key_name }) => ({ name, key: key_name ?? null }))
    .toSorted(by(({ name }) => name));
  if (strangers.length > 0) found.push({ code: 'possible-intruder', pool: pool.name, daemons: strangers });
  return found;
}

/** A guard takes off the protection within a minute after its daemon has ended. */
const WITHOUT_DAEMON_MS = 30 * MINUTE_MS;
/** Nearly all builds are shorter. */
const LONG_DRAIN_MS = 6 * HOUR_MS;
const LONG_JOB_MS = DAY_MS;

/** With doubts a draining task may have a daemon although coderd does not list it. */
function tasksFindings(
  { pool: { name: pool }, tasks: all, organization }: PoolView,
  now: EpochMs,
  isDoubtful: boolean,
): readonly Finding[] {
  const hasNoDaemon = (task: TaskView) => !isDoubtful && silentDrainMs(task, now) >= WITHOUT_DAEMON_MS;
  const ofLongJobs = organization && workersOfLongJobs(organization.jobs, { now });
  const found = {
    'tasks-unguarded': isAtRisk,
    'tasks-lease-late': (task) => isLeaseLate(task, now),
    'tasks-without-daemon': ({ state, use }) => state === 'working' && use === 'silent',
    'tasks-vacant': ({ state, daemon }) => state === 'left' && daemon === undefined,
    'tasks-draining-without-daemon': hasNoDaemon,
    'tasks-draining-for-long': (task) => !hasNoDaemon(task) && (drainedMs(task) ?? 0) >= LONG_DRAIN_MS,
    'tasks-busy-for-long': ({ state, daemon }) => state !== 'leaving' && ofLongJobs?.has(daemon?.id) === true,
  } satisfies Readonly<Record<TasksFinding, (task: TaskView) => boolean>>;
  return Object.entries(found).flatMap(([code, applies]) => {
    const tasks = all.filter(applies).map(({ task }) => task.taskArn);
    return tasks.length === 0 ? [] : [{ code: code as TasksFinding, pool, tasks }];
  });
}

const workersOfLongJobs = memoizedWith(
  ({ items }: Reading<Job>, { now }: { readonly now: EpochMs }) =>
    new Set<unknown>(
      items
        .filter(({ status, started_at }) => status === 'running' && now - (started_at ?? now) >= LONG_JOB_MS)
        .map(({ worker_id }) => worker_id),
    ),
);

/** How long a task has drained at least without a live daemon, in milliseconds. */
function silentDrainMs(task: TaskView, now: EpochMs): number {
  if (task.use !== 'silent') return 0;
  return Math.min(drainedMs(task) ?? 0, now - (task.daemon?.last_seen_at ?? 0));
}

/** A guard takes its lease within seconds. */
const FIRST_LEASE_MS = 5 * MINUTE_MS;
/** A guard sets 48 h anew every 21 minutes at the latest, or after twice that if ECS refuses it once. */
const RENEWED_ABOVE_MS = 47 * HOUR_MS;

function isLeaseLate({ state, task, leaseMs }: TaskView, now: EpochMs): boolean {
  if (state === 'working') return leaseMs !== undefined && leaseMs < RENEWED_ABOVE_MS;
  const isRunning = state === 'starting' && task.lastStatus === 'RUNNING';
  return isRunning && leaseMs === 0 && now - (task.startedAt ?? now) >= FIRST_LEASE_MS;
}

/** Whether a task runs a job without a lease. An idle daemon has most likely just left. */
function isAtRisk({ state, use, leaseMs }: TaskView): boolean {
  return state === 'unguarded' && use === 'busy' && leaseMs !== undefined;
}
