/** Computes cost per month and wait of people at a price of waiting, from one run of the autoscaler. */
import { MONTH_MS } from '../../lambda/decision/model/units.ts';
import { lostJobs } from '../replay/result.ts';
import type { Run } from '../replay/run.ts';
import type { Trace } from '../trace/trace.ts';

/** One run of the autoscaler at one price of waiting. */
export type PricePoint = {
  /** Dollars for each minute of a person. The other prices of waiting change in proportion. */
  readonly price: number;
  readonly isConfigured: boolean;
  /** Cost of tasks and launches for a month of 730 hours. */
  readonly dollarsPerMonth: number;
  /** The wait of people. */
  readonly meanWaitS: number;
  readonly p95WaitS: number;
  /** Jobs of people that waited longer than 10 s. */
  readonly over10s: number;
  readonly launches: number;
  /** Launches whose daemon never had a job. */
  readonly idleLaunches: number;
  /** Jobs that were killed, failed by coderd after 30 min, or never run. */
  readonly lostJobs: number;
};

/** The prices to try first: dollars for each minute of a person. */
export const USUAL_PRICES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2] as const;

type Period = Pick<Trace, 'from' | 'to'>;

/** An amount of a whole trace, for a month of 730 hours. */
export const perMonth = (amount: number, { from, to }: Period): number => (amount * MONTH_MS) / (to - from);

export function pricePoint(
  { price, isConfigured }: Pick<PricePoint, 'price' | 'isConfigured'>,
  { figures }: Pick<Run, 'figures'>,
  period: Period,
): PricePoint {
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
export function withConfigured(prices: readonly number[], configured: number): readonly number[] {
  return [...new Set([...prices, configured])].sort((a, b) => a - b);
}
