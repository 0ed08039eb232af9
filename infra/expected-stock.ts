/**
 * How many daemons a pool keeps free on average, by the rule of the autoscaler: one more, while the waiting that it saves is worth more than
 * it costs. Computed from the builds a minute, the price of waiting, the price of a task and the time that a start takes.
 */
import type { DeployedPool } from '../lambda/config/rules/deployment.ts';
import { chancesOf, shortfallOf } from '../lambda/decision/demand/stock.ts';
import { priceOf } from '../lambda/decision/settings/prices.ts';

/** Builds that no forecast tells: those that people start, and imports. */
export type Unforeseen = {
  readonly perMinute: number;
  /** Running builds that end while a new task starts: they free their daemons. */
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
