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
export function measureRoom(supply: readonly PoolSight[], { limits }: Config): Room {
  let total = limits.maxTasks - sum(supply, ({ tasks, missing, unseen }) => tasks.length + missing + unseen);
  const pools = supply.map((sight): PoolRoom => {
    const capacity = measure(sight);
    const most = sight.service === undefined ? 0 : Math.min(sight.pool.max, capacity.ceiling);
    const own = Math.max(0, most - capacity.total);
    const forMin = Math.max(0, Math.min(sight.pool.min - capacity.total, own, total));
    total -= forMin;
    return { sight, capacity, forMin, beyond: own - forMin };
  });
  return { pools, total };
}
