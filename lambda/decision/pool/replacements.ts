/** Which tasks of a pool are due to be replaced, from what the pool still has to launch. */

import type { PoolNeed } from '../assignment/needs.ts';
import type { EpochMs } from '../model/brands.ts';
import { decideReplacing, type LeaveDecision } from '../scale-in/leaving.ts';
import type { TaskView } from '../supply/task-state.ts';

/** The tasks of an old revision or secret, without a daemon or with a wrong key whose turn has come. */
export function replacementsOf(need: PoolNeed, now: EpochMs): readonly LeaveDecision[] {
  const { view, capacity, granted, floor } = need;
  // where ECS may not count old tasks, their replacements may have to wait until the old tasks have
  // left
  const isGrowing = granted > capacity.total && capacity.uncounted === 0;
  const ready = view.tasks.filter(isReady).length;
  return decideReplacing(view, { isGrowing, isShort: capacity.starting > 0 && ready < floor.count }, now);
}

/** Whether a task has a daemon, and stays. */
function isReady({ state, use }: TaskView): boolean {
  return state === 'working' && (use === 'busy' || use === 'idle');
}
