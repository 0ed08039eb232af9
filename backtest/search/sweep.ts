/**
 * Computes the points of a sweep: cost per month and wait of people, from one run for each price of
 * waiting.
 */

import type { SweepPoint } from '../replay/result.ts';
import type { Run } from '../replay/run.ts';
import type { Trace } from '../trace/trace.ts';

/** Dollars for each minute of a person. */
export const SWEEP_PRICES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2] as const;

const MONTH_MS = 30.4 * 86_400_000;

export function sweepPoint(
  { price, isConfigured }: Pick<SweepPoint, 'price' | 'isConfigured'>,
  { figures }: Pick<Run, 'figures'>,
  { from, to }: Pick<Trace, 'from' | 'to'>,
): SweepPoint {
  const { dollars, waitOfPeople: wait, tasks, jobs } = figures;
  return {
    price,
    isConfigured,
    dollarsPerMonth: (dollars.tasks * MONTH_MS) / (to - from),
    meanWaitS: wait.meanS,
    p95WaitS: wait.p95S,
    over10s: Math.round(wait.over10s * wait.jobs),
    launches: tasks.launches,
    idleLaunches: tasks.idleLaunches,
    lostJobs: jobs.killed + jobs.reaped + jobs.unserved,
  };
}

/** All prices and the configured one, without duplicates, lowest first. */
export function sweepPrices(prices: readonly number[], configured: number): readonly number[] {
  return [...new Set([...prices, configured])].sort((a, b) => a - b);
}
