/**
 * Computes the points of a sweep: cost per month and wait of people, from one run for each price of
 * waiting.
 */

import { lostJobs, type SweepPoint } from '../replay/result.ts';
import type { Run } from '../replay/run.ts';
import type { Trace } from '../trace/trace.ts';

/** Dollars for each minute of a person. */
export const SWEEP_PRICES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2] as const;

const MONTH_MS = 30.4 * 86_400_000;

type Period = Pick<Trace, 'from' | 'to'>;

/** An amount of a whole trace, for a month of 30.4 days. */
export const perMonth = (amount: number, { from, to }: Period): number => (amount * MONTH_MS) / (to - from);

export function sweepPoint(
  { price, isConfigured }: Pick<SweepPoint, 'price' | 'isConfigured'>,
  { figures }: Pick<Run, 'figures'>,
  period: Period,
): SweepPoint {
  const { dollars, waitOfPeople: wait, tasks } = figures;
  return {
    price,
    isConfigured,
    dollarsPerMonth: perMonth(dollars.tasks, period),
    meanWaitS: wait.meanS,
    p95WaitS: wait.p95S,
    over10s: Math.round(wait.over10s * wait.jobs),
    launches: tasks.launches,
    idleLaunches: tasks.idleLaunches,
    lostJobs: lostJobs(figures),
  };
}

/** All prices and the configured one, without duplicates, lowest first. */
export function sweepPrices(prices: readonly number[], configured: number): readonly number[] {
  return [...new Set([...prices, configured])].sort((a, b) => a - b);
}
