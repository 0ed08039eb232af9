/** What is done about one pool, and every reason for it. */
import { countDaemons } from './capacity.ts';
import type { Config } from './config.ts';
import { type CountDecision, decideCount } from './counts.ts';
import { decideLeaving, type LeaveDecision } from './leaving.ts';
import { type Need, spareOf } from './needs.ts';
import { sum } from './order.ts';
import type { Action, Doubt, PoolPlan, Reason } from './plan.ts';
import type { Service, Snapshot } from './snapshot.ts';
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
  const leaving = decideLeaving(need.sight, spareOf(need), snapshot.takenAt);
  const { capacity, granted } = need;
  const count = decideCount({ service, capacity, wanted: granted, max: need.sight.pool.max, doubts });
  const why = reasonsOf(need, { leaving, count, doubts, config });
  return {
    need,
    doubts,
    leaving,
    plan: toPlan(need, count.to, why),
    actions: [
      ...countAction(need, service, count.to),
      ...(maySomeoneLeave(need, doubts) ? leaving.flatMap((decision) => askAction(need, decision)) : []),
    ],
  };
}

type Context = { readonly snapshot: Snapshot; readonly config: Config };
type Parts = {
  readonly leaving: readonly LeaveDecision[];
  readonly count: CountDecision;
  readonly doubts: readonly Doubt[];
  readonly config: Config;
};

function withoutAction(need: Need, doubts: readonly Doubt[], why: readonly Reason[]): PoolDecision {
  const to = need.sight.service?.desiredCount ?? 0;
  return { need, doubts, leaving: [], plan: toPlan(need, to, why), actions: [] };
}

function tooOld({ coder }: Snapshot): Reason {
  return { code: 'server-too-old', version: coder.buildInfo?.version ?? 'unknown', oldest: OLDEST_SERVER };
}

function reasonsOf(need: Need, { leaving, count, doubts, config }: Parts): readonly Reason[] {
  const why = [
    ...jobReasons(need),
    ...floorReasons(need),
    ...boundReasons(need, config),
    ...leaveReasons(need, leaving, doubts),
    ...count.why,
  ];
  // a doubt may hold both an ask and a count: one reason is enough
  const once = [...new Map(why.map((reason) => [reason.code, reason])).values()];
  if (once.length > 0) return once;
  return [doubts.length > 0 ? { code: 'holding-for-doubt', doubts } : { code: 'nothing-to-do' }];
}

function jobReasons({ jobs }: Need): readonly Reason[] {
  const reasons: Reason[] = [];
  const [free, starting] = [jobs['by-free'], jobs['by-starting']];
  const launches = jobs['by-launch'] + jobs['when-there-is-room'];
  if (launches > 0) reasons.push({ code: 'pending-jobs', jobs: launches });
  if (free > 0) reasons.push({ code: 'served-by-free', jobs: free });
  if (starting > 0) reasons.push({ code: 'served-by-starting', jobs: starting });
  return reasons;
}

function floorReasons({ floor, inUse }: Need): readonly Reason[] {
  return floor.count > inUse ? [{ code: 'floor', ...floor }] : [];
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
  const count = (why: LeaveDecision['why']): number =>
    leaving.filter((decision) => decision.why === why).length;
  const [long, brief] = [count('idle-long-enough'), count('idle-too-briefly')];
  const reasons: Reason[] = [];
  if (long > 0 && maySomeoneLeave(need, doubts)) reasons.push({ code: 'idle-long-enough', tasks: long });
  if (long > 0 && unguarded > 0) reasons.push({ code: 'holding-for-unguarded', tasks: unguarded });
  if (long > 0 && doubts.length > 0) reasons.push({ code: 'holding-for-doubt', doubts });
  if (brief > 0) reasons.push({ code: 'idle-too-briefly', tasks: brief });
  return reasons;
}

function askAction({ sight }: Need, { kind, why, task }: LeaveDecision): readonly Action[] {
  return kind === 'leave'
    ? [{ kind: 'ask-to-leave', pool: sight.pool.name, task: task.task.taskArn, why }]
    : [];
}

function countAction(need: Need, service: Service, to: number): readonly Action[] {
  const from = service.desiredCount;
  if (to === from) return [];
  const why = to > from ? raiseReason(need) : lowerReason(need);
  return [{ kind: 'set-desired', pool: need.sight.pool.name, service: service.serviceArn, from, to, why }];
}

function raiseReason({ jobs, granted, capacity }: Need): Reason['code'] {
  if (granted <= capacity.total) return 'count-below-tasks';
  return jobs['by-launch'] + jobs['when-there-is-room'] > 0 ? 'pending-jobs' : 'floor';
}

function lowerReason({ capacity }: Need): Reason['code'] {
  return capacity.left > 0 ? 'tasks-left' : 'starts-failing';
}

function toPlan(need: Need, to: number, why: readonly Reason[]): PoolPlan {
  const { service, pool } = need.sight;
  return {
    name: pool.name,
    service: service?.serviceArn ?? null,
    desired: service === undefined ? { from: null, to: null } : { from: service.desiredCount, to },
    daemons: countDaemons(need.sight),
    pending: sum(Object.values(need.jobs), (jobs) => jobs),
    floor: need.floor,
    why,
  };
}
