/** What may drain in a pool, from its need: how many tasks, and which. */

import { configuredFloor } from '../forecast/floors.ts';
import type { EpochMs } from '../model/brands.ts';
import type { TaskView } from '../supply/task-state.ts';
import { decideReplacing, type LeaveDecision } from './leaving.ts';
import type { PoolNeed } from './needs.ts';

/** Whether only the forecast keeps some of the tasks. */
export function isKeptAwake({ poolForecast: { floors }, inUse }: PoolNeed): boolean {
  return floors.wake > Math.max(inUse, configuredFloor(floors, inUse).count);
}

/** How many tasks need not stay. Only those with a lease count: others may not stay or come. */
export function spareOf(need: PoolNeed): number {
  const { view, capacity, jobs, inUse, poolForecast, tasks, ready, idle } = need;
  if (tasks.granted > capacity.total) return 0;
  // only stock makes room for other pools; tasks that a setting or the forecast keeps never do
  const { count: configured } = configuredFloor(poolForecast.floors, inUse);
  const wanted = Math.max(configured, poolForecast.floors.wake, inUse + ready.all - idle.givenUp);
  const bounded = Math.min(Math.max(wanted, inUse + idle.heldForRecord), view.pool.max);
  return capacity.working - Math.max(bounded, capacity.inUse + jobs['by-free']);
}

/** The tasks of an old revision or secret, without a daemon or with a wrong key whose turn has come. */
export function replacementsOf(need: PoolNeed, now: EpochMs): readonly LeaveDecision[] {
  const { view, capacity, tasks, floor } = need;
  // where ECS may not count old tasks, their replacements may have to wait until the old tasks have
  // left
  const isGrowing = tasks.granted > capacity.total && capacity.uncounted === 0;
  const ready = view.tasks.filter(isReady).length;
  return decideReplacing(view, { isGrowing, isShort: capacity.starting > 0 && ready < floor.count }, now);
}

/** Whether a task has a daemon, and stays. */
function isReady({ state, use }: TaskView): boolean {
  return state === 'working' && (use === 'busy' || use === 'idle');
}
