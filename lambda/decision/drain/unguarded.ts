/** Protects tasks without a guard, of a pool that had `scaleIn: confirm` until 0.2. */
import type { Doubt } from '../model/plan.ts';
import { MINUTE_MS } from '../model/units.ts';
import type { PoolView } from '../supply/supply.ts';
import { lacksGuard, type TaskView } from '../supply/task-state.ts';

/** A protection lasts half an hour. With less than this left it is renewed. */
const RENEWED_BELOW_MS = 20 * MINUTE_MS;

/**
 * Selects the tasks that may hold a job and whose protection is missing or runs out. A guard would have renewed its
 * own long before. A protection that was not read may be a guard's lease: half an hour would shorten it.
 */
export function unguardedToKeep({ tasks }: PoolView, doubts: readonly Doubt[]): readonly TaskView[] {
  const mayBuild = ({ use }: TaskView): boolean => use === 'busy' || (use !== 'idle' && doubts.length > 0);
  const runsOut = ({ leaseMs }: TaskView): boolean => leaseMs !== undefined && leaseMs < RENEWED_BELOW_MS;
  return tasks.filter((task) => lacksGuard(task) && runsOut(task) && mayBuild(task));
}
