/** Checks `limits.dollarsPerHour` against the price of the pools' tasks. */
import { priceOf } from '../../decision/settings/prices.ts';
import { leastOf } from '../../decision/settings/settings-in-force.ts';
import { error, type Findings } from '../problems/problems.ts';
import type { DeployedPool, Deployment } from './deployment.ts';

/**
 * Checks that the limit allows one task of each pool, and the `min` tasks of all pools. It needs a
 * complete configuration, because a price depends on the whole size of a pool.
 */
export function* checkSpending({ limits, pools: all }: Deployment): Findings {
  const { dollarsPerHour } = limits;
  if (dollarsPerHour === undefined) return;
  const refuse = (message: string) => error(['limits', 'dollarsPerHour'], message);
  const pools = all.filter(({ retiring }) => !retiring).toSorted((a, b) => hourOf(b) - hourOf(a));
  const [most] = pools;
  const least = pools.reduce((sum, pool) => sum + hourOf(pool) * leastOf(pool, undefined), 0);
  if (most !== undefined && hourOf(most) > dollarsPerHour)
    yield refuse(
      `one task of pool "${most.name}" costs ${shownDollars(hourOf(most))} an hour, above dollarsPerHour ${dollarsPerHour}, so the pool could never launch a task; raise dollarsPerHour or make its tasks smaller`,
    );
  else if (least > dollarsPerHour)
    yield refuse(
      `the min tasks of all pools cost ${shownDollars(least)} an hour, above dollarsPerHour ${dollarsPerHour}; raise dollarsPerHour or lower min`,
    );
}

const hourOf = (pool: DeployedPool): number => priceOf(pool) / 1e6;

/** Rounded up, so that the amount is enough when it is written as the limit. */
function shownDollars(amount: number): string {
  return `$${(Math.ceil(amount * 1e4 - 1e-6) / 1e4).toFixed(4)}`;
}
