/** The doubts about the readings of each pool. Any one holds scale-in; scale-out continues. */

import type { EpochMs } from '../model/brands.ts';
import { by, sum, unique } from '../model/collections.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Doubt, Finding, ReadingName } from '../model/plan.ts';
import type {
  Daemon,
  HeartbeatsSeen,
  OrganizationReadings,
  Reading,
  ReadingStatus,
  Snapshot,
} from '../model/snapshot.ts';
import { awsTimeOf } from '../model/snapshot.ts';
import { MINUTE_MS } from '../model/units.ts';
import { compareVersion, OLDEST_SERVER } from '../model/version.ts';
import { countListed, isHeldBack } from './capacity.ts';
import { judgeHeartbeats } from './heartbeats.ts';
import { isOldRevision } from './older-tasks.ts';
import { isAlive, jobsByWorker, workerOf } from './rows/daemons.ts';
import { type ClusterLists, listsFor } from './rows/left-out.ts';
import type { PoolView } from './supply.ts';
import { lacksGuard, type TaskView } from './task-state.ts';

export type Doubts = {
  /** All doubts about a pool. Empty: the readings are trusted. */
  readonly doubtsOf: (view: PoolView) => readonly Doubt[];
  /** The findings about the readings. */
  readonly findings: readonly Finding[];
  /** What the next look remembers. */
  readonly heartbeats: readonly HeartbeatsSeen[];
};

/** Derives doubts and findings from the readings of one look. */
export function deriveDoubts(pools: readonly PoolView[], snapshot: Snapshot): Doubts {
  const organizations = snapshot.coder.organizations.toSorted(by(({ name }) => name));
  const ofOrganization = new Map(
    organizations.map((item) => [item, judgeOrganization(item, pools, snapshot)]),
  );
  const heartbeats = new Map(organizations.map((item) => [item, judgeHeartbeats(item, pools, snapshot)]));
  const everywhere = [...judgeServer(snapshot), ...judgeClocks(snapshot), ...judgeTaskTimes(snapshot)];
  return {
    doubtsOf: memoized((view) => {
      const { organization, pool } = view;
      const own = organization === undefined ? [unknownOrganization(view)] : ofOrganization.get(organization);
      const old = organization && heartbeats.get(organization)?.old;
      const found = [
        ...(own ?? []),
        ...(old?.filter(({ pools: names }) => names.includes(pool.name)) ?? []),
        ...everywhere,
        ...judgeLists(listsFor(view, snapshot.ecs)),
        ...judgePool(view),
      ];
      return [...new Set([...found.map(({ code }) => code), ...pausedScaleIn(view)])];
    }),
    findings: [
      ...unknownOrganizations(pools),
      ...organizations.flatMap((organization) => [
        ...(ofOrganization.get(organization) ?? []),
        ...(heartbeats.get(organization)?.old ?? []),
        ...(heartbeats.get(organization)?.late ?? []),
      ]),
      ...everywhere,
      ...judgeLists(snapshot.ecs),
      ...pools.flatMap(judgePool),
    ],
    heartbeats: [...heartbeats.values()].map(({ seen }) => seen),
  };
}

type DoubtFinding = Extract<Finding, { readonly code: Doubt }>;

function judgeOrganization(
  organization: OrganizationReadings,
  pools: readonly PoolView[],
  snapshot: Snapshot,
): readonly DoubtFinding[] {
  const { name, jobs, daemons, previousJobs } = organization;
  return [
    ...judgeReading('jobs', jobs, name),
    ...judgeReading('daemons', daemons, name),
    ...judgeReading('previous-jobs', previousJobs, name),
    ...judgeEmptiness(organization, pools, snapshot),
    ...judgeWorkers(organization, pools, snapshot.takenAt),
    ...judgeTimes(organization, snapshot.takenAt),
  ];
}

function judgeLists({ services, tasks, protections }: ClusterLists): readonly DoubtFinding[] {
  return [
    ...judgeReading('services', services),
    ...judgeReading('tasks', tasks),
    ...judgeReading('protections', protections),
  ];
}

function judgeTaskTimes(snapshot: Snapshot): readonly DoubtFinding[] {
  const now = awsTimeOf(snapshot);
  const { items } = snapshot.ecs.tasks;
  const newest = items.map(({ startedAt, createdAt }) => startedAt ?? createdAt ?? now);
  const seconds = secondsAhead(newest, now);
  return seconds > 0 ? [{ code: 'clocks-differ', where: 'tasks', seconds }] : [];
}

function judgeReading(
  name: ReadingName,
  reading: Reading<unknown>,
  organization?: string,
): readonly DoubtFinding[] {
  const status = effectiveStatus(reading);
  const { error, leftOut } = reading;
  const where = organization === undefined ? {} : { organization };
  return status === 'ok'
    ? []
    : [{ code: `${name}-${status}`, ...where, error, ...(leftOut && { leftOut: leftOut.length }) }];
}

/** As long as its limit: truncated, even if its status is ok (docs/internals/coder.md §1). */
function effectiveStatus({ status, limit = 0, items }: Reading<unknown>): ReadingStatus {
  return status === 'ok' && limit > 0 && items.length >= limit ? 'truncated' : status;
}

/** Older servers lack the needed list of jobs, so the autoscaler does nothing at all. */
function judgeServer({ coder }: Snapshot): readonly DoubtFinding[] {
  const version = coder.buildInfo?.version;
  const isOld = (compareVersion(version, OLDEST_SERVER) ?? 0) < 0;
  return [
    ...(version !== undefined && isOld
      ? [{ code: 'server-too-old', version, oldest: OLDEST_SERVER } as const]
      : []),
    // daemons that are connected go on building, and no other can take their place
    ...(coder.license === 'not_entitled' ? [{ code: 'license-missing' } as const] : []),
  ];
}

/** Finds empty lists that contradict other lists (docs/adr/0004). */
function judgeEmptiness(
  organization: OrganizationReadings,
  pools: readonly PoolView[],
  { takenAt: now, ecs: { cluster } }: Snapshot,
): readonly DoubtFinding[] {
  const { name, jobs, daemons } = organization;
  const found: DoubtFinding[] = [];
  if (isEmpty(daemons)) {
    const leased = leasedOf(pools.filter((view) => view.organization === organization));
    const [first] = leased;
    if (first !== undefined)
      found.push({
        code: 'daemons-empty-while-leased',
        organization: name,
        tasks: leased.length,
        cluster,
        task: first.task.taskArn,
      });
  }
  if (isEmpty(jobs)) {
    const busy = daemons.items.filter(
      (daemon) => isAlive(daemon, now) && isRunningJob(daemon.current_job),
    ).length;
    if (busy > 0) found.push({ code: 'jobs-empty-while-busy', organization: name, daemons: busy });
  }
  return found;
}

function isEmpty({ status, items }: Reading<unknown>): boolean {
  return status === 'ok' && items.length === 0;
}

/** The tasks with a lease, those that do not drain first. A daemon registers within seconds of its lease. */
function leasedOf(pools: readonly PoolView[]): readonly TaskView[] {
  return pools
    .flatMap(({ tasks }) => tasks)
    .filter(
      ({ state, isRefused, shouldHaveLease }) =>
        shouldHaveLease && !isRefused && (state === 'working' || state === 'leaving'),
    )
    .toSorted(
      by(
        ({ state }) => (state === 'working' ? 0 : 1),
        ({ task }) => task.taskArn,
      ),
    );
}

/** A job that is being cancelled keeps its daemon busy, but neither of the two job lists has it. */
function isRunningJob(job: Daemon['current_job']): boolean {
  return job != null && job.status !== 'canceling';
}

/** The maximum number of job ids in one finding. */
const JOBS_NAMED = 10;

/** A daemon may register and take a job between the readings of jobs and daemons. */
const BETWEEN_READINGS_MS = 10_000;

/**
 * The number of tasks whose daemons may have registered since. ECS's lists lag (docs/internals/aws.md §2), so they
 * may show such a task as PENDING, or not at all. These do not count if they may be of an old revision: then they may
 * have no guard, and no other rule holds the count for them.
 */
function registering(view: PoolView): number {
  const { tasks, missing, service } = view;
  if (service === undefined) return 0;
  const mayRun = ({ use, task }: TaskView): boolean =>
    use === 'registering' && (task.lastStatus === 'RUNNING' || !isOldRevision(task, service));
  const unlisted = isHeldBack(view) || service.deployments.length > 1 ? 0 : missing;
  return tasks.filter(mayRun).length + unlisted;
}

/**
 * Finds running jobs whose daemon is not listed. If a key is deleted, coderd deletes the rows of
 * its daemons, but their jobs run on (docs/internals/coder.md §3). This doubt does not expire:
 * coderd fails a job without updates after 5 minutes, so a running job has a daemon.
 */
function judgeWorkers(
  organization: OrganizationReadings,
  pools: readonly PoolView[],
  now: EpochMs,
): readonly DoubtFinding[] {
  const { name, jobs, daemons } = organization;
  if (daemons.status !== 'ok') return [];
  const unknown = new Set(jobsByWorker(jobs).keys());
  for (const { id } of daemons.items) unknown.delete(id);
  if (unknown.size === 0) return [];
  const unexplained = jobs.items.filter((job) => {
    const worker = workerOf(job);
    return worker !== undefined && unknown.has(worker);
  });
  const affected = pools.filter((view) => view.organization === organization);
  const isNew = unexplained.every(({ started_at }) => (started_at ?? 0) > now - BETWEEN_READINGS_MS);
  // a wrong guess does no harm if each task has a guard, or gets one
  const isGuarded = !affected.some(({ tasks }) => tasks.some(lacksGuard));
  if (isGuarded && isNew && unknown.size <= sum(affected, registering)) return [];
  const ids = unexplained.map(({ id }) => id).sort();
  return [
    {
      code: 'worker-unknown',
      organization: name,
      jobs: ids.length,
      jobIds: ids.slice(0, JOBS_NAMED),
      pools: affected.map(({ pool }) => pool.name),
    },
  ];
}

/** With a larger difference between clocks, lease times cannot be compared. */
const CLOCK_TOLERANCE_MS = MINUTE_MS;

function judgeTimes(
  { name, jobs, daemons, previousJobs, workspaces, templates }: OrganizationReadings,
  now: EpochMs,
): readonly DoubtFinding[] {
  const readAt = timesOf([jobs, daemons, previousJobs]);
  // readings of the forecast may be minutes old, so only times in the future show a problem
  const forecastAt = timesOf([workspaces, templates]);
  const ahead = {
    // the readings of one look are minutes apart: one of the clocks is wrong, or was set back
    readings: Math.max(secondsApart([now, ...readAt]), secondsAhead(forecastAt, now)),
    jobs: secondsAhead(
      jobs.items.map(({ created_at }) => created_at),
      now,
    ),
    daemons: secondsAhead(
      daemons.items.map(({ last_seen_at, created_at }) => last_seen_at ?? created_at),
      now,
    ),
  };
  return (['readings', 'jobs', 'daemons'] as const).flatMap((where) =>
    ahead[where] > 0
      ? [{ code: 'clocks-differ', where, organization: name, seconds: ahead[where] } as const]
      : [],
  );
}

function timesOf(readings: readonly (Reading<unknown> | undefined)[]): readonly EpochMs[] {
  return readings.flatMap((reading) =>
    reading?.status === 'ok' && reading.takenAt !== undefined ? [reading.takenAt] : [],
  );
}

function secondsApart(times: readonly EpochMs[]): number {
  const earliest = times.reduce((least, time) => (time < least ? time : least));
  return secondsAhead(times, earliest);
}

/** Compares coderd's clock with AWS's. Negative seconds: coderd is behind. */
function judgeClocks(snapshot: Snapshot): readonly DoubtFinding[] {
  const { status } = snapshot.ecs.services;
  const ahead = snapshot.takenAt - awsTimeOf(snapshot);
  if (status === 'failed' || status === 'forbidden' || Math.abs(ahead) <= CLOCK_TOLERANCE_MS) return [];
  return [{ code: 'clocks-differ', where: 'coderd', seconds: Math.round(ahead / 1000) }];
}

/** By how many whole seconds the latest of these times is after `now`; 0 within the tolerance. */
function secondsAhead(times: readonly EpochMs[], now: EpochMs): number {
  const latest = times.reduce((most, time) => (time > most ? time : most), now);
  return latest - now > CLOCK_TOLERANCE_MS ? Math.round((latest - now) / 1000) : 0;
}

function judgePool(view: PoolView): readonly DoubtFinding[] {
  return [...judgeDaemons(view), ...judgeCounts(view), ...judgeChanges(view), ...judgeOverrides(view)];
}

/** Somebody uses its name or host's name, or two share a row (docs/internals/coder.md §2). */
function judgeDaemons({ pool, tasks }: PoolView): readonly DoubtFinding[] {
  const shared = tasks.filter(({ rivals }) => rivals.length > 0);
  if (shared.length === 0) return [];
  const rows = shared.flatMap(({ daemon, rivals }) => [...(daemon === undefined ? [] : [daemon]), ...rivals]);
  const daemons = [...new Set(rows.map(({ name }) => name))].sort();
  const named = rows.map(({ id, key_name }) => ({ id, key: key_name ?? null })).toSorted(by('id'));
  return [{ code: 'daemons-share-task', pool: pool.name, tasks: shared.length, daemons, rows: named }];
}

/** ECS counts more tasks than it lists: the list is older than the count, or incomplete. */
function judgeCounts(view: PoolView): readonly DoubtFinding[] {
  const { pool, service } = view;
  const listed = countListed(view);
  const counted = service === undefined ? 0 : service.runningCount + service.pendingCount;
  return counted > listed
    ? [{ code: 'tasks-fewer-than-counted', pool: pool.name, counted, seen: listed }]
    : [];
}

/** So many changes by others within this time are no accident: something else sizes the pool too. */
const CONTESTED = { changes: 3, withinMs: 10 * MINUTE_MS } as const;

/** Each of our changes would be undone and would cost launches (docs/operate.md, "count-contested"). */
function judgeChanges({ pool, service }: PoolView): readonly DoubtFinding[] {
  const at = (service?.changesByOthers ?? []).toSorted(by((time) => time));
  const isContested = at.some((time, index) => {
    const last = at[index + CONTESTED.changes - 1];
    return last !== undefined && last - time <= CONTESTED.withinMs;
  });
  return isContested ? [{ code: 'count-contested', pool: pool.name, changes: at.length }] : [];
}

/** A malformed override may be meant to stop scale-in (docs/adr/0016). */
function judgeOverrides({ pool, malformed }: PoolView): readonly DoubtFinding[] {
  return malformed.map((override) => ({ code: 'override-malformed', pool: pool.name, ...override }));
}

function pausedScaleIn({ overrides }: PoolView): readonly Doubt[] {
  return overrides.some(({ kind }) => kind === 'pause' || kind === 'pause-scale-in')
    ? ['scale-in-paused']
    : [];
}

function unknownOrganization({ pool }: PoolView): DoubtFinding {
  return { code: 'organization-unknown', organization: pool.organization };
}

function unknownOrganizations(pools: readonly PoolView[]): readonly DoubtFinding[] {
  const unknown = pools.filter(({ organization }) => organization === undefined);
  return unique(unknown, ({ pool }) => pool.organization)
    .map(unknownOrganization)
    .toSorted(by((finding) => JSON.stringify(finding)));
}

/** Clocks that differ may hide the tasks of floors, others change the count, or daemons that look offline may live. */
export function launchesForJobsOnly(doubts: readonly Doubt[]): boolean {
  return doubts.some((doubt) => FOR_JOBS_ONLY.has(doubt));
}

const FOR_JOBS_ONLY: ReadonlySet<Doubt> = new Set(['clocks-differ', 'count-contested', 'heartbeats-old']);
