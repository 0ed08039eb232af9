/**
 * Bounds: the room that `max`, `maxTasks` and failing starts leave for launches. All numbers are tasks. What `min`
 * demands is set aside first: those tasks come whether jobs ask for them or not.
 */
import { type Capacity, measure } from './capacity.ts';
import type { Config } from './config.ts';
import { sum } from './order.ts';
import type { PoolSight } from './supply.ts';

export type PoolRoom = {
  readonly sight: PoolSight;
  readonly capacity: Capacity;
  /** Launches that bring the pool up to `min`. */
  readonly forMin: number;
  /** Launches beyond those that the pool's own bounds allow. */
  readonly beyond: number;
};

export type Room = {
  /** In the order of the pools. */
  readonly pools: readonly PoolRoom[];
  /** Launches over all pools, beyond those for `min`. */
  readonly total: number;
};

/** Measures the room; those that are leaving count against `maxTasks` (docs/adr/0005). */
export function measureRoom(
  supply: readonly PoolSight[],
  { limits }: Config,
  isDoubtful: (sight: PoolSight) => boolean,
): Room {
  let total = limits.maxTasks - sum(supply, (sight) => existing(sight, isDoubtful(sight)));
  const pools = supply.map((sight): PoolRoom => {
    const capacity = measure(sight);
    const isOpen = sight.service !== undefined && !capacity.isHeldBack;
    const own = isOpen ? Math.max(0, sight.pool.max - capacity.total) : 0;
    const forMin = Math.max(0, Math.min(sight.pool.min - capacity.total, own, total));
    total -= forMin;
    return { sight, capacity, forMin, beyond: own - forMin };
  });
  return { pools, total };
}

/** Tasks that are there or desired; what a pool that is held back desires in vain is dropped, unless a doubt holds that. */
function existing({ tasks, missing, unseen, failing }: PoolSight, isDoubtful: boolean): number {
  return tasks.length + unseen + (failing.isTripped && !isDoubtful ? 0 : missing);
}
