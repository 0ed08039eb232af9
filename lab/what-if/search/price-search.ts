/**
 * Finds the price of waiting that meets a target, by replays: with a higher price cost rises and waits fall, up to
 * chance. Two prices at a time leave a third of the list. A target is met if the upper end of the range meets it, so
 * that it will be met in the next week, too.
 */
import { by } from '../../../lambda/decision/model/collections.ts';
import type { Estimates } from '../estimate/estimate.ts';
import type { PricePoint } from '../replay/result.ts';

export type Target =
  | { readonly kind: 'budget'; readonly dollarsPerMonth: number }
  | { readonly kind: 'mean-wait'; readonly seconds: number }
  | { readonly kind: 'p95-wait'; readonly seconds: number };

export type PriceSearch = {
  /** The best price that meets the target. Undefined: none does, or there is no target. */
  readonly best: PricePoint | undefined;
  /** All prices that were played, lowest first. */
  readonly points: readonly PricePoint[];
};

/** The prices to try: dollars for each minute of a person. */
const USUAL_PRICES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2] as const;

type Played = {
  /** The configured price. */
  readonly present: PricePoint;
  readonly play: (price: number) => Promise<PricePoint>;
};

/** Without a target: the configured price and its neighbours. */
export async function findPrice(target: Target | undefined, played: Played): Promise<PriceSearch> {
  const { present, play } = played;
  const prices = [...new Set([...USUAL_PRICES, present.price])].sort((a, b) => a - b);
  if (target !== undefined) return bestOf(target, prices, played);
  const at = prices.indexOf(present.price);
  const around = await Promise.all(
    prices
      .slice(Math.max(0, at - 1), at + 2)
      .map(async (price) => (price === present.price ? present : play(price))),
  );
  return { best: undefined, points: around };
}

/** Within a budget the dearest price, so the shortest wait; within a wait the cheapest one. */
async function bestOf(
  target: Target,
  prices: readonly number[],
  { present, play }: Played,
): Promise<PriceSearch> {
  const order = target.kind === 'budget' ? prices.toReversed() : prices;
  const points: PricePoint[] = [];
  // the first of the order that meets the target is within these places; the last one: none does
  let [from, to] = [0, order.length];
  const learn = (point: PricePoint): void => {
    const at = order.indexOf(point.price);
    if (isMet(target, point)) to = Math.min(to, at);
    else from = Math.max(from, at + 1);
    points.push(point);
  };
  learn(present);
  while (from < to) {
    const third = (to - from) / 3;
    const next = [from + Math.floor(third), from + Math.floor(2 * third)];
    const tried = order.filter((_, at) => next.includes(at));
    for (const point of await Promise.all(tried.map(play))) learn(point);
  }
  return {
    best: points.find(({ price }) => price === order[to]),
    points: points.toSorted(by(({ price }) => price)),
  };
}

/** Whether the upper end of the range meets the target; the level where there is no range. */
export function isMet(target: Target, { estimates }: Pick<PricePoint, 'estimates'>): boolean {
  const { value, range } = estimates[figureOf(target)];
  return (range?.[1] ?? value) <= mostOf(target);
}

export const figureOf = ({ kind }: Target): keyof Estimates => FIGURES[kind];

const FIGURES = { budget: 'dollarsPerMonth', 'mean-wait': 'meanWaitS', 'p95-wait': 'p95WaitS' } as const;

export const mostOf = (target: Target): number =>
  target.kind === 'budget' ? target.dollarsPerMonth : target.seconds;
