/** The autoscaler at several prices of waiting, as a curve of cost against wait. From sketches. */
import type { SketchedPrice } from '../../replay/result.ts';
import { type Html, html } from '../parts/html.ts';
import { dollars, estimateText, priceText, seconds } from '../parts/numbers.ts';
import { lookOf } from '../parts/palette.ts';
import type { Spot } from './label-places.ts';
import { THIN_LINES } from './style.ts';

export type WaitAxis = 'mean' | 'p95';
const WAITS = { mean: 'meanWaitS', p95: 'p95WaitS' } as const;

export type Point = [cost: number, wait: number];

export const levelsOf = (price: SketchedPrice, axis: WaitAxis): Point => [
  price.dollars.value,
  price[WAITS[axis]].value,
];

/** The ends of the ranges: across for the cost, upright for the wait. */
export function rangesOf(price: SketchedPrice, axis: WaitAxis): readonly (readonly [Point, Point])[] {
  const { dollars: cost, [WAITS[axis]]: wait } = price;
  if (cost.range === undefined || wait.range === undefined) return [];
  const [[least, most], [shortest, longest]] = [cost.range, wait.range];
  return [
    [
      [least, wait.value],
      [most, wait.value],
    ],
    [
      [cost.value, shortest],
      [cost.value, longest],
    ],
  ];
}

export const CURVE_COLOR = lookOf(0).color;

export function curveSeries(
  curve: readonly Point[],
  ranges: ReturnType<typeof rangesOf>,
  drawn: (point: Point) => Point,
) {
  return {
    type: 'line' as const,
    symbol: 'none',
    silent: true,
    clip: false,
    lineStyle: { color: CURVE_COLOR, width: 1.5 },
    tooltip: { show: false },
    data: curve.map(drawn),
    markLine: {
      ...THIN_LINES,
      lineStyle: { ...THIN_LINES.lineStyle, color: CURVE_COLOR, opacity: 0.3 },
      data: ranges.map(([from, to]): [{ coord: Point }, { coord: Point }] => [
        { coord: drawn(from) },
        { coord: drawn(to) },
      ]),
    },
  };
}

/** Pixels. */
export const PRICE_RADIUS = 5;

/** The style of a point: the present price is filled. */
export const priceLook = ({ isConfigured }: SketchedPrice) => ({
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

export const priceTip = ({ price, dollars: cost, meanWaitS, p95WaitS }: SketchedPrice): Html =>
  html`<b>autoscaler at ${priceText(price)} a minute (sketch)</b>
    <p>${estimateText(cost, dollars)} of tasks</p>
    <p>wait: mean ${estimateText(meanWaitS, seconds)}, p95 ${estimateText(p95WaitS, seconds)}</p>`;

/** Pixels. The first of prices that are closer than this has a name for all of them. */
const SAME_PLACE = 12;

/** `$0.05`, `$0.10 now`, `$0.05 to $2.00, now $0.10`; empty: an earlier point has it. */
export function priceNames(prices: readonly SketchedPrice[], spots: readonly Spot[]): readonly string[] {
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

function nameOf(same: readonly SketchedPrice[]): string {
  const ends = same.filter((_, at) => at === 0 || at === same.length - 1);
  const between = same.slice(1, -1).find(({ isConfigured }) => isConfigured);
  const name = ends
    .map(({ price, isConfigured }) => `${priceText(price)}${isConfigured ? ' now' : ''}`)
    .join(' to ');
  return between === undefined ? name : `${name}, now ${priceText(between.price)}`;
}
