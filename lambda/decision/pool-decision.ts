/** What is done about one pool. */

import { launchesFor, type Need, spareOf } from './assignment/needs.ts';
import { countDaemons } from './capacity/capacity.ts';
import { configuredFloor } from './forecast/floors.ts';
import type { EpochMs, TaskArn } from './model/brands.ts';
import { partition, sum } from './model/collections.ts';
import type { Config } from './model/config.ts';
import type { Action, Doubt, Override, PoolPlan, Reason } from './model/plan.ts';
import type { Service, Snapshot } from './model/snapshot.ts';
import { OLDEST_SERVER } from './model/version.ts';
import {
  heldBackReasons,
  isKeptAwake,
  jobReasons,
  maySomeoneLeave,
  reasonsOf,
  said,
} from './report/reasons.ts';
import {
  areSure,
  type Confirming,
  decideConfirming,
  isStopping,
  isUnprotected,
  needsProtection,
} from './scale-in/confirm-rung.ts';
import { type CountDecision, decideCount, isDeploying } from './scale-in/counts.ts';
import { decideLeaving, decideReplacing, type LeaveDecision } from './scale-in/leaving.ts';
import { isGuarded } from './supply/task-state.ts';

export type PoolDecision = {
  readonly need: Need;
  readonly doubts: readonly Doubt[];
  /** Who leaves, and who is spare and stays. */
  readonly leaving: readonly LeaveDecision[];
  readonly plan: PoolPlan;
  readonly actions: readonly Action[];
};

/** Decides about one pool. */
export function decidePool(
  need: Need,
  doubts: readonly Doubt[],
  { snapshot, config }: Context,
): PoolDecision {
  const { service } = need.view;
  if (service === undefined)
    return withoutAction(need, doubts, [...jobReasons(need), { code: 'no-service' }]);
  if (doubts.includes('server-too-old')) return withoutAction(need, doubts, [tooOld(snapshot)]);
  const pause = need.view.overrides.find(({ kind }) => kind === 'pause');
  if (pause !== undefined) return whilePaused({ need, service, doubts, pause, now: snapshot.takenAt });
  const leaving = whoLeaves(need, service, snapshot.takenAt);
  const { view, capacity } = need;
  const isByLease = view.pool.scaleIn === 'lease';
  const count = isByLease ? countOf(need, service, doubts) : countWithoutGuard(need, service, doubts);
  const confirming = isByLease
    ? keepGuardless(need)
    : decideConfirming({ view, service, capacity, leaving, count, doubts });
  const stops = confirming.stop.map(({ task }) => task.taskArn);
  const to = (stops.length > 0 ? capacity.working : count.to) - stops.length;
  const why = reasonsOf(need, { leaving, count, confirming, doubts, config, now: snapshot.takenAt });
  return {
    need,
    doubts,
    leaving,
    plan: toPlan(need, to, why),
    actions: [
      ...countAction(need, { service, to, stops, told: count.why }),
      ...confirming.protect.map((decision) => protectAction(need, decision)),
      ...(maySomeoneLeave(need, doubts) ? leaving.flatMap((decision) => askAction(need, decision)) : []),
    ],
  };
}

function countOf(
  { view, capacity, granted }: Need,
  service: Service,
  doubts: readonly Doubt[],
): CountDecision {
  return decideCount({ service, capacity, wanted: granted, max: view.pool.max, doubts });
}

/**
 * Of tasks without a guard ECS could choose any, so only what it could not start is given up, and only while all others are protected. Who
 * is to be stopped is chosen by `decideConfirming`.
 */
function countWithoutGuard(need: Need, service: Service, doubts: readonly Doubt[]): CountDecision {
  const from = service.desiredCount;
  if (isStopping(need.view.tasks, { desired: from, total: need.capacity.total, wanted: need.wanted }))
    return { to: from, why: [] };
  const count = countOf(need, service, doubts);
  const mayGiveUp = need.capacity.isHeldBack && areSure(need.view.tasks);
  return count.to < from && !mayGiveUp ? { to: from, why: [] } : count;
}

/**
 * A busy task of a lease pool whose protection runs out has no guard: its pool was of another rung when it started. A guard
 * holds on long before that.
 */
function keepGuardless({ view }: Need): Confirming {
  const tasks = view.tasks.filter(
    (task) => task.state === 'leaving' && task.use === 'busy' && needsProtection(task),
  );
  return {
    protect: tasks.map((task) => ({ task, why: 'may-hold-a-job' })),
    stop: [],
    why: tasks.length > 0 ? [{ code: 'protecting', tasks: tasks.length }] : [],
  };
}

/** Who is spare, and whose turn to be replaced has come. */
function whoLeaves(need: Need, service: Service, now: EpochMs): readonly LeaveDecision[] {
  const { view, capacity, granted } = need;
  // where ECS may not count old tasks, what comes in their place may have to wait until they have left
  const isLaunching = granted > capacity.total && capacity.uncounted === 0;
  const replacing = decideReplacing(view, isLaunching, now);
  if (view.pool.scaleIn !== 'lease')
    return [...replacing.filter(({ task }) => isGuarded(task)), ...whoIsStopped(need, now)];
  const spare = decideLeaving(view, spareOf(need), now);
  return [
    ...replacing,
    // while ECS deploys, the count stays: it would put another task in the place of a spare one
    ...(isDeploying({ service, capacity }) ? keep(spare, 'holding-for-deployment') : spare),
  ];
}

/** Those that would leave stay for now. */
function keep(
  decisions: readonly LeaveDecision[],
  why: 'holding-for-protection' | 'holding-for-deployment',
): readonly LeaveDecision[] {
  return decisions.map((decision) =>
    decision.kind === 'leave' ? { task: decision.task, kind: 'keep', why } : decision,
  );
}

/** Without a guard, those go first that no protection keeps any more: nobody takes one away. */
function whoIsStopped(need: Need, now: EpochMs): readonly LeaveDecision[] {
  const { view } = need;
  if (view.pool.scaleIn === 'never') return decideLeaving(view, spareOf(need), now);
  const guardless = view.tasks.filter((task) => !isGuarded(task));
  const [free, kept] = partition(guardless, isUnprotected);
  const spare = spareOf(need);
  const first = decideLeaving({ ...view, tasks: free }, spare, now);
  const rest = decideLeaving({ ...view, tasks: kept }, spare - first.length, now);
  return [...first, ...keep(rest, 'holding-for-protection')];
}

type Context = { readonly snapshot: Snapshot; readonly config: Config };
/** Tasks without a guard are protected all the same: a pause is to stop nothing. */
function whilePaused({ need, service, doubts, pause, now }: Paused): PoolDecision {
  const { view, capacity } = need;
  const count = { to: service.desiredCount, why: [] };
  const { protect, why } =
    view.pool.scaleIn === 'lease'
      ? keepGuardless(need)
      : decideConfirming({ view, service, capacity, leaving: [], count, doubts });
  const waiting = [...jobReasons(need), ...heldBackReasons(need, now)];
  return {
    ...withoutAction(need, doubts, [{ code: 'paused', ...said(pause) }, ...waiting, ...why]),
    actions: protect.map((decision) => protectAction(need, decision)),
  };
}

type Paused = {
  readonly need: Need;
  readonly service: Service;
  readonly doubts: readonly Doubt[];
  readonly pause: Override;
  readonly now: EpochMs;
};

function withoutAction(need: Need, doubts: readonly Doubt[], why: readonly Reason[]): PoolDecision {
  const to = need.view.service?.desiredCount ?? 0;
  return { need, doubts, leaving: [], plan: toPlan(need, to, why), actions: [] };
}

function tooOld({ coder }: Snapshot): Reason {
  return { code: 'server-too-old', version: coder.buildInfo?.version ?? 'unknown', oldest: OLDEST_SERVER };
}

function askAction({ view }: Need, { kind, why, task }: LeaveDecision): readonly Action[] {
  return kind === 'leave' && (view.pool.scaleIn === 'lease' || why !== 'idle-long-enough')
    ? [{ kind: 'ask-to-leave', pool: view.pool.name, task: task.task.taskArn, why }]
    : [];
}

function protectAction({ view }: Need, { task, why }: Confirming['protect'][number]): Action {
  return { kind: 'protect', pool: view.pool.name, task: task.task.taskArn, why };
}

type Count = {
  readonly service: Service;
  readonly to: number;
  readonly stops: readonly TaskArn[];
  /** What the pool tells of its count. */
  readonly told: readonly Reason[];
};

function countAction(need: Need, { service, to, stops, told }: Count): readonly Action[] {
  const from = service.desiredCount;
  if (to === from) return [];
  const action = {
    kind: 'set-desired',
    pool: need.view.pool.name,
    service: service.serviceArn,
    from,
    to,
  } as const;
  if (stops.length > 0) return [{ ...action, why: 'stopping-after-confirmation', stops }];
  if (to > from) return [{ ...action, why: raiseReason(need) }];
  const lower = { ...action, why: lowerReason(need, told) };
  // without guards a second look has to agree, although nobody is to be stopped
  return [need.view.pool.scaleIn === 'lease' ? lower : { ...lower, stops }];
}

function raiseReason(need: Need): Reason['code'] {
  if (need.granted <= need.capacity.total) return 'count-below-tasks';
  if (launchesFor(need) > 0) return 'pending-jobs';
  if (need.prewarmed > 0) return 'prewarm';
  const { outlook, capacity, inUse, stock } = need;
  if (isKeptAwake(need) && outlook.floors.wake > capacity.total) return 'awake-for';
  const isBelowFloor = configuredFloor(outlook.floors, inUse).count > capacity.total;
  return stock > 0 && !isBelowFloor ? 'stock' : 'floor';
}

/** What is given up without a task that left was desired in vain. */
function lowerReason({ view }: Need, told: readonly Reason[]): Reason['code'] {
  if (told.some(({ code }) => code === 'tasks-left')) return 'tasks-left';
  return view.failing.isTripped ? 'starts-failing' : 'placement-failing';
}

function toPlan(need: Need, to: number, why: readonly Reason[]): PoolPlan {
  const { service, pool } = need.view;
  return {
    name: pool.name,
    scaleIn: pool.scaleIn,
    retiring: pool.retiring,
    overrides: need.view.overrides,
    service: service?.serviceArn ?? null,
    desired: service === undefined ? { from: null, to: null } : { from: service.desiredCount, to },
    daemons: countDaemons(need.view),
    pending: sum(Object.values(need.jobs), (jobs) => jobs),
    due: Math.max(need.outlook.opening?.due.length ?? 0, need.due),
    startTime: need.view.startTime,
    floor: need.floor,
    why,
  };
}
