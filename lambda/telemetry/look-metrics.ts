/** Computes the metric values of a look from its result and its log event. */

import { sum } from '../decision/model/collections.ts';
import type { DaemonCounts, Plan, PoolPlan } from '../decision/model/plan.ts';
import { DAY_MS } from '../decision/model/units.ts';
import type { JobWait } from '../decision/waits/job-wait.ts';
import type { LookResult } from '../look/look.ts';
import { isAtMax, type LookEvent, launchesOf } from '../look/look-event.ts';
import { orphansOf } from '../look/orphan-event.ts';
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

/** The values of METRICS; ages are in seconds. */
export function lookMetrics(
  { plan, outcome }: LookResult,
  { pending, oldestPendingSeconds, unserved }: LookEvent,
  fullViewAgeSeconds: number,
): Readonly<Record<MetricName, number>> {
  const total = (state: keyof DaemonCounts): number => sum(plan.pools, ({ daemons }) => daemons[state]);
  return {
    PendingJobs: pending,
    OldestPendingAge: oldestPendingSeconds,
    UnservedJobs: unserved,
    BusyDaemons: total('busy'),
    IdleDaemons: total('idle'),
    StartingDaemons: total('starting'),
    Launches: launchesOf(outcome.applied),
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

/** The value of STUCK_METRIC; undefined if every draining task leaves in time. */
export function stuckTasks({ findings }: Plan): number | undefined {
  const stuck = sum(findings, (finding) =>
    finding.code === 'tasks-draining-without-daemon' || finding.code === 'tasks-draining-for-long'
      ? finding.tasks.length
      : 0,
  );
  return stuck === 0 ? undefined : stuck;
}

/** The value of LICENSE_METRIC; undefined if the license is in order or unknown. */
export function licenseProblem({ findings }: Plan): number | undefined {
  return findings.some(({ code }) => code === 'license-missing' || code === 'license-in-grace')
    ? 1
    : undefined;
}

/** The value of DEAD_METRIC; undefined if no build died with its task. */
export function deadBuilds({ findings }: Plan): number | undefined {
  return orphansOf(findings).length || undefined;
}

/** The value of CONTESTED_METRIC; undefined if nothing else sizes a pool. */
export function contestedPools({ findings }: Plan): number | undefined {
  return findings.filter(({ code }) => code === 'count-contested').length || undefined;
}

/** The values of the metrics that most looks do not emit. */
export function rareMetrics(plan: Plan): Readonly<Record<RareMetricName, number | undefined>> {
  return {
    [TOKEN_METRIC]: tokenDaysLeft(plan),
    [STUCK_METRIC]: stuckTasks(plan),
    [LICENSE_METRIC]: licenseProblem(plan),
    [DEAD_METRIC]: deadBuilds(plan),
    [CONTESTED_METRIC]: contestedPools(plan),
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

/** The value of TOKEN_METRIC, in days; undefined if the token does not expire soon. */
export function tokenDaysLeft({ findings, takenAt }: Plan): number | undefined {
  const finding = findings.find(({ code }) => code === 'token-expires');
  return finding?.code === 'token-expires'
    ? (Date.parse(finding.at) - Date.parse(takenAt)) / DAY_MS
    : undefined;
}
