/** Computes the metric values of a look from its result and its log event. */
import { sum } from '../decision/model/collections.ts';
import type { DaemonCounts, Plan, PoolPlan } from '../decision/model/plan.ts';
import { DAY_MS } from '../decision/model/units.ts';
import type { LookResult } from '../look/look.ts';
import { isAtMax, type LookEvent, launchesOf } from '../look/look-event.ts';
import { orphansOf } from '../look/orphan-event.ts';
import type { JobWait } from '../look/waits/job-wait.ts';
import {
  CONTESTED_METRIC,
  DEAD_METRIC,
  LICENSE_METRIC,
  type MetricName,
  type PoolMetricName,
  type RareMetricName,
  STUCK_METRIC,
  TOKEN_METRIC,
  WAIT_METRICS,
  type WaitMetricName,
} from './metric-names.ts';

/** The values of ALARM_METRICS, and those of ACTIVITY_METRICS unless all are zero; ages are in seconds. */
export function lookMetrics(
  { plan, outcome }: LookResult,
  { pending, oldestPendingSeconds, unserved }: LookEvent,
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
  return {
    ...(Object.values(activity).some((value) => value !== 0) ? activity : {}),
    OldestPendingAge: oldestPendingSeconds,
    UnservedJobs: unserved,
    FailedStarts: total('failing'),
    PoolsAtMax: plan.pools.filter(isAtMax).length,
    TickAge: fullViewAgeSeconds,
  };
}

/** The values of POOL_METRICS. */
export function poolMetrics({
  pending,
  daemons,
  desired,
}: PoolPlan): Readonly<Record<PoolMetricName, number>> {
  return { PendingJobs: pending, BusyDaemons: daemons.busy, DesiredTasks: desired.to ?? 0 };
}

/** The values of the metrics that most looks do not emit; undefined: nothing is wrong. */
export function rareMetrics(plan: Plan): Readonly<Record<RareMetricName, number | undefined>> {
  const { findings, takenAt } = plan;
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
