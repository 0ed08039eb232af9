/**
 * Searches the price of waiting that meets a target. With a higher price cost rises and waits fall,
 * up to chance. All prices are tried with one seed; the most promising ones, then, with all seeds. A
 * target is met if the upper end of the range meets it, so that it will be met in the next week, too.
 */
import type { Levels, PricePoint } from './price-point.ts';

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
