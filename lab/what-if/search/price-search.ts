/**
 * Searches the price of waiting that meets a target. With a higher price cost rises and waits fall, up to
 * chance. All prices are tried in a sketch of the world, with all seeds. A target is met if the upper end
 * of the range meets it, so that it will be met in the next week, too.
 */
import { meanOf } from '../../../lambda/decision/model/collections.ts';
import { DAY_MS } from '../../../lambda/decision/model/units.ts';
import { type Estimate, type Estimates, estimatesOf } from '../estimate/estimate.ts';
import type { Figures } from '../replay/result.ts';
import type { Trace, TraceJob } from '../trace/trace.ts';
import type { Sketch } from './sketch.ts';

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

/** `points`: with all seeds, lowest price first. */
export function findPrice(target: Target | undefined, points: readonly PricePoint[]): PriceSearch {
  if (target === undefined) return { best: undefined, points, worth: around(points, isConfigured) };
  const best = bestOf(target, points);
  return { best, points, worth: best === undefined ? [] : around(points, (point) => point === best) };
}

const isConfigured = (point: PricePoint): boolean => point.isConfigured;

/** A point and its neighbours. */
function around(
  points: readonly PricePoint[],
  isMiddle: (point: PricePoint) => boolean,
): readonly PricePoint[] {
  const at = points.findIndex(isMiddle);
  return points.slice(Math.max(0, at - 1), at + 2);
}

/**
 * What replays have for each 1 of a sketch, and the factor within which nine in ten are of that
 * (docs/adr/0045-how-sure-a-figure-is.md).
 */
const REPLAYED: Levels = { dollarsPerMonth: 1.1, meanWaitS: 0.95, p95WaitS: 1 };
const OFF_BY: Levels = { dollarsPerMonth: 1.2, meanWaitS: 1.35, p95WaitS: 1.2 };

function asReplayed({ value, range }: Estimate, name: keyof Levels): Estimate {
  const level = value * REPLAYED[name];
  if (range === undefined) return { value: level };
  const [low, high] = range;
  if (value === 0) return { value, range: [0, high * REPLAYED[name]] };
  const by = OFF_BY[name];
  return { value: level, range: [level / widened(value / low, by), level * widened(high / value, by)] };
}

function allAsReplayed({ dollarsPerMonth, meanWaitS, p95WaitS }: Estimates): Estimates {
  return {
    dollarsPerMonth: asReplayed(dollarsPerMonth, 'dollarsPerMonth'),
    meanWaitS: asReplayed(meanWaitS, 'meanWaitS'),
    p95WaitS: asReplayed(p95WaitS, 'p95WaitS'),
  };
}

/** Two independent factors together. */
const widened = (factor: number, other: number): number =>
  Number.isFinite(factor) ? Math.exp(Math.hypot(Math.log(factor), Math.log(other))) : factor;

/** Within a budget the shortest wait, within a wait the lowest cost. */
function bestOf(target: Target, points: readonly PricePoint[]): PricePoint | undefined {
  const order = ({ seen }: PricePoint): number =>
    target.kind === 'budget' ? seen.meanWaitS.value : seen.dollarsPerMonth.value;
  return points.filter((point) => isMet(target, point)).toSorted((a, b) => order(a) - order(b))[0];
}

/** Whether the upper end of the range meets the target; the level where there is no range. */
export function isMet(target: Target, { seen }: Pick<PricePoint, 'seen'>): boolean {
  const { value, range } = seen[figureOf(target)];
  return (range?.[1] ?? value) <= mostOf(target);
}

export const isMetOnAverage = (target: Target, { seen }: Pick<PricePoint, 'seen'>): boolean =>
  seen[figureOf(target)].value <= mostOf(target);

export const figureOf = ({ kind }: Target): keyof Levels => FIGURES[kind];

const FIGURES = { budget: 'dollarsPerMonth', 'mean-wait': 'meanWaitS', 'p95-wait': 'p95WaitS' } as const;

export const mostOf = (target: Target): number =>
  target.kind === 'budget' ? target.dollarsPerMonth : target.seconds;

export type PricePoint = {
  /** Dollars for each minute of a person. The other prices of waiting change in proportion. */
  readonly price: number;
  readonly isConfigured: boolean;
  readonly seeds: number;
  /** All days. */
  readonly estimates: Estimates;
  /** The days by which the price is chosen. */
  readonly seen: Estimates;
  /** The days that are held back. Undefined: the history is too short. */
  readonly heldOut: Levels | undefined;
  /** Means of the whole trace. */
  readonly launches: number;
  readonly idleLaunches: number;
  /** The most tasks of all seeds. `byPool`: only of pools that ran a job. */
  readonly peaks: Figures['peaks'];
};

/** Tasks and launches of a month, and the wait of people in seconds. */
type Levels = { readonly [name in keyof Estimates]: number };

/** The prices to try: dollars for each minute of a person. */
export const USUAL_PRICES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2] as const;

type History = Pick<Trace, 'from' | 'to'> & { readonly jobs: readonly Pick<TraceJob, 'at'>[] };

/**
 * The last third of two weeks or more, so that a change shows; else every third day. None of five, or if
 * one of the two parts would have hardly a day with jobs.
 */
export function heldBack({ from, to, jobs }: History): readonly boolean[] {
  const days = Math.max(1, Math.floor((to - from) / DAY_MS));
  const weeks = Math.floor(days / 7);
  const last = 7 * Math.max(1, Math.floor(weeks / 3));
  const held = Array.from({ length: days }, (_, day) => {
    if (weeks >= 2) return day >= days - last;
    return days >= LEAST_SPLIT_DAYS && day % 3 === 2;
  });
  const busy = new Set(jobs.map(({ at }) => Math.min(days - 1, Math.floor((at - from) / DAY_MS))));
  const busyHeld = [...busy].filter((day) => held[day]).length;
  return held.map((isHeld) => isHeld && busyHeld > 0 && busy.size - busyHeld >= LEAST_BUSY_DAYS);
}

const LEAST_BUSY_DAYS = 2;

const LEAST_SPLIT_DAYS = 6;

/** `sketches`: one for each seed. */
export function pricePoint(
  { price, isConfigured }: Pick<PricePoint, 'price' | 'isConfigured'>,
  sketches: readonly Sketch[],
  history: History,
): PricePoint {
  const isHeldBack = heldBack(history);
  const daysOf = (which: boolean) =>
    sketches.map(({ days }) => days.filter((_, day) => isHeldBack[day] === which));
  return {
    ...{ price, isConfigured, seeds: sketches.length },
    estimates: allAsReplayed(estimatesOf(sketches.map(({ days }) => days))),
    seen: allAsReplayed(estimatesOf(daysOf(false))),
    heldOut: isHeldBack.includes(true) ? levelsOf(allAsReplayed(estimatesOf(daysOf(true)))) : undefined,
    launches: meanOf(sketches.map(({ launches }) => launches)),
    idleLaunches: meanOf(sketches.map(({ idleLaunches }) => idleLaunches)),
    peaks: highestPeaks(sketches.map(({ peaks }) => peaks)),
  };
}

function highestPeaks(peaks: readonly PricePoint['peaks'][]): PricePoint['peaks'] {
  const byPool: Record<string, number> = {};
  for (const [pool, peak] of peaks.flatMap((each) => Object.entries(each.byPool)))
    byPool[pool] = Math.max(byPool[pool] ?? 0, peak);
  return { all: Math.max(...peaks.map(({ all }) => all)), byPool };
}

function levelsOf({ dollarsPerMonth, meanWaitS, p95WaitS }: Estimates): Levels {
  return {
    dollarsPerMonth: dollarsPerMonth.value,
    meanWaitS: meanWaitS.value,
    p95WaitS: p95WaitS.value,
  };
}
