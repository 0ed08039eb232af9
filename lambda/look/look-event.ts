/**
 * Builds the log event of a look: numbers for saved queries
 * (infra/constructs/watching/log-queries.ts) and sentences for the person on call. A look has one
 * event, whatever the size of the deployment.
 */
import { lastPart } from '../decision/model/brands.ts';
import { sum } from '../decision/model/collections.ts';
import type {
  Action,
  DaemonCounts,
  Floor,
  ForecastRow,
  IsoTime,
  Override,
  PoolPlan,
  Reason,
} from '../decision/model/plan.ts';
import { findingLines } from '../explain/finding-text.ts';
import { plainLine } from '../explain/format.ts';
import { cutLists } from '../explain/truncate-rows.ts';
import type { Outcome } from './apply.ts';
import type { LookResult } from './look.ts';
import { type GroupRow, groupRows } from './look-groups.ts';

/** Requests by API, as `lambda/adapters/shared/calls.ts` counts them. */
export type CallsByApi = Readonly<Record<string, { readonly requests: number; readonly throttled: number }>>;

export type Look = { readonly result: LookResult; readonly calls: CallsByApi; readonly durationMs: number };

export type LookEvent = {
  readonly takenAt: IsoTime;
  readonly durationMs: number;
  /** When the next look follows, in milliseconds from the start of this one. */
  readonly lookAgainAfterMs: number;
  /** Jobs that wait for a daemon of a pool. */
  readonly pending: number;
  /** How long the oldest of these jobs has waited. */
  readonly oldestPendingSeconds: number;
  /** Unschedulable jobs. */
  readonly unserved: number;
  /** Actions that were carried out. */
  readonly applied: number;
  /** Tasks whose protection or drain request ECS refused. */
  readonly refused: number;
  readonly calls: readonly CallRow[];
  readonly pools: readonly PoolRow[];
  readonly groups: readonly GroupRow[];
  readonly actions: readonly ActionRow[];
  /** Sentences. Those of `failures` fail the invocation. */
  readonly findings: readonly string[];
  readonly failures: readonly string[];
  readonly forecast: readonly ForecastRow[];
  /** Jobs that started and that no `wait` event describes (wait-record.ts). Absent: none. */
  readonly waitsMissed?: number;
  /** How many rows were left out, by list. */
  readonly leftOut: Readonly<Record<string, number>>;
};

export type CallRow = { readonly api: string; readonly requests: number; readonly throttled: number };

export type PoolRow = DaemonCounts & {
  readonly name: string;
  readonly scaleIn: string;
  readonly retiring: boolean;
  /** Tasks; null without a service. */
  readonly desiredFrom: number | null;
  readonly desiredTo: number | null;
  /** Tasks that ECS runs, starts or is about to start. */
  readonly tasks: number;
  readonly pending: number;
  readonly due: number;
  readonly floor: number;
  readonly floorFrom: Floor['from'];
  readonly startSamples: number;
  readonly startP50Seconds: number;
  readonly startP95Seconds: number;
  /** 1 if a limit holds the pool below its need. A number, so that queries can sum it. */
  readonly atMax: 0 | 1;
  /** Tasks that this look requests from ECS. */
  readonly launches: number;
  /** Tasks that got a drain request. */
  readonly asks: number;
  readonly overrides: readonly Override[];
  readonly why: readonly Reason[];
};

export type ActionRow = {
  readonly pool: string;
  readonly kind: Action['kind'];
  readonly why: string;
  readonly from?: number;
  readonly to?: number;
  /** The task id: the last part of its ARN. */
  readonly task?: string;
  /** `open`: it failed, a second look did not confirm it, or time was up. */
  readonly outcome: 'applied' | 'refused' | 'open';
  /** The reason that ECS gives. */
  readonly reason?: string;
};

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
export function lookEvent({ result, calls, durationMs }: Look, waitsMissed = 0): LookEvent {
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
    lookAgainAfterMs: plan.lookAgainAfterMs,
    pending: sum(plan.pools, ({ pending }) => pending),
    oldestPendingSeconds: ours.reduce((most, { oldestSeconds }) => Math.max(most, oldestSeconds), 0),
    unserved: sum(plan.unserved, ({ jobs }) => jobs),
    applied: outcome.applied.length,
    refused: outcome.refused.length,
    calls: Object.entries(calls).map(([api, counts]) => ({ api, ...counts })),
    ...kept,
    ...(waitsMissed === 0 ? {} : { waitsMissed }),
    leftOut,
  };
}

/** Whether jobs of the pool wait because of `max` or `maxTasks`. A pin does not count. */
export function isAtMax({ why, overrides, pending }: PoolPlan): boolean {
  const isCapped = why.some(({ code }) => code === 'capped-at-max' || code === 'capped-at-max-tasks');
  return isCapped && pending > 0 && !overrides.some(({ kind }) => kind === 'pin');
}

/** Tasks that raised counts request from ECS. A corrected count requests none. */
export function launchesOf(actions: Outcome['applied']): number {
  return sum(actions, (action) =>
    action.kind === 'set-desired' && action.why !== 'count-below-tasks'
      ? Math.max(0, action.to - action.from)
      : 0,
  );
}

function poolRow(pool: PoolPlan, { applied, refused }: Outcome): PoolRow {
  const own = applied.filter((action) => action.pool === pool.name);
  const { failing: _, ...tasks } = pool.daemons;
  return {
    name: pool.name,
    scaleIn: pool.scaleIn,
    retiring: pool.retiring,
    desiredFrom: pool.desired.from,
    desiredTo: pool.desired.to,
    tasks: sum(Object.values(tasks), (count) => count),
    ...pool.daemons,
    pending: pool.pending,
    due: pool.due,
    floor: pool.floor.count,
    floorFrom: pool.floor.from,
    startSamples: pool.startTime.samples,
    startP50Seconds: Math.round(pool.startTime.p50Ms / 1000),
    startP95Seconds: Math.round(pool.startTime.p95Ms / 1000),
    atMax: isAtMax(pool) ? 1 : 0,
    launches: launchesOf(own),
    asks: own.filter((action) => action.kind === 'ask-to-leave' && !isRefused(action.task, refused)).length,
    overrides: pool.overrides,
    why: pool.why,
  };
}

function actionRow(action: Action, { applied, refused }: Outcome): ActionRow {
  const { pool, kind, why } = action;
  const outcome = applied.includes(action) ? 'applied' : 'open';
  if (action.kind === 'set-desired') return { pool, kind, why, from: action.from, to: action.to, outcome };
  const refusal = refused.find(({ task }) => task === action.task);
  return {
    pool,
    kind,
    why,
    task: lastPart(action.task),
    outcome: refusal === undefined ? outcome : 'refused',
    ...(refusal === undefined ? {} : { reason: refusal.reason }),
  };
}

function isRefused(task: string, refused: Outcome['refused']): boolean {
  return refused.some((refusal) => refusal.task === task);
}

function truncated(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)} …`;
}
