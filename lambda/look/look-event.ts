/**
 * Builds the log event of a look: numbers for saved queries
 * (infra/constructs/watching/log-queries.ts) and sentences for the person on call. A look has one
 * event, whatever the size of the deployment.
 */
import { lastPart, poolOfPart } from '../decision/model/brands.ts';
import { sum } from '../decision/model/collections.ts';
import { type Action, isAtMax, type PoolPlan } from '../decision/model/plan.ts';
import { findingLines } from '../explain/finding-text.ts';
import { plainLine } from '../explain/format.ts';
import { cutLists } from '../explain/truncate-rows.ts';
import type { Outcome } from './apply.ts';
import type { LookResult } from './look.ts';
import { groupRows } from './look-groups.ts';

export type Look = {
  readonly result: LookResult;
  /** Requests by API, as `lambda/adapters/shared/calls.ts` counts them. */
  readonly calls: Readonly<Record<string, { readonly requests: number; readonly throttled: number }>>;
  readonly durationMs: number;
};

export type LookEvent = ReturnType<typeof lookEvent>;

/**
 * CloudWatch used to accept at most 256 KiB per event. It splits a longer line into pieces that no
 * query can read. 50 pools fit completely; the other lists share the rest.
 */
const MAX_BYTES = {
  pools: 128 * 1024,
  groups: 32 * 1024,
  actions: 24 * 1024,
  findings: 24 * 1024,
  failures: 16 * 1024,
  forecast: 4 * 1024,
} as const;
/** Limits each sentence, so that one with a server's whole answer leaves space for the others. */
const LONGEST_TEXT = 2_000;

/** Builds the log event of a look. `waitsMissed`: as `StartedWaits.missed`. */
export function lookEvent({ result, calls, durationMs }: Look, waitsMissed = 0) {
  const { snapshot, plan, outcome, failures } = result;
  const groups = groupRows(snapshot, plan);
  const ours = groups.filter(({ pools }) => pools !== '');
  const { kept, leftOut } = cutLists(
    {
      pools: plan.pools.map((pool) => poolRow(pool, outcome)),
      groups,
      actions: plan.actions.map((action) => actionRow(action, outcome)),
      findings: findingLines(plan.findings).map(truncated),
      failures: failures.map(({ message }) => truncated(plainLine(message))),
      forecast: plan.forecast,
    },
    MAX_BYTES,
  );
  return {
    takenAt: plan.takenAt,
    durationMs,
    // when the next look follows, in milliseconds from the start of this one
    lookAgainAfterMs: plan.lookAgainAfterMs,
    // jobs that wait for a daemon of a pool
    pending: sum(plan.pools, ({ pending }) => pending),
    oldestPendingSeconds: ours.reduce((most, { oldestSeconds }) => Math.max(most, oldestSeconds), 0),
    // unschedulable jobs
    unserved: sum(plan.unserved, ({ jobs }) => jobs),
    applied: outcome.applied.length,
    // tasks whose protection or drain request ECS refused
    refused: outcome.refused.length,
    calls: Object.entries(calls).map(([api, counts]) => ({ api, ...counts })),
    // lists; `findings` and `failures` are sentences, and those of `failures` fail the invocation
    ...kept,
    // jobs that started and that no `wait` event describes (wait-record.ts)
    ...(waitsMissed === 0 ? {} : { waitsMissed }),
    // how many rows were left out, by list
    leftOut,
  };
}

/** Tasks that raised counts request from ECS. A corrected count requests none. */
export function launchesOf(actions: Outcome['applied']): number {
  return sum(actions, (action) =>
    action.kind === 'set-desired' && action.why !== 'count-below-tasks'
      ? Math.max(0, action.to - action.from)
      : 0,
  );
}

function poolRow(pool: PoolPlan, { applied, refused }: Outcome) {
  const own = applied.filter((action) => poolOfPart(action.pool) === pool.name);
  const { failing: _, ...tasks } = pool.daemons;
  return {
    name: pool.name,
    retiring: pool.retiring,
    // tasks; null without a service
    desiredFrom: pool.desired.from,
    desiredTo: pool.desired.to,
    // tasks that ECS runs, starts or is about to start
    tasks: sum(Object.values(tasks), (count) => count),
    ...pool.daemons,
    pending: pool.pending,
    due: pool.due,
    floor: pool.floor.count,
    floorFrom: pool.floor.from,
    startSamples: pool.startTime.samples,
    startP50Seconds: Math.round(pool.startTime.p50Ms / 1000),
    startP95Seconds: Math.round(pool.startTime.p95Ms / 1000),
    // a number, so that queries can sum it
    atMax: isAtMax(pool) ? 1 : 0,
    // tasks that this look requests from ECS
    launches: launchesOf(own),
    // tasks that got a drain request
    asks: own.filter((action) => action.kind === 'ask-to-leave' && !isRefused(action.task, refused)).length,
    overrides: pool.overrides,
    ...marksOf(pool),
    why: pool.why,
  };
}

/**
 * What the strip of `autoscaler watch` marks, as words of one text: a query can group by it, and not by a list. Absent:
 * nothing.
 */
function marksOf({ overrides, why }: PoolPlan): { readonly marks?: string } {
  const isDeploying = why.some(({ code }) => code === 'holding-for-deployment' || code === 'old-revision');
  const kinds = overrides.map(({ kind }) => kind).toSorted();
  const marks = [...(isDeploying ? ['deployment'] : []), ...new Set(kinds)].join(' ');
  return marks === '' ? {} : { marks };
}

/** Its outcome is `open` if it failed, or time was up. */
function actionRow(action: Action, { applied, refused }: Outcome) {
  const { pool, kind, why } = action;
  const outcome = applied.includes(action) ? 'applied' : 'open';
  if (action.kind === 'set-desired') return { pool, kind, why, from: action.from, to: action.to, outcome };
  const refusal = refused.find(({ task }) => task === action.task);
  const task = lastPart(action.task);
  if (refusal === undefined) return { pool, kind, why, task, outcome };
  return { pool, kind, why, task, outcome: 'refused', reason: refusal.reason };
}

function isRefused(task: string, refused: Outcome['refused']): boolean {
  return refused.some((refusal) => refusal.task === task);
}

function truncated(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)} …`;
}
