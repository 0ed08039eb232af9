/**
 * A pool of rung `confirm` or `never`: its tasks have no guard, so ECS could stop any task when the
 * count is lowered. The autoscaler protects the busy tasks itself, and lowers the count only when
 * ECS has no other choice (see confirm-rung.ts).
 */

import { type PoolNeed, spareOf } from '../assignment/needs.ts';
import type { EpochMs } from '../model/brands.ts';
import { partition } from '../model/collections.ts';
import { mayDrain, reasonsOf } from '../report/reasons.ts';
import { areSure, decideConfirming, isStopping, isUnprotected } from '../scale-in/confirm-rung.ts';
import { type CountDecision, decideCount } from '../scale-in/counts.ts';
import { decideLeaving, keepAll, type LeaveDecision } from '../scale-in/leaving.ts';
import { isGuarded } from '../supply/task-state.ts';
import { askActions, confirmedCountAction, protectActions } from './actions.ts';
import { type PoolDecision, type PoolInput, toPlan } from './pool-decision.ts';
import { replacementsOf } from './replacements.ts';

/** Decides about a pool whose tasks have no guard. */
export function decideGuardlessPool(input: PoolInput): PoolDecision {
  const { need, service, doubts, snapshot, config } = input;
  const { view, capacity } = need;
  const now = snapshot.takenAt;
  const leaving = leavingTasks(need, now);
  const count = decideGuardlessCount(input);
  const confirming = decideConfirming({ view, service, capacity, leaving, count, doubts });
  const stops = confirming.stop.map(({ task }) => task.taskArn);
  const to = stops.length > 0 ? capacity.working - stops.length : count.to;
  const why = reasonsOf(need, { leaving, count, confirming, doubts, config, now });
  const asked = mayDrain(need, doubts) ? leaving.filter(hasGuardToAsk) : [];
  return {
    need,
    doubts,
    leaving,
    plan: toPlan(need, to, why),
    actions: [
      ...confirmedCountAction(need, { service, to, why: count.why }, stops),
      ...protectActions(need, confirming.protect),
      ...askActions(need, asked),
    ],
  };
}

/**
 * The count goes down only by tasks that ECS cannot start, and only while all other tasks are
 * protected. Which running task is stopped is chosen by `decideConfirming`.
 */
function decideGuardlessCount({ need, service, doubts }: PoolInput): CountDecision {
  const { view, capacity, granted: wanted } = need;
  const from = service.desiredCount;
  if (isStopping(view.tasks, { desired: from, total: capacity.total, wanted: need.wanted }))
    return { to: from, why: [] };
  const count = decideCount({ service, capacity, wanted, max: view.pool.max, doubts });
  const mayGiveUp = capacity.isHeldBack && areSure(view.tasks);
  return count.to < from && !mayGiveUp ? { to: from, why: [] } : count;
}

/**
 * Tasks of an earlier rung still have guards, so those can be asked. Of the others, unprotected
 * tasks go first.
 */
function leavingTasks(need: PoolNeed, now: EpochMs): readonly LeaveDecision[] {
  const replaced = replacementsOf(need, now).filter(({ task }) => isGuarded(task));
  return [...replaced, ...spareTasks(need, now)];
}

function spareTasks(need: PoolNeed, now: EpochMs): readonly LeaveDecision[] {
  const { view } = need;
  const spare = spareOf(need);
  if (view.pool.scaleIn === 'never') return decideLeaving(view, spare, now);
  const guardless = view.tasks.filter((task) => !isGuarded(task));
  const [unprotected, isProtected] = partition(guardless, isUnprotected);
  const first = decideLeaving({ ...view, tasks: unprotected }, spare, now);
  const rest = decideLeaving({ ...view, tasks: isProtected }, spare - first.length, now);
  return [...first, ...keepAll(rest, 'holding-for-protection')];
}

/** A spare task of this pool has no guard: the count stops it. */
function hasGuardToAsk({ why }: LeaveDecision): boolean {
  return why !== 'idle-long-enough';
}
