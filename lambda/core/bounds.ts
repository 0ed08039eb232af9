/** Bounds, which come last: `max` of each pool, then `maxTasks` over all of them. All numbers are tasks. */
import { sum } from './order.ts';

export type Growth = {
  /** Working, starting and unguarded tasks. */
  readonly have: number;
  /** Before any bound. */
  readonly wanted: number;
  /** The pool's own bound: `max`, or less while its starts keep failing. */
  readonly most: number;
  /** Launches for jobs; the assignment has kept them within both bounds. */
  readonly launches: number;
  readonly min: number;
};

/**
 * What each pool may want, in the order given: launches for jobs first, then all pools' `min`, then the rest.
 * @param room tasks that may be added over all pools
 */
export function applyBounds(pools: readonly Growth[], room: number): readonly number[] {
  const capped = pools.map(({ wanted, most }) => Math.min(wanted, most));
  const granted = pools.map(({ launches }) => launches);
  let left = room - sum(pools, ({ launches }) => launches);
  const grant = (upTo: (pool: Growth, index: number) => number): void => {
    for (const [index, pool] of pools.entries()) {
      const extra = Math.min(upTo(pool, index) - pool.have - (granted[index] ?? 0), left);
      if (extra <= 0) continue;
      granted[index] = (granted[index] ?? 0) + extra;
      left -= extra;
    }
  };
  grant((pool, index) => Math.min(pool.min, capped[index] ?? 0));
  grant((_, index) => capped[index] ?? 0);
  return pools.map(({ have }, index) => Math.min(capped[index] ?? 0, have + (granted[index] ?? 0)));
}
