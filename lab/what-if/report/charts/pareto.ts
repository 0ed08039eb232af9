/**
 * Cost against wait: one point for each policy, and a curve of the autoscaler's prices of waiting.
 */
import type { EChartsOption } from 'echarts';
import type { Backtest, PolicyRun } from '../../replay/result.ts';
import { type Html, html } from '../parts/html.ts';
import { dollars, hours, seconds, share } from '../parts/numbers.ts';
import { lookOf, policyName } from '../parts/palette.ts';
import { type LabelPlace, placeLabels, type Spot } from './label-places.ts';
import {
  curveSeries,
  type Point,
  PRICE_RADIUS,
  priceLook,
  priceNames,
  priceTip,
  type WaitAxis,
} from './price-curve.ts';
import { AXIS, BASE, indexOfHit, type Size, THIN_LINES, TOOLTIP } from './style.ts';
import { costTicks, LEAST_COST, LEAST_WAIT_S, logShare, onAxis, waitTicks } from './ticks.ts';

export type CostAxis = 'dollars' | 'hours';
export type ParetoAxes = { readonly cost: CostAxis; readonly wait: WaitAxis };

const MARGIN = { left: 56, right: 18, top: 16, bottom: 46 } as const;

/** Pixels. Points that are closer than this hide one another, so they share a tooltip. */
const OVERLAP_DISTANCE = 8;

/** The first series has the policies, in the order of `backtest.runs`, then the prices of waiting. */
export function paretoOption(backtest: Backtest, axes: ParetoAxes, size: Size): EChartsOption {
  const { runs } = backtest;
  const area = {
    width: size.width - MARGIN.left - MARGIN.right,
    height: size.height - MARGIN.top - MARGIN.bottom,
  };
  const ofRuns = runs.map((run) => pointOf(run, axes));
  const { prices } = backtest;
  const curve = prices.map((price) => pointOf(price, axes));
  const points = [...ofRuns, ...curve];
  const scales = {
    costs: costTicks(
      points.map(([cost]) => cost),
      LEAST_COST[axes.cost],
    ),
    waits: waitTicks(points.map(([, wait]) => wait)),
  };
  const inArea = (point: Point): Spot => spotOf(point, scales, area);
  const spots = points.map(inArea);
  const names = [...runs.map(({ title }) => title), ...priceNames(prices, spots.slice(runs.length))];
  const named = spots.map((spot, at) => ({
    ...spot,
    ...(at < runs.length ? {} : { radius: PRICE_RADIUS }),
    name: names[at] ?? '',
    isBold: at === 0,
  }));
  const best = bestOf(ofRuns);
  const places = placeLabels(named, {
    area,
    lines: [stepsOf(best.map(inArea)), spots.slice(runs.length)],
  });
  const drawn = ([cost, wait]: Point): Point => [onAxis(scales.costs, cost), onAxis(scales.waits, wait)];
  return {
    ...BASE,
    grid: MARGIN,
    tooltip: {
      ...TOOLTIP,
      trigger: 'item',
      formatter: (hit) => tipOf([...runs.map(figuresText), ...prices.map(priceTip)], spots, hit),
    },
    xAxis: {
      ...logAxis(scales.costs, LEAST_COST[axes.cost], axes.cost === 'dollars' ? roundDollars : hours),
      name: axes.cost === 'dollars' ? 'dollars' : 'task-hours',
      nameGap: 28,
    },
    yAxis: logAxis(scales.waits, LEAST_WAIT_S, seconds),
    series: [
      marks([...runs.map((_, at) => policyLook(at)), ...prices.map(priceLook)], points.map(drawn), places),
      { ...frontier(best, drawn), markLine: leadersMark(places) },
      curveSeries(curve.map(drawn)),
    ],
  };
}

type Scales = { readonly costs: readonly number[]; readonly waits: readonly number[] };

const spotOf = ([cost, wait]: Point, { costs, waits }: Scales, { width, height }: Size) => ({
  x: logShare(costs, cost) * width,
  y: (1 - logShare(waits, wait)) * height,
});

function pointOf(
  { figures: { waitOfPeople: wait, dollars, tasks } }: Pick<PolicyRun, 'figures'>,
  axes: ParetoAxes,
): Point {
  return [
    axes.cost === 'dollars' ? dollars.tasks : tasks.hours,
    axes.wait === 'mean' ? wait.meanS : wait.p95S,
  ];
}

/** `$5` for a tick at `$5.00`. */
const roundDollars = (tick: number): string => dollars(tick).replace(/\.00$/, '');

function logAxis(ticks: readonly number[], least: number, label: (tick: number) => string) {
  const customValues = [...ticks];
  return {
    ...AXIS,
    type: 'log' as const,
    min: customValues[0] ?? 1,
    max: customValues.at(-1) ?? 10,
    nameLocation: 'middle' as const,
    axisTick: { ...AXIS.axisTick, customValues },
    axisLabel: {
      ...AXIS.axisLabel,
      customValues,
      formatter: (tick: number) => `${tick === least ? '≤ ' : ''}${label(tick)}`,
      hideOverlap: true,
      showMinLabel: true,
    },
    splitLine: { show: false },
  };
}

function policyLook(at: number) {
  const { color, symbol } = lookOf(at);
  return {
    symbol,
    symbolSize: at === 0 ? 16 : 13,
    itemStyle: { color, opacity: 1, borderColor: 'var(--paper)', borderWidth: 1.5 },
    label: { color, ...(at === 0 ? { fontWeight: 700 as const } : {}) },
  };
}

function marks(
  looks: readonly ReturnType<typeof policyLook>[],
  points: readonly Point[],
  places: readonly (LabelPlace | undefined)[],
) {
  return {
    type: 'scatter' as const,
    clip: false,
    emphasis: { disabled: true },
    // in front of lines
    z: 4,
    data: looks.map((look, at) => ({
      ...look,
      value: points[at] ?? [],
      label: { ...labelAt(places[at]), ...look.label },
    })),
  };
}

const labelAt = (place: LabelPlace | undefined) => ({
  show: place !== undefined,
  position: 'inside' as const,
  offset: [place?.dx ?? 0, place?.dy ?? 0],
  formatter: place?.text ?? '',
  align: place?.align ?? ('center' as const),
  verticalAlign: 'middle' as const,
  fontSize: 13,
  lineHeight: 16,
  textBorderColor: 'var(--paper)',
  textBorderWidth: 3,
});

/** The lines from points to their labels. */
function leadersMark(places: readonly (LabelPlace | undefined)[]) {
  const inChart = ({ x, y }: Spot) => ({ x: x + MARGIN.left, y: y + MARGIN.top });
  return {
    ...THIN_LINES,
    data: places.flatMap((place): [Spot, Spot][] =>
      place?.leader === undefined ? [] : [[inChart(place.leader[0]), inChart(place.leader[1])]],
    ),
  };
}

/** The policies that no other policy beats in both cost and wait, cheapest first. */
function bestOf(points: readonly Point[]): readonly Point[] {
  return points
    .filter(([x, y]) => !points.some(([u, v]) => u <= x && v <= y && (u < x || v < y)))
    .sort(([a], [b]) => a - b);
}

const stepsOf = (spots: readonly Spot[]): readonly Spot[] =>
  spots.flatMap((spot, at) => (at === 0 ? [spot] : [{ x: spot.x, y: spots[at - 1]?.y ?? spot.y }, spot]));

function frontier(best: readonly Point[], drawn: (point: Point) => Point) {
  return {
    type: 'line' as const,
    symbol: 'none',
    silent: true,
    lineStyle: { color: 'var(--faint)', width: 1.5, type: 'dotted' as const },
    tooltip: { show: false },
    step: 'end' as const,
    data: best.map(drawn),
  };
}

function tipOf(texts: readonly Html[], spots: readonly Spot[], hit: unknown): string {
  const spot = spots[indexOfHit(hit)];
  if (spot === undefined) return '';
  const isHere = (other: Spot | undefined): boolean =>
    other !== undefined && Math.hypot(other.x - spot.x, other.y - spot.y) < OVERLAP_DISTANCE;
  return texts
    .filter((_, place) => isHere(spots[place]))
    .map(({ text }) => text)
    .join('');
}

function figuresText(
  { title, figures: { waitOfPeople: wait, tasks, dollars: cost } }: PolicyRun,
  at: number,
): Html {
  return html`<b>${policyName(title, at)}</b>
    <p>${dollars(cost.tasks)} for ${hours(tasks.hours)} of tasks, busy for ${share(tasks.hours > 0 ? tasks.busyHours / tasks.hours : 0)} of that time</p>
    <p>wait: mean ${seconds(wait.meanS)}, p95 ${seconds(wait.p95S)}, longest ${seconds(wait.maxS)}</p>`;
}
