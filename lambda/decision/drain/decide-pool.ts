/** Decides about one pool: which tasks drain, and its desired count. */
import type { PoolNeed } from '../assign/needs.ts';
import type { EpochMs } from '../model/brands.ts';
import { partition } from '../model/collections.ts';
import type { Action, Doubt } from '../model/plan.ts';
import type { Service } from '../model/snapshot.ts';
import { isPaused } from '../settings/settings-in-force.ts';
import { isDeploying, mayDrain } from '../supply/capacity.ts';
import { isGuarded, isSure } from '../supply/task-state.ts';
import { askActions, countActions, protectActions } from './actions.ts';
import {
  type Confirming,
  decideConfirming,
  isStopping,
  isUnprotected,
  protectUnguarded,
} from './confirm-rung.ts';
import { type CountDecision, decideCount } from './counts.ts';
import { replacementsOf, spareOf } from './drainable.ts';
import { decideLeaving, keepAll, type LeaveDecision, withoutRefused } from './leaving.ts';

/** The pool has an ECS service. */
type PoolInput = {
  readonly need: PoolNeed;
  readonly service: Service;
  /** Any doubt holds scale-in. */
  readonly doubts: readonly Doubt[];
  readonly now: EpochMs;
};

type Course = {
  /** The tasks that leave, and the spare tasks that stay. */
  readonly leaving: readonly LeaveDecision[];
  readonly count: CountDecision;
  readonly confirming: Confirming;
};

export type PoolDecision = Course & {
  readonly need: PoolNeed;
  readonly doubts: readonly Doubt[];
  /** `sized`: as the need asks for. The other modes launch and drain nothing. */
  readonly mode: 'no-service' | 'server-too-old' | 'paused' | 'sized';
  /** The desired count, in tasks. */
  readonly to: number;
  readonly actions: readonly Action[];
  /** The count that is left to the next look, and how many a look may change. */
  readonly later?: { readonly to: number; readonly changes: number };
};

/** Decides about one pool. Never throws: there is a decision for every state. */
export function decidePool(need: PoolNeed, doubts: readonly Doubt[], now: EpochMs): PoolDecision {
  const { service, overrides, pool } = need.view;
  const to = service?.desiredCount ?? 0;
  const nothing = { need, doubts, to, leaving: [], count: { to, why: [] }, confirming: NOTHING, actions: [] };
  if (service === undefined) return { ...nothing, mode: 'no-service' };
  if (doubts.includes('server-too-old')) return { ...nothing, mode: 'server-too-old' };
  const input = { need, service, doubts, now };
  if (isPaused(overrides)) {
    const confirming = protectPaused(input);
    return { ...nothing, mode: 'paused', confirming, actions: protectActions(need, confirming.protect) };
  }
  return toDecision(input, pool.scaleIn === 'lease' ? decideLeasePool(input) : decideGuardlessPool(input));
}

const NOTHING = { protect: [], stop: [], why: [] };

/** A pause must stop no build, so protections are still renewed. */
function protectPaused({ need: { view, capacity }, service, doubts }: PoolInput): Course['confirming'] {
  if (view.pool.scaleIn === 'lease') return protectUnguarded(view);
  const count = { to: service.desiredCount, why: [] };
  return decideConfirming({ view, service, capacity, leaving: [], count, doubts });
}

function toDecision({ need, service, doubts }: PoolInput, course: Course): PoolDecision {
  const { leaving, count, confirming } = course;
  const stops = confirming.stop.map(({ task }) => task.taskArn);
  const to = stops.length > 0 ? need.capacity.working - stops.length : count.to;
  return {
    ...{ need, doubts, mode: 'sized', to },
    ...course,
    actions: [
      ...countActions(need, { service, to, why: count.why, stops }),
      ...protectActions(need, confirming.protect),
      ...(mayDrain(need.capacity, doubts.length > 0) ? askActions(need, leaving) : []),
    ],
  };
}

/** Rung `lease`: the guard stops an idle daemon on request, and the count follows. */
function decideLeasePool(input: PoolInput): Course {
  const { need, service, doubts } = input;
  const { view, capacity, tasks } = need;
  return {
    leaving: withoutRefused(view, leavingGuarded(input)),
    count: leavesCount(input)
      ? { to: service.desiredCount, why: [] }
      : decideCount({ service, capacity, wanted: tasks.granted, max: view.pool.max, doubts }),
    confirming: protectUnguarded(view),
  };
}

/** Whether others may set the count: no job needs a launch, and ECS can stop no task. */
function leavesCount({ need: { capacity, tasks }, doubts }: PoolInput): boolean {
  const { total, starting, unguarded } = capacity;
  return doubts.includes('count-contested') && tasks.granted <= total && starting + unguarded === 0;
}

/** The tasks that are due to be replaced, then the spare ones. */
function leavingGuarded({ need, service, now }: PoolInput): readonly LeaveDecision[] {
  const spare = decideLeaving(need.view, spareOf(need), now);
  // the count stays while ECS deploys: ECS would start another task in the place of a spare one
  const isHeld = isDeploying({ service, capacity: need.capacity });
  return [...replacementsOf(need, now), ...(isHeld ? keepAll(spare, 'holding-for-deployment') : spare)];
}

/**
 * Rungs `confirm` and `never`: ECS could stop any task when the count is lowered. So busy tasks are
 * protected, and the count is lowered only when ECS has no other choice (confirm-rung.ts).
 */
function decideGuardlessPool(input: PoolInput): Course {
  const { need, service, doubts } = input;
  const { view, capacity } = need;
  const leaving = leavingGuardless(input);
  const count = decideGuardlessCount(input);
  const confirming = decideConfirming({ view, service, capacity, leaving, count, doubts });
  return { leaving, count, confirming };
}

/** Only tasks that ECS cannot start are given up here, while all others are protected. */
function decideGuardlessCount({ need, service, doubts }: PoolInput): CountDecision {
  const { view, capacity, tasks } = need;
  const from = service.desiredCount;
  if (isStopping(view.tasks, { desired: from, total: capacity.total, wanted: tasks.wanted }))
    return { to: from, why: [] };
  const count = decideCount({ service, capacity, wanted: tasks.granted, max: view.pool.max, doubts });
  const mayGiveUp = capacity.isHeldBack && view.tasks.every(isSure);
  return count.to < from && !mayGiveUp ? { to: from, why: [] } : count;
}

/** Tasks of an earlier rung may have guards. Of the others, unprotected ones go first. */
function leavingGuardless({ need, now }: PoolInput): readonly LeaveDecision[] {
  const { view } = need;
  const replaced = replacementsOf(need, now).filter(({ task }) => isGuarded(task));
  const spare = spareOf(need);
  if (view.pool.scaleIn === 'never') return [...replaced, ...decideLeaving(view, spare, now)];
  const guardless = view.tasks.filter((task) => !isGuarded(task));
  const [unprotected, isProtected] = partition(guardless, isUnprotected);
  const first = decideLeaving({ ...view, tasks: unprotected }, spare, now);
  const rest = decideLeaving({ ...view, tasks: isProtected }, spare - first.length, now);
  return [...replaced, ...first, ...keepAll(rest, 'holding-for-protection')];
}
