/**
 * A pool of rung `confirm` or `never`: its tasks have no guard, so ECS could stop any task when the
 * count is lowered. The autoscaler protects the busy tasks itself, and lowers the count only when
 * ECS has no other choice (see confirm-rung.ts).
 */
import { partition } from '../model/collections.ts';
import { isGuarded, isSure } from '../supply/task-state.ts';
import { decideConfirming, isStopping, isUnprotected } from './confirm-rung.ts';
import { type CountDecision, decideCount } from './counts.ts';
import type { Course, PoolInput } from './course.ts';
import { replacementsOf, spareOf } from './drainable.ts';
import { decideLeaving, keepAll, type LeaveDecision } from './leaving.ts';

/** Decides about a pool whose tasks have no guard. */
export function decideGuardlessPool(input: PoolInput): Course {
  const { need, service, doubts } = input;
  const { view, capacity } = need;
  const leaving = leavingTasks(input);
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
function leavingTasks({ need, now }: PoolInput): readonly LeaveDecision[] {
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
