/** The actions of a pool's decision: set the desired count, ask a task to leave, protect a task. */

import { configuredFloor } from '../forecast/floors.ts';
import { by } from '../model/collections.ts';
import type { Action, Reason } from '../model/plan.ts';
import type { Service } from '../model/snapshot.ts';
import type { TaskView } from '../supply/task-state.ts';
import { isKeptAwake } from './drainable.ts';
import type { LeaveDecision } from './leaving.ts';
import { launchesFor, type PoolNeed } from './needs.ts';

type CountChange = {
  readonly service: Service;
  /** The new desired count, in tasks. */
  readonly to: number;
  /** Reasons of the count, in the plan's words. */
  readonly why: readonly Reason[];
};

/** Sets the count if it changes: a raise, or the lower count of tasks that have left. */
export function countActions(need: PoolNeed, { service, to, why }: CountChange): readonly Action[] {
  const { name: pool } = need.view.pool;
  const { serviceArn, desiredCount: from } = service;
  const change = { kind: 'set-desired', pool, service: serviceArn, from, to } as const;
  if (to === from) return [];
  if (to > from) return [{ ...change, why: raiseReason(need) }];
  return [{ ...change, why: lowerReason(need, why) }];
}

/** Only guards act on a request. */
export function askActions({ view }: PoolNeed, decisions: readonly LeaveDecision[]): readonly Action[] {
  const { name: pool } = view.pool;
  return decisions.flatMap(({ kind, why, task }) =>
    kind === 'leave' ? [{ kind: 'ask-to-leave', pool, task: task.task.taskArn, why }] : [],
  );
}

/** Protects tasks from being stopped by ECS. */
export function protectActions({ view }: PoolNeed, tasks: readonly TaskView[]): readonly Action[] {
  const { name: pool } = view.pool;
  return tasks.map(({ task }) => ({ kind: 'protect', pool, task: task.taskArn, why: 'may-hold-a-job' }));
}

/** Raised counts first, then drain requests and protections, then lowered counts. */
export function inOrder(actions: readonly Action[]): readonly Action[] {
  return actions.toSorted(
    by((action) => (action.kind !== 'set-desired' ? 1 : action.to > action.from ? 0 : 2)),
  );
}

/** Why a pool's count is raised. */
export function raiseReason(need: PoolNeed): Reason['code'] {
  const { poolForecast, capacity, inUse, tasks, ready } = need;
  if (tasks.granted <= capacity.total) return 'count-below-tasks';
  if (launchesFor(need) > 0) return 'pending-jobs';
  if (ready.prewarmed > 0) return 'prewarm';
  if (isKeptAwake(need) && poolForecast.floors.wake > capacity.total) return 'awake-for';
  const isBelowFloor = configuredFloor(poolForecast.floors, inUse).count > capacity.total;
  if (ready.stock > 0 && !isBelowFloor) return 'stock';
  return need.isProbe ? 'launching-to-be-seen' : 'floor';
}

/** Else a count is lowered only because ECS cannot start the missing tasks. */
function lowerReason({ view }: PoolNeed, why: readonly Reason[]): Reason['code'] {
  if (why.some(({ code }) => code === 'tasks-left')) return 'tasks-left';
  return view.failing.isTripped ? 'starts-failing' : 'placement-failing';
}
