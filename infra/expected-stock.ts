/**
 * Computes how many daemons a pool keeps free on average, from builds a minute, the price of
 * waiting, the price of a task and the start time. The rule is that of the autoscaler: keep one
 * more daemon while it saves more waiting than it costs.
 */
import type { DeployedPool } from '../lambda/config/rules/deployment.ts';
import { chancesOf, shortfallOf } from '../lambda/decision/demand/stock.ts';
import { priceOf } from '../lambda/decision/settings/prices.ts';

/** Builds that the autoscaler cannot forecast: those that people start, and imports. */
export type Unforeseen = {
  readonly perMinute: number;
  /** Running builds that end, and free their daemons, while a new task starts. */
  readonly ending: number;
};

/** The smallest stock at which the next daemon would save less waiting than it costs. */
export function expectedStock(pool: DeployedPool, { perMinute, ending }: Unforeseen): number {
  const started = perMinute * (pool.startTimeMs / 60_000);
  const dollarsPerMinute = priceOf(pool) / 1e6 / 60;
  const builds = shortfallOf(chancesOf({ mean: started, dispersion: 1 }), []);
  const isEnough = (free: number) =>
    pool.waiting.person * builds.atLeast(Math.floor(free + ending) + 1) <= dollarsPerMinute;
  let free = 0;
  while (free < pool.max && !isEnough(free)) free++;
  return free;
}
