/** Checks `limits.dollarsPerHour` against the price of the pools' tasks. */
import { priceOf } from '../../decision/settings/prices.ts';
import { leastOf } from '../../decision/settings/settings-in-force.ts';
import { error, type Mistake } from '../problems/problems.ts';
import type { DeployedPool, Deployment } from './deployment.ts';

/**
 * Checks that the limit allows one task of each pool, and the `min` tasks of all pools. It needs a
 * complete configuration, because a price depends on the whole size of a pool.
 */
export function checkSpending({ limits, pools: all }: Deployment): readonly Mistake[] {
  const { dollarsPerHour } = limits;
  if (dollarsPerHour === undefined) return [];
  const pools = all.filter(({ retiring }) => !retiring);
  const tooExpensive = mostExpensive(pools.filter((pool) => hourOf(pool) > dollarsPerHour));
  if (tooExpensive !== undefined) return [refuse(tooExpensiveText(tooExpensive, dollarsPerHour))];
  const least = pools.reduce((sum, pool) => sum + hourOf(pool) * leastOf(pool, undefined), 0);
  return least > dollarsPerHour ? [refuse(minText(least, dollarsPerHour))] : [];
}

function mostExpensive(pools: readonly DeployedPool[]): DeployedPool | undefined {
  return pools.toSorted((a, b) => hourOf(b) - hourOf(a))[0];
}

function tooExpensiveText(pool: DeployedPool, limit: number): string {
  return `one task of pool "${pool.name}" costs ${shownDollars(hourOf(pool))} an hour, above dollarsPerHour ${limit}, so the pool could never launch a task; raise dollarsPerHour or make its tasks smaller`;
}

function minText(least: number, limit: number): string {
  return `the min tasks of all pools cost ${shownDollars(least)} an hour, above dollarsPerHour ${limit}; raise dollarsPerHour or lower min`;
}

const refuse = (message: string): Mistake => error(['limits', 'dollarsPerHour'], message);

const hourOf = (pool: DeployedPool): number => priceOf(pool) / 1e6;

/** Rounded up, so that the amount is enough when it is written as the limit. */
function shownDollars(amount: number): string {
  return `$${(Math.ceil(amount * 1e4 - 1e-6) / 1e4).toFixed(4)}`;
}
