/** The actions of a pool's decision: set the desired count, ask a task to leave, protect a task. */

import { launchesFor, type PoolNeed } from '../assignment/needs.ts';
import { configuredFloor } from '../forecast/floors.ts';
import type { TaskArn } from '../model/brands.ts';
import type { Action, Reason } from '../model/plan.ts';
import type { Service } from '../model/snapshot.ts';
import { isKeptAwake } from '../report/reasons.ts';
import type { Confirming } from '../scale-in/confirm-rung.ts';
import type { LeaveDecision } from '../scale-in/leaving.ts';

type CountChange = {
  readonly service: Service;
  /** The new desired count, in tasks. */
  readonly to: number;
  /** Reasons of the count, in the plan's words. */
  readonly why: readonly Reason[];
};

/** Sets the count if it changes: a raise, or the lower count of tasks that have left. */
export function countAction(need: PoolNeed, { service, to, why }: CountChange): readonly Action[] {
  const from = service.desiredCount;
  if (to === from) return [];
  const code = to > from ? raiseReason(need) : lowerReason(need, why);
  return [{ ...setDesired(need, service, to), why: code }];
}

/**
 * Lowers the count of a pool without guards. ECS may choose any task that nothing protects, so a
 * second look has to plan the same action first (lambda/look/look.ts). `stops` may be empty: then
 * only tasks that ECS cannot start are given up.
 */
export function confirmedCountAction(
  need: PoolNeed,
  { service, to, why }: CountChange,
  stops: readonly TaskArn[],
): readonly Action[] {
  if (stops.length > 0)
    return [{ ...setDesired(need, service, to), why: 'stopping-after-confirmation', stops }];
  const unconfirmed = countAction(need, { service, to, why });
  return to < service.desiredCount ? unconfirmed.map((action) => ({ ...action, stops })) : unconfirmed;
}

/**
 * Asks the tasks that are to leave. Only their guards act on it: each stops once its daemon is
 * idle.
 */
export function askActions({ view }: PoolNeed, decisions: readonly LeaveDecision[]): readonly Action[] {
  return decisions.flatMap(({ kind, why, task }) =>
    kind === 'leave' ? [{ kind: 'ask-to-leave', pool: view.pool.name, task: task.task.taskArn, why }] : [],
  );
}

/** Protects tasks from being stopped by ECS. */
export function protectActions({ view }: PoolNeed, tasks: Confirming['protect']): readonly Action[] {
  return tasks.map(({ task, why }) => ({
    kind: 'protect',
    pool: view.pool.name,
    task: task.task.taskArn,
    why,
  }));
}

function setDesired({ view }: PoolNeed, service: Service, to: number) {
  const { serviceArn, desiredCount: from } = service;
  return { kind: 'set-desired', pool: view.pool.name, service: serviceArn, from, to } as const;
}

function raiseReason(need: PoolNeed): Reason['code'] {
  if (need.granted <= need.capacity.total) return 'count-below-tasks';
  if (launchesFor(need) > 0) return 'pending-jobs';
  if (need.prewarmed > 0) return 'prewarm';
  const { poolForecast, capacity, inUse, stock } = need;
  if (isKeptAwake(need) && poolForecast.floors.wake > capacity.total) return 'awake-for';
  const isBelowFloor = configuredFloor(poolForecast.floors, inUse).count > capacity.total;
  return stock > 0 && !isBelowFloor ? 'stock' : 'floor';
}

/**
 * Without tasks that have left, a count is lowered only because ECS cannot start the missing tasks.
 */
function lowerReason({ view }: PoolNeed, why: readonly Reason[]): Reason['code'] {
  if (why.some(({ code }) => code === 'tasks-left')) return 'tasks-left';
  return view.failing.isTripped ? 'starts-failing' : 'placement-failing';
}
