/** What is done about one pool, and every reason for it. */

import type { EpochMs, TaskArn } from './brands.ts';
import { countDaemons } from './capacity.ts';
import type { Config } from './config.ts';
import {
  type Confirming,
  decideConfirming,
  isStopping,
  isUnprotected,
  needsProtection,
} from './confirming.ts';
import { type CountDecision, decideCount, isDeploying } from './counts.ts';
import { configuredFloor } from './floors.ts';
import { decideLeaving, decideReplacing, type LeaveDecision, type Spare } from './leaving.ts';
import { launchesFor, type Need, spareOf } from './needs.ts';
import { partition, sum } from './order.ts';
import { type Action, type Doubt, type PoolPlan, REPLACING, type Reason } from './plan.ts';
import { countTransitions } from './report-forecast.ts';
import type { Service, Snapshot } from './snapshot.ts';
import { isGuarded } from './task-state.ts';
import { OLDEST_SERVER } from './version.ts';

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
  const { service } = need.sight;
  if (service === undefined)
    return withoutAction(need, doubts, [...jobReasons(need), { code: 'no-service' }]);
  if (doubts.includes('server-too-old')) return withoutAction(need, doubts, [tooOld(snapshot)]);
  const leaving = whoLeaves(need, service, snapshot.takenAt);
  const { sight, capacity } = need;
  const isByLease = sight.pool.scaleIn === 'lease';
  const count = isByLease ? countOf(need, service, doubts) : countWithoutGuard(need, service, doubts);
  const confirming = isByLease
    ? keepGuardless(need)
    : decideConfirming({ sight, service, capacity, leaving, count, doubts });
  const stops = confirming.stop.map(({ task }) => task.taskArn);
  const to = count.to - stops.length;
  const why = reasonsOf(need, { leaving, count, confirming, doubts, config, now: snapshot.takenAt });
  return {
    need,
    doubts,
    leaving,
    plan: toPlan(need, to, why),
    actions: [
      ...countAction(need, { service, to, stops }),
      ...confirming.protect.map((decision) => protectAction(need, decision)),
      ...(maySomeoneLeave(need, doubts) ? leaving.flatMap((decision) => askAction(need, decision)) : []),
    ],
  };
}

function countOf(
  { sight, capacity, granted }: Need,
  service: Service,
  doubts: readonly Doubt[],
): CountDecision {
  return decideCount({ service, capacity, wanted: granted, max: sight.pool.max, doubts });
}

/** Never lower: of tasks without a guard ECS could choose any. Who is to be stopped is chosen by `decideConfirming`. */
function countWithoutGuard(need: Need, service: Service, doubts: readonly Doubt[]): CountDecision {
  const from = service.desiredCount;
  if (isStopping(need.sight.tasks, { desired: from, total: need.capacity.total, wanted: need.wanted }))
    return { to: from, why: [] };
  const count = countOf(need, service, doubts);
  return count.to < from ? { to: from, why: [] } : count;
}

/**
 * A busy task of a lease pool whose protection runs out has no guard: its pool was of another rung when it started. A guard
 * holds on long before that.
 */
function keepGuardless({ sight }: Need): Confirming {
  const tasks = sight.tasks.filter(
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
  const { sight, capacity, granted } = need;
  const replacing = decideReplacing(sight, granted > capacity.total, now);
  if (sight.pool.scaleIn !== 'lease')
    return [...replacing.filter(({ task }) => isGuarded(task)), ...whoIsStopped(need, now)];
  const spare = decideLeaving(sight, spareIn(need), now);
  return [
    ...replacing,
    // while ECS deploys, the count stays: it would put another task in the place of a spare one
    ...(isDeploying(service) ? keep(spare, 'holding-for-deployment') : spare),
  ];
}

function spareIn(need: Need): Spare {
  return { spare: spareOf(need), afterPeak: need.outlook.afterPeak };
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
  const { sight } = need;
  if (sight.pool.scaleIn === 'never') return decideLeaving(sight, spareIn(need), now);
  const guardless = sight.tasks.filter((task) => !isGuarded(task));
  const [free, kept] = partition(guardless, isUnprotected);
  const { spare, afterPeak } = spareIn(need);
  const first = decideLeaving({ ...sight, tasks: free }, { spare, afterPeak }, now);
  const rest = decideLeaving({ ...sight, tasks: kept }, { spare: spare - first.length, afterPeak }, now);
  return [...first, ...keep(rest, 'holding-for-protection')];
}

type Context = { readonly snapshot: Snapshot; readonly config: Config };
type Parts = {
  readonly leaving: readonly LeaveDecision[];
  readonly count: CountDecision;
  readonly confirming: Confirming;
  readonly doubts: readonly Doubt[];
  readonly config: Config;
  readonly now: EpochMs;
};

function withoutAction(need: Need, doubts: readonly Doubt[], why: readonly Reason[]): PoolDecision {
  const to = need.sight.service?.desiredCount ?? 0;
  return { need, doubts, leaving: [], plan: toPlan(need, to, why), actions: [] };
}

function tooOld({ coder }: Snapshot): Reason {
  return { code: 'server-too-old', version: coder.buildInfo?.version ?? 'unknown', oldest: OLDEST_SERVER };
}

function reasonsOf(
  need: Need,
  { leaving, count, confirming, doubts, config, now }: Parts,
): readonly Reason[] {
  const why = [
    ...jobReasons(need),
    ...floorReasons(need),
    ...forecastReasons(need, now),
    ...boundReasons(need, config),
    ...leaveReasons(need, leaving, doubts),
    ...confirming.why,
    ...count.why,
  ];
  // a doubt may hold both an ask and a count: one reason is enough
  const once = [...new Map(why.map((reason) => [reason.code, reason])).values()];
  if (once.length > 0) return once;
  return [doubts.length > 0 ? { code: 'holding-for-doubt', doubts } : { code: 'nothing-to-do' }];
}

function jobReasons(need: Need): readonly Reason[] {
  const reasons: Reason[] = [];
  const [free, starting] = [need.jobs['by-free'], need.jobs['by-starting']];
  const launches = launchesFor(need);
  if (launches > 0) reasons.push({ code: 'pending-jobs', jobs: launches });
  if (free > 0) reasons.push({ code: 'served-by-free', jobs: free });
  if (starting > 0) reasons.push({ code: 'served-by-starting', jobs: starting });
  return reasons;
}

function floorReasons({ outlook, inUse }: Need): readonly Reason[] {
  const floor = configuredFloor(outlook.floors, inUse);
  return floor.count > inUse ? [{ code: 'floor', ...floor }] : [];
}

/** What the forecast keeps or brings, beyond what is there for other reasons. */
function forecastReasons(need: Need, now: EpochMs): readonly Reason[] {
  const { outlook, sight, prewarmed, due } = need;
  const { opening, isUnsure } = outlook;
  const { max } = sight.pool.prewarm;
  const reasons: Reason[] = [];
  const isKept = isKeptAwake(need);
  if (isKept && opening !== undefined)
    reasons.push({ code: 'awake-for', for: countTransitions([...opening.due, ...opening.soon], now) });
  if (isKept && isUnsure) reasons.push({ code: 'holding-for-forecast' });
  if (prewarmed > 0) reasons.push({ code: 'prewarm', daemons: prewarmed, due });
  if (due > prewarmed && prewarmed >= max) reasons.push({ code: 'capped-at-prewarm-max', due, max });
  return reasons;
}

/** Whether the forecast keeps tasks that nothing else does. */
function isKeptAwake({ outlook: { floors }, inUse }: Need): boolean {
  return floors.wake > Math.max(inUse, configuredFloor(floors, inUse).count);
}

/** Each bound that bites: what was wanted of it, and what it left. */
function boundReasons(need: Need, { limits }: Config): readonly Reason[] {
  const { sight, capacity, wanted, granted, isRoomUsedUp } = need;
  const { pool, failing } = sight;
  const reasons: Reason[] = [];
  if (wanted > pool.max) reasons.push({ code: 'capped-at-max', wanted, max: pool.max });
  const belowMax = Math.min(wanted, pool.max);
  if (capacity.isHeldBack && (granted < belowMax || sight.missing > 0)) {
    const reason = failing.reason ?? 'ECS gives no reason';
    reasons.push({ code: 'starts-failing', failures: failing.count, wanted: belowMax, granted, reason });
  } else if (granted < belowMax && isRoomUsedUp)
    reasons.push({ code: 'capped-at-max-tasks', wanted: belowMax, granted, maxTasks: limits.maxTasks });
  return reasons;
}

/**
 * A daemon that has just left reads idle for up to 90 s, and its task has no lease then: until coderd sees that it is
 * gone, nobody else is asked, or a pool would fall below its floor.
 */
function maySomeoneLeave({ capacity }: Need, doubts: readonly Doubt[]): boolean {
  return doubts.length === 0 && capacity.unguarded === 0;
}

function leaveReasons(
  need: Need,
  leaving: readonly LeaveDecision[],
  doubts: readonly Doubt[],
): readonly Reason[] {
  const { unguarded } = need.capacity;
  const isFree = maySomeoneLeave(need, doubts);
  const count = (why: LeaveDecision['why'], kind?: LeaveDecision['kind']): number =>
    leaving.filter((decision) => decision.why === why && (kind ?? decision.kind) === decision.kind).length;
  const [long, brief] = [count('idle-long-enough'), count('idle-too-briefly')];
  const replacing = REPLACING.flatMap((code): Reason[] => {
    const tasks = count(code);
    return tasks === 0 ? [] : [{ code, tasks, asked: isFree ? count(code, 'leave') : 0 }];
  });
  // what a doubtful look takes for a task to be replaced may be none
  const reasons: Reason[] = doubts.length === 0 ? [...replacing] : [];
  if (long > 0 && isFree) reasons.push(...spareReasons(need, long));
  const held = long + replacing.length;
  if (held > 0 && unguarded > 0) reasons.push({ code: 'holding-for-unguarded', tasks: unguarded });
  if (held > 0 && doubts.length > 0) reasons.push({ code: 'holding-for-doubt', doubts });
  const kept = count('holding-for-protection');
  if (kept > 0) reasons.push({ code: 'holding-for-protection', tasks: kept });
  if (count('holding-for-deployment') > 0) reasons.push({ code: 'holding-for-deployment' });
  if (brief > 0) reasons.push({ code: 'idle-too-briefly', tasks: brief });
  return reasons;
}

function spareReasons({ sight }: Need, tasks: number): readonly Reason[] {
  const { scaleIn } = sight.pool;
  if (scaleIn === 'lease') return [{ code: 'idle-long-enough', tasks }];
  // `confirm` has reasons of its own
  return scaleIn === 'never' ? [{ code: 'never-scaled-in', tasks }] : [];
}

function askAction({ sight }: Need, { kind, why, task }: LeaveDecision): readonly Action[] {
  return kind === 'leave' && (sight.pool.scaleIn === 'lease' || why !== 'idle-long-enough')
    ? [{ kind: 'ask-to-leave', pool: sight.pool.name, task: task.task.taskArn, why }]
    : [];
}

function protectAction({ sight }: Need, { task, why }: Confirming['protect'][number]): Action {
  return { kind: 'protect', pool: sight.pool.name, task: task.task.taskArn, why };
}

type Count = { readonly service: Service; readonly to: number; readonly stops: readonly TaskArn[] };

function countAction(need: Need, { service, to, stops }: Count): readonly Action[] {
  const from = service.desiredCount;
  if (to === from) return [];
  const action = {
    kind: 'set-desired',
    pool: need.sight.pool.name,
    service: service.serviceArn,
    from,
    to,
  } as const;
  if (stops.length > 0) return [{ ...action, why: 'stopping-after-confirmation', stops }];
  return [{ ...action, why: to > from ? raiseReason(need) : lowerReason(need) }];
}

function raiseReason(need: Need): Reason['code'] {
  if (need.granted <= need.capacity.total) return 'count-below-tasks';
  if (launchesFor(need) > 0) return 'pending-jobs';
  if (need.prewarmed > 0) return 'prewarm';
  return isKeptAwake(need) && need.outlook.floors.wake > need.capacity.total ? 'awake-for' : 'floor';
}

function lowerReason({ capacity }: Need): Reason['code'] {
  return capacity.left > 0 ? 'tasks-left' : 'starts-failing';
}

function toPlan(need: Need, to: number, why: readonly Reason[]): PoolPlan {
  const { service, pool } = need.sight;
  return {
    name: pool.name,
    scaleIn: pool.scaleIn,
    service: service?.serviceArn ?? null,
    desired: service === undefined ? { from: null, to: null } : { from: service.desiredCount, to },
    daemons: countDaemons(need.sight),
    pending: sum(Object.values(need.jobs), (jobs) => jobs),
    due: Math.max(need.outlook.opening?.due.length ?? 0, need.due),
    startTime: need.sight.startTime,
    floor: need.floor,
    why,
  };
}
