/** Which tasks of a pool are due to be replaced, from what the pool still has to launch. */

import type { PoolNeed } from '../assignment/needs.ts';
import type { EpochMs } from '../model/brands.ts';
import { decideReplacing, type LeaveDecision } from '../scale-in/leaving.ts';

/** The tasks of an old revision, without a daemon or with a wrong key whose turn has come. */
export function replacementsOf(
  { view, capacity, granted }: PoolNeed,
  now: EpochMs,
): readonly LeaveDecision[] {
  // where ECS may not count old tasks, their replacements may have to wait until the old tasks have
  // left
  const isLaunching = granted > capacity.total && capacity.uncounted === 0;
  return decideReplacing(view, isLaunching, now);
}
