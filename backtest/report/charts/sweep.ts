/**
 * The chart of the sweep: cost against wait, one point for each price of waiting. Both scales are
 * linear, so the chart shows how much wait one more dollar saves.
 */
import type { EChartsOption } from 'echarts';
import type { SweepPoint } from '../../replay/result.ts';
import { html } from '../parts/html.ts';
import { count, dollars, seconds } from '../parts/numbers.ts';
import { labelAt, leadersMark } from './label.ts';
import { type LabelPlace, placeLabels, type Size } from './label-places.ts';
import { areaOf, DOTTED_LINE, POINTS, pointStyle, roundDollars } from './points.ts';
import { AXIS, BASE, indexOfHit, TOOLTIP } from './style.ts';

const MARGIN = { left: 56, right: 24, top: 16, bottom: 46 } as const;
const CORNER = { x: MARGIN.left, y: MARGIN.top } as const;

/** The first series has the prices, lowest first. */
export function sweepOption(points: readonly SweepPoint[], size: Size): EChartsOption {
  const costs = scaleOf(points.map(({ dollarsPerMonth }) => dollarsPerMonth));
  const waits = scaleOf([0, ...points.map(({ meanWaitS }) => meanWaitS)]);
  const spots = points.map(spotIn(costs, waits, size));
  const places = placeLabels(spots, { area: areaOf(size, MARGIN), lines: [spots] });
  return {
    ...BASE,
    grid: MARGIN,
    tooltip: { ...TOOLTIP, trigger: 'item', formatter: (hit) => tipOf(points, hit) },
    xAxis: { ...axis(costs, roundDollars), name: 'Fargate, dollars per month', nameGap: 28 },
    yAxis: axis(waits, (tick) => `${tick} s`),
    series: [prices(points, places), { ...line(points), markLine: leadersMark(places, CORNER) }],
  };
}

const nameOf = ({ price, isConfigured }: SweepPoint): string =>
  `${dollars(price)}${isConfigured ? ' (configured)' : ''}`;

const costAndWait = ({ dollarsPerMonth, meanWaitS }: SweepPoint): [cost: number, wait: number] => [
  dollarsPerMonth,
  meanWaitS,
];

type Scale = { readonly from: number; readonly to: number; readonly step: number };

/** From the last step below all values to the first step above them: four to ten steps. */
function scaleOf(values: readonly number[]): Scale {
  const [least, most] = values.length === 0 ? [0, 1] : [Math.min(...values), Math.max(...values)];
  const span = most - least || most || 1;
  const power = 10 ** Math.floor(Math.log10(span));
  const step = [0.1, 0.2, 0.5, 1].map((part) => part * power).find((each) => span / each <= 6) ?? power;
  const [first, last] = [Math.floor(least / step), Math.ceil(most / step)];
  const to = last * step - most < step / 4 ? last + 1 : last;
  return { from: round(first * step), to: round(to * step), step };
}

/** Removes floating-point noise from sums of steps. */
const round = (value: number): number => Number(value.toPrecision(12));

const spotIn = (costs: Scale, waits: Scale, size: Size) => (point: SweepPoint) => {
  const area = areaOf(size, MARGIN);
  const share = ({ from, to }: Scale, value: number): number => (value - from) / (to - from);
  return {
    name: nameOf(point),
    isBold: point.isConfigured,
    x: share(costs, point.dollarsPerMonth) * area.width,
    y: (1 - share(waits, point.meanWaitS)) * area.height,
  };
};

const axis = ({ from, to, step }: Scale, label: (tick: number) => string) => ({
  ...AXIS,
  type: 'value' as const,
  min: from,
  max: to,
  interval: step,
  nameLocation: 'middle' as const,
  axisLabel: { ...AXIS.axisLabel, formatter: (tick: number) => label(round(tick)), hideOverlap: true },
});

function prices(points: readonly SweepPoint[], places: readonly (LabelPlace | undefined)[]) {
  return {
    ...POINTS,
    data: points.map((point, at) => ({
      value: costAndWait(point),
      symbol: point.isConfigured ? 'diamond' : 'circle',
      symbolSize: point.isConfigured ? 18 : 11,
      itemStyle: pointStyle('var(--policy-1)'),
      label: {
        ...labelAt(places[at]),
        color: point.isConfigured ? 'var(--policy-1)' : 'var(--muted)',
        ...(point.isConfigured ? { fontWeight: 700 as const } : {}),
      },
    })),
  };
}

/** The dotted line from price to price. */
const line = (points: readonly SweepPoint[]) => ({ ...DOTTED_LINE, data: points.map(costAndWait) });

function tipOf(points: readonly SweepPoint[], hit: unknown): string {
  const point = points[indexOfHit(hit) ?? -1];
  if (point === undefined) return '';
  return html`<b>${nameOf(point)} a minute</b>
    <p>${dollars(point.dollarsPerMonth)} per month, ${count(point.launches)} launches</p>
    <p>wait: mean ${seconds(point.meanWaitS)}, p95 ${seconds(point.p95WaitS)}, ${count(point.over10s)} over 10 s</p>`
    .text;
}
