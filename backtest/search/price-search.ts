/**
 * Searches the price of waiting that meets a target. With a higher price cost rises and waits fall,
 * up to chance. All prices are tried with one seed; the most promising ones, then, with all seeds. A
 * target is met if the upper end of the range meets it, so that it will be met in the next week, too.
 */
import { meanOf } from '../../lambda/decision/model/collections.ts';
import { DAY_MS } from '../../lambda/decision/model/units.ts';
import * as estimate from '../estimate/estimate.ts';
import { type Estimates, estimatesOf } from '../estimate/estimate.ts';
import { type Figures, lostJobs } from '../replay/result.ts';
import type { Run } from '../replay/run.ts';
import type { Trace } from '../trace/trace.ts';

export type Target =
  | { readonly kind: 'budget'; readonly dollarsPerMonth: number }
  | { readonly kind: 'mean-wait'; readonly seconds: number }
  | { readonly kind: 'p95-wait'; readonly seconds: number };

export type PriceSearch = {
  /** The best price that meets the target with all seeds. Undefined: there is none, or no target. */
  readonly best: PricePoint | undefined;
  /** All prices, lowest first. */
  readonly points: readonly PricePoint[];
  /** The prices worth choosing: the best one, or else the configured one, and its neighbours. */
  readonly worth: readonly PricePoint[];
};

type Replays = {
  readonly prices: readonly number[];
  readonly configured: number;
  /** Replays with one seed, or with all of them. */
  readonly runAt: (price: number, seeds: 'one' | 'all') => Promise<PricePoint>;
};

export async function findPrice(target: Target | undefined, replays: Replays): Promise<PriceSearch> {
  const { prices, configured, runAt } = replays;
  const points = new Map<number, PricePoint>();
  const put = async (price: number, seeds: 'one' | 'all'): Promise<PricePoint> => {
    const point = await runAt(price, seeds);
    points.set(price, point);
    return point;
  };
  const all = (): readonly PricePoint[] => [...points.values()].sort((a, b) => a.price - b.price);
  if (target !== undefined) {
    const kindest = await put(kindestOf(target, prices), 'one');
    if (!isMetOnAverage(target, kindest)) return { best: undefined, points: all(), worth: [] };
  }
  await Promise.all(prices.filter((price) => !points.has(price)).map((price) => put(price, 'one')));
  const best = target === undefined ? undefined : await bestOf(target, all(), put);
  const at = prices.indexOf(best?.price ?? configured);
  const worth = prices.slice(Math.max(0, at - 1), at + 2);
  const rough = [...new Set([configured, ...worth])].filter((price) => points.get(price)?.seeds === 1);
  await Promise.all(rough.map((price) => put(price, 'all')));
  return { best, points: all(), worth: all().filter(({ price }) => worth.includes(price)) };
}

/** The price that meets the target if any does. */
function kindestOf(target: Target, prices: readonly number[]): number {
  return target.kind === 'budget' ? Math.min(...prices) : Math.max(...prices);
}

/** Within a budget the shortest wait, within a wait the lowest cost. */
async function bestOf(
  target: Target,
  tried: readonly PricePoint[],
  put: (price: number, seeds: 'all') => Promise<PricePoint>,
): Promise<PricePoint | undefined> {
  const order = (point: PricePoint): number =>
    target.kind === 'budget' ? point.seen.meanWaitS.value : point.seen.dollarsPerMonth.value;
  const promising = tried
    .filter((point) => isMetOnAverage(target, point))
    .sort((a, b) => order(a) - order(b));
  for (const { price } of promising) {
    const point = await put(price, 'all');
    if (isMet(target, point)) return point;
  }
  return undefined;
}

/** Whether the upper end of the range meets the target; the level where there is no range. */
export function isMet(target: Target, { seen }: Pick<PricePoint, 'seen'>): boolean {
  const { value, range } = seen[figureOf(target)];
  return (range?.[1] ?? value) <= mostOf(target);
}

/** Whether the level meets the target. */
export const isMetOnAverage = (target: Target, { seen }: Pick<PricePoint, 'seen'>): boolean =>
  seen[figureOf(target)].value <= mostOf(target);

/** The figure that a target limits. */
export const figureOf = ({ kind }: Target): keyof Levels => FIGURES[kind];

const FIGURES = { budget: 'dollarsPerMonth', 'mean-wait': 'meanWaitS', 'p95-wait': 'p95WaitS' } as const;

/** The most that the figure may be. */
export const mostOf = (target: Target): number =>
  target.kind === 'budget' ? target.dollarsPerMonth : target.seconds;

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
type Levels = { readonly [name in keyof Estimates]: number };

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
