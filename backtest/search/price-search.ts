/**
 * Searches the price of waiting that meets a target. With a higher price, cost rises and waits
 * fall, up to noise from different start times. So the search compares all runs at the end, not
 * only the last two.
 */

import type { PricePoint } from './price-point.ts';

export type Target =
  | { readonly kind: 'budget'; readonly dollarsPerMonth: number }
  | { readonly kind: 'mean-wait'; readonly seconds: number }
  | { readonly kind: 'p95-wait'; readonly seconds: number };

export type PriceSearch = {
  /** The best run that meets the target; undefined where no price meets it. */
  readonly best: PricePoint | undefined;
  /** All runs, lowest price first. */
  readonly points: readonly PricePoint[];
};

/**
 * Runs at each of `prices`, then between the last price that meets the target and the next one that
 * does not.
 */
export async function findPrice(
  target: Target,
  prices: readonly number[],
  runAt: (price: number) => Promise<PricePoint>,
): Promise<PriceSearch> {
  const points = [...(await Promise.all(prices.map(runAt)))];
  for (let step = 0; step < BISECTIONS; step++) {
    const price = between(target, points);
    if (price === undefined) break;
    points.push(await runAt(price));
  }
  points.sort((a, b) => a.price - b.price);
  return { best: bestOf(target, points), points };
}

/**
 * Each one halves the distance on a logarithmic scale. Three leave a tenth of the step from 0.10 to
 * 0.20.
 */
const BISECTIONS = 3;

/**
 * The geometric mean, in two digits: a trace cannot justify more. Undefined: nothing is left to
 * try.
 */
function between(target: Target, points: readonly PricePoint[]): number | undefined {
  const ordered = points.toSorted((a, b) => a.price - b.price);
  const isMet = ordered.map((point) => meets(target, point));
  const edge = target.kind === 'budget' ? isMet.lastIndexOf(true) : isMet.indexOf(true);
  const [one, other] = [ordered[edge], ordered[target.kind === 'budget' ? edge + 1 : edge - 1]];
  if (edge < 0 || one === undefined || other === undefined) return undefined;
  const middle = Number(Math.sqrt(one.price * other.price).toPrecision(2));
  return ordered.some(({ price }) => price === middle) ? undefined : middle;
}

export function meets(target: Target, point: PricePoint): boolean {
  switch (target.kind) {
    case 'budget':
      return point.dollarsPerMonth <= target.dollarsPerMonth;
    case 'mean-wait':
      return point.meanWaitS <= target.seconds;
    case 'p95-wait':
      return point.p95WaitS <= target.seconds;
    default:
      return target satisfies never;
  }
}

/** Within a budget the shortest wait; within a wait the lowest cost. */
function bestOf(target: Target, points: readonly PricePoint[]): PricePoint | undefined {
  const byWait = (a: PricePoint, b: PricePoint) =>
    a.meanWaitS - b.meanWaitS || a.dollarsPerMonth - b.dollarsPerMonth;
  const byCost = (a: PricePoint, b: PricePoint) =>
    a.dollarsPerMonth - b.dollarsPerMonth || a.meanWaitS - b.meanWaitS;
  const order = target.kind === 'budget' ? byWait : byCost;
  return points.filter((point) => meets(target, point)).sort(order)[0];
}
