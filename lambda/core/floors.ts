/** Floors: how many tasks a pool keeps although no job asks for them. */

import type { PoolConfig } from './config.ts';
import type { Floor } from './plan.ts';

/**
 * The highest floor of a pool; a tie goes to `min`.
 * @param inUse tasks that hold a job, or will once the assigned jobs are served
 */
export function floorOf(pool: PoolConfig, inUse: number): Floor {
  const warm = pool.warm === 0 ? 0 : inUse + pool.warm;
  return warm > pool.min ? { count: warm, from: 'warm' } : { count: pool.min, from: 'min' };
}
