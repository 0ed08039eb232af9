/** Computes the metric values of a look from its result and its log event. */
import type { PoolName } from '../decision/model/brands.ts';
import { sum } from '../decision/model/collections.ts';
import { type DaemonCounts, type FindingOf, isAtMax, type Plan } from '../decision/model/plan.ts';
import type { Reading, Snapshot } from '../decision/model/snapshot.ts';
import { DAY_MS } from '../decision/model/units.ts';
import { isAwaited, oldestAwaitedSeconds } from '../look/awaited.ts';
import type { LookResult } from '../look/look.ts';
import { type LookEvent, launchesOf } from '../look/look-event.ts';
import { orphansOf } from '../look/orphan-event.ts';
import type { JobWait } from '../look/waits/job-wait.ts';
import { areAllUnread, isBlind } from './full-view-age.ts';
import {
  BAD_ABOVE,
  CONTESTED_METRIC,
  DEAD_METRIC,
  LICENSE_METRIC,
  LOST_METRIC,
  type MetricName,
  type PoolMetricName,
  type RareMetricName,
  STUCK_METRIC,
  TOKEN_METRIC,
  WAIT_METRICS,
  type WaitMetricName,
} from './metric-names.ts';

/**
 * The values of ALARM_METRICS, and those of ACTIVITY_METRICS unless all are zero; ages are in seconds. What was not
 * read is no number, and ends no alarm: then only a value that is bad already is emitted.
 */
export function lookMetrics(
  { snapshot, plan, outcome }: LookResult,
  { pending, unserved }: Pick<LookEvent, 'pending' | 'unserved'>,
  fullViewAgeSeconds: number,
): Readonly<Partial<Record<MetricName, number>>> {
  const total = (state: keyof DaemonCounts): number => sum(plan.pools, ({ daemons }) => daemons[state] ?? 0);
  const activity = {
    PendingJobs: pending,
    BusyDaemons: total('busy'),
    IdleDaemons: total('idle'),
    StartingDaemons: total('starting'),
    Launches: launchesOf(outcome.applied),
  };
  const isActive = Object.values(activity).some((value) => value !== 0);
  const values = {
    OldestPendingAge: Math.max(
      oldestAwaitedSeconds(snapshot, plan),
      ...lostIn(plan).map(({ waitedMs }) => waitedMs / 1000),
    ),
    UnservedJobs: unserved,
    FailedStarts: total('failing') || failedBefore(plan),
    PoolsAtMax: plan.pools.filter((pool) => isAtMax(pool) && isAwaited(pool, plan)).length,
    TickAge: fullViewAgeSeconds,
  };
  const isRead = readIn(snapshot);
  const isKnown = (name: MetricName): boolean => (name === 'TickAge' ? !isBlind(snapshot) : isRead(name));
  const isBad = (name: keyof typeof values): boolean => name !== 'TickAge' && values[name] > BAD_ABOVE[name];
  return {
    ...(isActive ? pick<keyof typeof activity>(activity, isKnown) : {}),
    ...pick<keyof typeof values>(values, (name) => isKnown(name) || isBad(name)),
  };
}

function lostIn({ findings }: Pick<Plan, 'findings'>): readonly FindingOf<'jobs-never-started'>[] {
  return findings.filter((finding) => finding.code === 'jobs-never-started');
}

/** Starts that failed a while ago, and no start has worked since. */
function failedBefore({ findings }: Plan): number {
  return sum(findings, (finding) => {
    if (finding.code === 'starts-failing') return finding.tasks;
    return finding.code === 'placement-failing' ? Math.max(1, finding.tasks) : 0;
  });
}

type List = 'jobs' | 'daemons' | 'services' | 'tasks' | 'protections';

const TASKS: readonly List[] = ['services', 'tasks', 'protections', 'daemons'];

/** The lists from which each metric is derived. */
const LISTS: Readonly<Record<MetricName | PoolMetricName, readonly List[]>> = {
  ...{ PendingJobs: ['jobs'], OldestPendingAge: ['jobs'], UnservedJobs: ['jobs'] },
  ...{ BusyDaemons: TASKS, IdleDaemons: TASKS, StartingDaemons: TASKS, FailedStarts: TASKS },
  ...{ PoolsAtMax: ['jobs', ...TASKS], Launches: [], TickAge: [], DesiredTasks: ['services'] },
};

/** Whether all lists of a metric were read. */
function readIn(snapshot: Snapshot): (name: MetricName | PoolMetricName) => boolean {
  const unread = unreadLists(snapshot);
  return (name) => !LISTS[name].some((list) => unread.has(list));
}

/** A list that may be read again soon. One that coderd refuses for good counts only if it refuses all of them. */
function unreadLists({ coder: { organizations }, ecs }: Snapshot): ReadonlySet<List> {
  const lists: Readonly<Record<List, readonly Reading<unknown>[]>> = {
    jobs: organizations.map(({ jobs }) => jobs),
    daemons: organizations.map(({ daemons }) => daemons),
    ...{ services: [ecs.services], tasks: [ecs.tasks], protections: [ecs.protections] },
  };
  return new Set(entriesOf(lists).flatMap(([name, readings]) => (areUnread(readings) ? [name] : [])));
}

function areUnread(readings: readonly Reading<unknown>[]): boolean {
  return readings.some(({ status }) => status === 'failed' || status === 'stale') || areAllUnread(readings);
}

function pick<K extends string>(
  values: Readonly<Record<K, number>>,
  isKept: (name: K) => boolean,
): Partial<Record<K, number>> {
  const kept: Partial<Record<K, number>> = {};
  for (const [name, value] of entriesOf(values)) if (isKept(name)) kept[name] = value;
  return kept;
}

/** Of each pool: the values of POOL_METRICS, but of what could not be read. */
export function poolMetrics({
  snapshot,
  plan,
}: Pick<LookResult, 'snapshot' | 'plan'>): readonly (readonly [
  pool: PoolName,
  values: Partial<Record<PoolMetricName, number>>,
])[] {
  const isRead = readIn(snapshot);
  return plan.pools.map(({ name, pending, daemons, desired }) => {
    const values = { PendingJobs: pending, BusyDaemons: daemons.busy, DesiredTasks: desired.to ?? 0 };
    return [name, pick<PoolMetricName>(values, isRead)];
  });
}

/** The values of the metrics that most looks do not emit; undefined: nothing is wrong. */
export function rareMetrics({
  findings,
  takenAt,
}: Plan): Readonly<Record<RareMetricName, number | undefined>> {
  const stuck = sum(findings, (finding) =>
    finding.code === 'tasks-draining-without-daemon' || finding.code === 'tasks-draining-for-long'
      ? finding.tasks.length
      : 0,
  );
  const isUnlicensed = findings.some(({ code }) => code === 'license-missing' || code === 'license-in-grace');
  const token = findings.find((finding) => finding.code === 'token-expires');
  return {
    [TOKEN_METRIC]: token && (Date.parse(token.at) - Date.parse(takenAt)) / DAY_MS,
    [STUCK_METRIC]: stuck || undefined,
    [LICENSE_METRIC]: isUnlicensed ? 1 : undefined,
    [LOST_METRIC]: sum(lostIn({ findings }), ({ jobs }) => jobs) || undefined,
    [DEAD_METRIC]: orphansOf(findings).length || undefined,
    [CONTESTED_METRIC]: findings.filter(({ code }) => code === 'count-contested').length || undefined,
  };
}

/** The values of WAIT_METRICS that are not zero, in seconds. */
export function waitMetrics(waits: readonly JobWait[]): Partial<Record<WaitMetricName, number>> {
  const values: Partial<Record<WaitMetricName, number>> = {};
  for (const [name, parts] of entriesOf(WAIT_METRICS)) {
    const ms = sum(waits, (wait) => sum(parts, (part) => wait.parts[part] ?? 0));
    if (ms > 0) values[name] = ms / 1000;
  }
  return values;
}

function entriesOf<K extends string, V>(record: Readonly<Record<K, V>>): readonly (readonly [K, V])[] {
  return Object.entries(record) as unknown as readonly (readonly [K, V])[];
}
