/**
 * Searches the price of waiting that meets a target. With a higher price cost rises and waits fall,
 * up to chance. All prices are tried in a sketch of the world, with all seeds; the function itself is
 * replayed at the configured price and at the best one, and these replays correct the sketch. A target
 * is met if the upper end of the range meets it, so that it will be met in the next week, too.
 */
import { meanOf } from '../../lambda/decision/model/collections.ts';
import { DAY_MS } from '../../lambda/decision/model/units.ts';
import * as estimate from '../estimate/estimate.ts';
import { type Estimate, type Estimates, estimatesOf } from '../estimate/estimate.ts';
import { type Figures, lostJobs } from '../replay/result.ts';
import type { Run } from '../replay/run.ts';
import type { Trace } from '../trace/trace.ts';
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

type Tries = {
  readonly prices: readonly number[];
  readonly configured: number;
  readonly sketchAt: (price: number) => PricePoint;
  readonly replayAt: (price: number) => Promise<Correction>;
};

export async function findPrice(target: Target | undefined, tries: Tries): Promise<PriceSearch> {
  const { prices, configured, sketchAt, replayAt } = tries;
  const sketched = prices.map(sketchAt);
  const corrections = new Map<number, Correction>();
  const replay = async (price: number): Promise<void> => void corrections.set(price, await replayAt(price));
  const bestAmong = (points: readonly PricePoint[]): PricePoint | undefined =>
    target === undefined ? undefined : bestOf(target, points);
  if (target !== undefined && sketched.every((point) => isFarFrom(target, point)))
    return { best: undefined, points: sketched, worth: [] };
  const promising = bestAmong(sketched)?.price ?? configured;
  await Promise.all([...new Set([configured, promising])].map(replay));
  let points = correct(sketched, corrections);
  let best = bestAmong(points);
  while (best !== undefined && !corrections.has(best.price) && corrections.size < MOST_REPLAYS) {
    await replay(best.price);
    points = correct(sketched, corrections);
    best = bestAmong(points);
  }
  if (target !== undefined && best === undefined) return { best, points, worth: [] };
  const at = prices.indexOf(best?.price ?? configured);
  return { best, points, worth: points.slice(Math.max(0, at - 1), at + 2) };
}

/** The best price hardly changes after so many replays. */
const MOST_REPLAYS = 3;

/** Beyond what a correction changes. */
const FAR = 2;

function isFarFrom(target: Target, { seen }: PricePoint): boolean {
  return seen[figureOf(target)].value > FAR * mostOf(target);
}

/** What replays of some days had, and the sketch of the same days. */
export type Correction = {
  readonly replayed: Levels;
  readonly sketched: Levels;
  readonly peaks: Figures['peaks'];
  readonly lostJobs: number;
};

/** A wait of less than this shows nothing of how far the sketch is off; few jobs wait longest. */
const LEAST: Levels = { dollarsPerMonth: 0.01, meanWaitS: 1, p95WaitS: 20 };
/** How far a figure may be off in nine of ten cases, beside what days differ (docs/adr/0045). */
const OFF_BY: Levels = { dollarsPerMonth: 1.25, meanWaitS: 1.4, p95WaitS: 1.25 };

function correct(
  points: readonly PricePoint[],
  corrections: ReadonlyMap<number, Correction>,
): readonly PricePoint[] {
  const all = [...corrections].toSorted(([a], [b]) => a - b);
  return points.map((point) => {
    const factorOf = (name: keyof Levels): number =>
      between(
        all.map(([price, { replayed, sketched }]) => {
          const factor = (replayed[name] + LEAST[name]) / (sketched[name] + LEAST[name]);
          return { at: Math.log(price), value: Math.log(factor) };
        }),
        Math.log(point.price),
      );
    return corrected(point, each(factorOf), corrections);
  });
}

/** Interpolates between sorted points, and returns the exponential. */
function between(points: readonly { readonly at: number; readonly value: number }[], at: number): number {
  const after = points.findIndex((point) => point.at >= at);
  const high = points.at(after);
  const low = after <= 0 ? high : points[after - 1];
  if (low === undefined || high === undefined) return 1;
  const share = high.at === low.at ? 0 : (at - low.at) / (high.at - low.at);
  return Math.exp(low.value + share * (high.value - low.value));
}

function corrected(
  point: PricePoint,
  factors: Levels,
  corrections: ReadonlyMap<number, Correction>,
): PricePoint {
  const own = corrections.get(point.price);
  const of = (name: keyof Levels): Estimate => {
    const { value, range } = point.seen[name];
    const level = value * factors[name];
    if (range === undefined) return { value: level };
    const wider = ([low, high]: readonly [number, number]) =>
      [level / widened(value / low, OFF_BY[name]), level * widened(high / value, OFF_BY[name])] as const;
    return { value: level, range: value === 0 ? range : wider(range) };
  };
  const { heldOut } = point;
  return {
    ...point,
    isReplayed: own !== undefined,
    seen: each(of),
    heldOut: heldOut && each((name) => heldOut[name] * factors[name]),
    lostJobs: own?.lostJobs ?? 0,
    peaks: highestPeaks([point.peaks, ...[...corrections.values()].map(({ peaks }) => peaks)]),
  };
}

const each = <T>(of: (name: keyof Levels) => T): Readonly<Record<keyof Levels, T>> => ({
  dollarsPerMonth: of('dollarsPerMonth'),
  meanWaitS: of('meanWaitS'),
  p95WaitS: of('p95WaitS'),
});

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
  /** Whether the function was replayed at this price, on some of the days. */
  readonly isReplayed: boolean;
  /** The days by which the price is chosen. */
  readonly seen: Estimates;
  /** The days that are held back. Undefined: the history is too short. */
  readonly heldOut: Levels | undefined;
  /** Means of the whole trace. */
  readonly launches: number;
  readonly idleLaunches: number;
  /** Jobs that were killed, failed by coderd after 30 min, or never run, in the days that were replayed. */
  readonly lostJobs: number;
  /** The most tasks of all seeds and replays. `byPool`: only of pools that ran a job. */
  readonly peaks: Figures['peaks'];
};

/** Tasks and launches of a month, and the wait of people in seconds. */
type Levels = { readonly [name in keyof Estimates]: number };

/** The prices to try: dollars for each minute of a person. */
export const USUAL_PRICES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2] as const;

type Period = Pick<Trace, 'from' | 'to'>;

export const perMonth = (amount: number, { from, to }: Period): number =>
  estimate.perMonth(amount, to - from);

/** The last third of two weeks or more, so that a change shows; else every third day; none of five. */
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

/** `sketches`: one for each seed. */
export function pricePoint(
  { price, isConfigured }: Pick<PricePoint, 'price' | 'isConfigured'>,
  sketches: readonly Sketch[],
  period: Period,
): PricePoint {
  const isHeldBack = heldBack(period);
  const daysOf = (which: boolean) =>
    sketches.map(({ days }) => days.filter((_, day) => isHeldBack[day] === which));
  return {
    ...{ price, isConfigured, isReplayed: false, seeds: sketches.length },
    seen: estimatesOf(daysOf(false)),
    heldOut: isHeldBack.includes(true) ? levelsOf(estimatesOf(daysOf(true))) : undefined,
    launches: meanOf(sketches.map(({ launches }) => launches)),
    idleLaunches: meanOf(sketches.map(({ idleLaunches }) => idleLaunches)),
    lostJobs: 0,
    peaks: highestPeaks(sketches.map(({ peaks }) => peaks)),
  };
}

/** `run`: a replay of the days of `sketches`. */
export function correctionOf({ days, figures }: Run, sketches: readonly Sketch[]): Correction {
  const ran = Object.entries(figures.peaks.byPool).filter(([pool]) => figures.waitByPool[pool] !== undefined);
  return {
    replayed: levelsOf(estimatesOf([days])),
    sketched: levelsOf(estimatesOf(sketches.map((each) => each.days))),
    peaks: { ...figures.peaks, byPool: Object.fromEntries(ran) },
    lostJobs: lostJobs(figures),
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
