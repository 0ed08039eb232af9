/**
 * Patience: how many of the jobs that wait are worth a daemon each. With n daemons, N jobs of s minutes wait N * s / 2n minutes each on average:
 * the more daemons, the less waiting and the more starts. The sum is least where n = N * sqrt(s * value / (2 * start)).
 */

import { priceOf } from './prices.ts';
import type { PoolInForce } from './settings-in-force.ts';

/** Until a task that is launched has a daemon, and from when it is asked to leave until it is gone, it is paid and of no use. */
const DRAIN_MS = 60_000;
/** What a job is taken to last of which nothing is known. */
const UNKNOWN_MS = 120_000;
/** coderd fails what is pending for 30 min (docs/coder.md §5): by then all are to run. */
const LAST_MS = 25 * 60_000;
const LEAST_MS = 60_000;

export type Backlog = {
  readonly jobs: number;
  /** One of them takes so long on average. */
  readonly tookMs: number | undefined;
  /** The oldest has waited so long. */
  readonly waitedMs: number;
  /** Dollars a minute of one of them. */
  readonly value: number;
};

/** What starting and stopping a task costs, in dollars. */
export function launchCost(pool: PoolInForce, startMs: number): number {
  return pool.dollarsPerLaunch + (priceOf(pool) / 1e6) * ((startMs + DRAIN_MS) / 3_600_000);
}

/** How many daemons are worth their start; 1 at the least. `start`: dollars. */
export function daemonsWorth({ jobs, tookMs = UNKNOWN_MS, waitedMs, value }: Backlog, start: number): number {
  const cheapest = start <= 0 ? jobs : jobs * Math.sqrt(((tookMs / 60_000) * value) / (2 * start));
  const inTime = (jobs * tookMs) / Math.max(LEAST_MS, LAST_MS - waitedMs);
  return Math.min(jobs, Math.max(1, Math.ceil(cheapest), Math.ceil(inTime)));
}
