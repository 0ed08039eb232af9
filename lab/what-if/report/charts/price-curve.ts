/** The autoscaler at several prices of waiting, as a curve of cost against wait.  */
import type { PricePoint } from '../../replay/result.ts';
import { type Html, html } from '../parts/html.ts';
import { dollars, priceText, seconds } from '../parts/numbers.ts';
import { lookOf } from '../parts/palette.ts';
import type { Spot } from './label-places.ts';

export type WaitAxis = 'mean' | 'p95';

export type Point = [cost: number, wait: number];

export const CURVE_COLOR = lookOf(0).color;

export const curveSeries = (curve: readonly Point[]) => ({
  type: 'line' as const,
  symbol: 'none',
  silent: true,
  clip: false,
  lineStyle: { color: CURVE_COLOR, width: 1.5 },
  tooltip: { show: false },
  data: [...curve],
});

/** Pixels. */
export const PRICE_RADIUS = 5;

/** The style of a point: the present price is filled. */
export const priceLook = ({ isConfigured }: PricePoint) => ({
  symbol: 'circle',
  symbolSize: isConfigured ? 2 * PRICE_RADIUS : 7,
  itemStyle: {
    color: isConfigured ? CURVE_COLOR : 'var(--paper)',
    opacity: 1,
    borderColor: CURVE_COLOR,
    borderWidth: 1.5,
  },
  label: { color: CURVE_COLOR },
});

export const priceTip = ({ price, figures: { dollars: cost, waitOfPeople: wait } }: PricePoint): Html =>
  html`<b>autoscaler at ${priceText(price)} a minute</b>
    <p>${dollars(cost.tasks)} of tasks</p>
    <p>wait: mean ${seconds(wait.meanS)}, p95 ${seconds(wait.p95S)}</p>`;

/** Pixels. The first of prices that are closer than this has a name for all of them. */
const SAME_PLACE = 12;

/** `$0.05`, `$0.10 now`, `$0.05 to $2.00, now $0.10`; empty: an earlier point has it. */
export function priceNames(prices: readonly PricePoint[], spots: readonly Spot[]): readonly string[] {
  const groups: number[][] = [];
  for (const [at, { x, y }] of spots.entries()) {
    const group = groups.at(-1) ?? [];
    const first = spots[group[0] ?? -1];
    if (first !== undefined && Math.hypot(first.x - x, first.y - y) < SAME_PLACE) group.push(at);
    else groups.push([at]);
  }
  return groups.flatMap((group) => {
    const same = group.flatMap((at) => prices[at] ?? []);
    return [nameOf(same), ...same.slice(1).map(() => '')];
  });
}

function nameOf(same: readonly PricePoint[]): string {
  const ends = same.filter((_, at) => at === 0 || at === same.length - 1);
  const between = same.slice(1, -1).find(({ isConfigured }) => isConfigured);
  const name = ends
    .map(({ price, isConfigured }) => `${priceText(price)}${isConfigured ? ' now' : ''}`)
    .join(' to ');
  return between === undefined ? name : `${name}, now ${priceText(between.price)}`;
}
