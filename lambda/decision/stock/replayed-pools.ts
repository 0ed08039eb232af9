/** Derives the prices and times of a replay from the settings of the pools. */
import { sum } from '../model/collections.ts';
import type { PoolConfig } from '../model/config.ts';
import { HOUR_MS } from '../model/units.ts';
import { priceOf } from '../settings/prices.ts';
import type { ReplayedPools } from './replay.ts';

/** The mean time until a look decides a launch. */
export const UNTIL_LOOK_MS = 8_000;
/** A launch costs at least this many dollars: a rule that launches less is better at equal cost. */
const LEAST_LAUNCH_DOLLARS = 0.002;

/** `startMs`: from when ECS creates a task until its daemon is registered; the result's is from the need. */
export function priceReplay(
  pools: readonly { readonly pool: PoolConfig; readonly startMs: number }[],
): ReplayedPools {
  const launch = Math.min(...pools.map(({ pool }) => pool.dollarsPerLaunch));
  return {
    startMs: Math.min(...pools.map(({ startMs }) => startMs)) + UNTIL_LOOK_MS,
    taskPrice: Math.min(...pools.map(({ pool }) => priceOf(pool))) / 1e6 / HOUR_MS,
    launchPrice: Math.max(LEAST_LAUNCH_DOLLARS, launch),
    waitPrice: Math.max(...pools.map(({ pool }) => pool.waiting.person)) / 60_000,
    most: sum(pools, ({ pool }) => pool.max),
  };
}
