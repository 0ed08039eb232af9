/** Cost and waits at one price of waiting, from replays of the autoscaler with several seeds. */
import { meanOf } from '../../lambda/decision/model/collections.ts';
import { DAY_MS } from '../../lambda/decision/model/units.ts';
import * as estimate from '../estimate/estimate.ts';
import { type Estimates, estimatesOf } from '../estimate/estimate.ts';
import { type Figures, lostJobs } from '../replay/result.ts';
import type { Run } from '../replay/run.ts';
import type { Trace } from '../trace/trace.ts';

export type PricePoint = {
  /** Dollars for each minute of a person. The other prices of waiting change in proportion. */
  readonly price: number;
  readonly isConfigured: boolean;
  /** Replays of the trace. */
  readonly seeds: number;
  /** The days by which the price is chosen. */
  readonly seen: Estimates;
  /** The days that are held back. Undefined: the history is too short. */
  readonly heldOut: Levels | undefined;
  /** Means of one replay of the whole trace. */
  readonly launches: number;
  /** Launches whose daemon never had a job. */
  readonly idleLaunches: number;
  /** Jobs that were killed, failed by coderd after 30 min, or never run. */
  readonly lostJobs: number;
  /** The highest desired counts of all replays. `byPool`: only of pools that ran a job. */
  readonly peaks: Figures['peaks'];
};

/** Tasks and launches of a month, and the wait of people in seconds. */
export type Levels = { readonly [name in keyof Estimates]: number };

/** The prices to try: dollars for each minute of a person. */
export const USUAL_PRICES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2] as const;

type Period = Pick<Trace, 'from' | 'to'>;

/** An amount of a whole trace, for a month. */
export const perMonth = (amount: number, { from, to }: Period): number =>
  estimate.perMonth(amount, to - from);

/**
 * Whether each day of a trace is held back: the last third of the weeks if there are two or more, so
 * that a change shows; else every third day, so that a weekend is not alone. Fewer than six days: none.
 */
export function heldBack({ from, to }: Period): readonly boolean[] {
  const days = Math.max(1, Math.floor((to - from) / DAY_MS));
  const weeks = Math.floor(days / 7);
  const last = 7 * Math.max(1, Math.floor(weeks / 3));
  return Array.from({ length: days }, (_, day) => {
    if (weeks >= 2) return day >= days - last;
    return days >= LEAST_SPLIT_DAYS && day % 3 === 2;
  });
}

const LEAST_SPLIT_DAYS = 6;

/** `runs`: one for each seed. */
export function pricePoint(
  { price, isConfigured }: Pick<PricePoint, 'price' | 'isConfigured'>,
  runs: readonly Run[],
  period: Period,
): PricePoint {
  const mean = (of: (figures: Figures) => number): number => meanOf(runs.map(({ figures }) => of(figures)));
  const isHeldBack = heldBack(period);
  const daysOf = (which: boolean) =>
    runs.map(({ days }) => days.filter((_, day) => isHeldBack[day] === which));
  return {
    price,
    isConfigured,
    seeds: runs.length,
    seen: estimatesOf(daysOf(false)),
    heldOut: isHeldBack.includes(true) ? levelsOf(estimatesOf(daysOf(true))) : undefined,
    launches: mean(({ tasks }) => tasks.launches),
    idleLaunches: mean(({ tasks }) => tasks.idleLaunches),
    lostJobs: mean(lostJobs),
    peaks: highestPeaks(runs.map(({ figures }) => figures)),
  };
}

function highestPeaks(replays: readonly Figures[]): PricePoint['peaks'] {
  const byPool: Record<string, number> = {};
  for (const { peaks, waitByPool } of replays)
    for (const [pool, peak] of Object.entries(peaks.byPool))
      if (waitByPool[pool] !== undefined) byPool[pool] = Math.max(byPool[pool] ?? 0, peak);
  return { all: Math.max(...replays.map(({ peaks }) => peaks.all)), byPool };
}

function levelsOf({ dollarsPerMonth, meanWaitS, p95WaitS }: Estimates): Levels {
  return {
    dollarsPerMonth: dollarsPerMonth.value,
    meanWaitS: meanWaitS.value,
    p95WaitS: p95WaitS.value,
  };
}
