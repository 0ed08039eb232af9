import { HOUR_MS } from '../../lambda/decision/model/units.ts';
import type { BoundJob, BoundPool } from './demand.ts';

/**
 * A lower bound: the hours in which jobs run, each job in the cheapest pool that fits. Tasks would
 * have to start at once and never idle.
 */
export function busyHours(
  jobs: readonly BoundJob[],
  pools: readonly BoundPool[],
): { readonly hours: number; readonly dollars: number } {
  const priceOf = (pool: number): number => pools[pool]?.dollarsPerHour ?? 0;
  const busyMs = pools.map(() => 0);
  for (const { durationMs, pools: fitting } of jobs) {
    const [cheapest = -1] = fitting.toSorted((a, b) => priceOf(a) - priceOf(b) || a - b);
    busyMs[cheapest] = (busyMs[cheapest] ?? 0) + durationMs;
  }
  return {
    hours: busyMs.reduce((sum, ms) => sum + ms, 0) / HOUR_MS,
    dollars: busyMs.reduce((sum, ms, pool) => sum + (ms / HOUR_MS) * priceOf(pool), 0),
  };
}
