/**
 * The log event of a look: what was seen, decided and done, as numbers that saved queries read
 * (infra/constructs/watching/log-queries.ts) and sentences for who is paged. One event a look,
 * whatever the size of the deployment.
 */
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
  /** Jobs that wait for a daemon of a pool. */
  readonly pending: number;
  /** Of those: how long the oldest has waited. */
  readonly oldestPendingSeconds: number;
  /** Jobs that nobody can run. */
  readonly unserved: number;
  /** Actions that were carried out. */
  readonly applied: number;
  /** Tasks that ECS would not protect or let be asked. */
  readonly refused: number;
  readonly calls: readonly CallRow[];
  readonly pools: readonly PoolRow[];
  readonly groups: readonly GroupRow[];
  readonly actions: readonly ActionRow[];
  /** Sentences; those of `failures` made the invocation fail. */
  readonly findings: readonly string[];
  readonly failures: readonly string[];
  readonly forecast: readonly ForecastRow[];
  /** Rows that had no room, by list. */
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
  /** All that ECS runs, starts or is about to start. */
  readonly tasks: number;
  readonly pending: number;
  readonly due: number;
  readonly floor: number;
  readonly floorFrom: Floor['from'];
  readonly startSamples: number;
  readonly startP50Seconds: number;
  readonly startP95Seconds: number;
  /** 1: it wants more than a bound lets it have. A number, so that queries can add it up. */
  readonly atMax: 0 | 1;
  /** Tasks that this look's raise asks for. */
  readonly launches: number;
  /** Tasks that were asked to leave. */
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
  /** The id that ends its ARN. */
  readonly task?: string;
  /** `open`: it failed, a second look did not confirm it, or time was up. */
  readonly outcome: 'applied' | 'refused' | 'open';
  /** ECS's own. */
  readonly reason?: string;
};

/**
 * CloudWatch has long taken 256 KiB an event and no more, and a longer line comes in pieces that no
 * query can read. 50 pools fit whole; what these leave is for the rest of the event.
 */
const MAX_BYTES = {
  pools: 128 * 1024,
  groups: 32 * 1024,
  actions: 24 * 1024,
  findings: 24 * 1024,
  failures: 16 * 1024,
  forecast: 4 * 1024,
} as const;
/** A sentence with a server's whole answer in it must not take the room of all others. */
const LONGEST_TEXT = 2_000;

/** Makes the log event of a look. */
export function lookEvent({ result, calls, durationMs }: Look): LookEvent {
  const { snapshot, plan, outcome, failures } = result;
  const groups = groupRows(snapshot, plan);
  const ours = groups.filter(({ pools }) => pools !== '');
  const { kept, leftOut } = cutLists(
    {
      pools: plan.pools.map((pool) => poolRow(pool, outcome)),
      groups,
      actions: plan.actions.map((action) => actionRow(action, outcome)),
      findings: findingLines(plan.findings).map(clipped),
      failures: failures.map(({ message }) => clipped(message)),
      forecast: plan.forecast,
    },
    MAX_BYTES,
  );
  return {
    takenAt: plan.takenAt,
    durationMs,
    pending: sum(plan.pools, ({ pending }) => pending),
    oldestPendingSeconds: ours.reduce((most, { oldestSeconds }) => Math.max(most, oldestSeconds), 0),
    unserved: sum(plan.unserved, ({ jobs }) => jobs),
    applied: outcome.applied.length,
    refused: outcome.refused.length,
    calls: Object.entries(calls).map(([api, counts]) => ({ api, ...counts })),
    ...kept,
    leftOut,
  };
}

/**
 * Pools whose jobs wait because a bound of the configuration holds them; a pin is no such bound.
 */
export function isAtMax({ why, overrides, pending }: PoolPlan): boolean {
  const isCapped = why.some(({ code }) => code === 'capped-at-max' || code === 'capped-at-max-tasks');
  return isCapped && pending > 0 && !overrides.some(({ kind }) => kind === 'pin');
}

/** Tasks that raises ask ECS for; a count that is put right asks for none. */
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
  const open = applied.includes(action) ? 'applied' : 'open';
  if (action.kind === 'set-desired')
    return { pool, kind, why, from: action.from, to: action.to, outcome: open };
  const refusal = refused.find(({ task }) => task === action.task);
  return {
    pool,
    kind,
    why,
    task: action.task.slice(action.task.lastIndexOf('/') + 1),
    outcome: refusal === undefined ? open : 'refused',
    ...(refusal === undefined ? {} : { reason: refusal.reason }),
  };
}

function isRefused(task: string, refused: Outcome['refused']): boolean {
  return refused.some((refusal) => refusal.task === task);
}

function clipped(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)} …`;
}
