/**
 * The chart of the sweep: cost against wait, one point for each price of waiting. Both scales are
 * linear, so the chart shows how much wait one more dollar saves.
 */
import type { EChartsOption } from 'echarts';
import type { SweepPoint } from '../../replay/result.ts';
import { html } from '../parts/html.ts';
import { count, dollars, seconds } from '../parts/numbers.ts';
import { type Box, type NamedPoint, overlap, type Size } from './label-places.ts';
import { AXIS, BASE, TOOLTIP } from './style.ts';

const MARGIN = { left: 56, right: 24, top: 16, bottom: 46 } as const;

/** The first series has the prices, lowest first. */
export function sweepOption(points: readonly SweepPoint[], size: Size): EChartsOption {
  const costs = scaleOf(points.map(({ dollarsPerMonth }) => dollarsPerMonth));
  const waits = scaleOf([0, ...points.map(({ meanWaitS }) => meanWaitS)]);
  const places = placesOf(points.map(spotIn(costs, waits, size)), areaOf(size));
  return {
    ...BASE,
    grid: MARGIN,
    tooltip: { ...TOOLTIP, trigger: 'item', formatter: (hit) => tipOf(points, hit) },
    xAxis: { ...axis(costs, roundDollars), name: 'Fargate, dollars per month', nameGap: 28 },
    yAxis: axis(waits, (tick) => `${tick} s`),
    series: [prices(points, places), line(points)],
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

const areaOf = ({ width, height }: Size): Size => ({
  width: width - MARGIN.left - MARGIN.right,
  height: height - MARGIN.top - MARGIN.bottom,
});

const spotIn = (costs: Scale, waits: Scale, size: Size) => (point: SweepPoint) => {
  const area = areaOf(size);
  const share = ({ from, to }: Scale, value: number): number => (value - from) / (to - from);
  return {
    name: nameOf(point),
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

const roundDollars = (tick: number): string => dollars(tick).replace(/\.00$/, '');

function prices(points: readonly SweepPoint[], places: readonly (Place | undefined)[]) {
  return {
    type: 'scatter' as const,
    data: points.map((point, at) => ({
      value: costAndWait(point),
      symbol: point.isConfigured ? 'diamond' : 'circle',
      symbolSize: point.isConfigured ? 18 : 11,
      itemStyle: { color: 'var(--policy-1)', opacity: 1, borderColor: 'var(--paper)', borderWidth: 1.5 },
      label: {
        show: places[at] !== undefined,
        position: places[at] ?? 'top',
        distance: 5,
        fontSize: 13,
        formatter: nameOf(point),
        color: point.isConfigured ? 'var(--policy-1)' : 'var(--muted)',
        textBorderColor: 'var(--paper)',
        textBorderWidth: 3,
        ...(point.isConfigured ? { fontWeight: 700 as const } : {}),
      },
    })),
    clip: false,
    emphasis: { disabled: true },
    z: 4,
  };
}

type Place = (typeof PLACES)[number];
const PLACES = ['top', 'bottom', 'right', 'left'] as const;
const POINT = 16;
const LINE = { height: 16, ofLetter: 9, gap: 5 } as const;

/**
 * Chooses a side for each label, where it covers no point and no other label. Undefined: there is
 * no room.
 */
function placesOf(points: readonly NamedPoint[], area: Size): readonly (Place | undefined)[] {
  const half = POINT / 2;
  const taken: Box[] = points.map(({ x, y }) => ({ x: x - half, y: y - half, width: POINT, height: POINT }));
  return points.map((point) => {
    const place = PLACES.find((each) => {
      const box = boxOf(point, each);
      return isWithin(box, area) && !taken.some((other) => overlap(box, other));
    });
    if (place !== undefined) taken.push(boxOf(point, place));
    return place;
  });
}

function boxOf({ name, x, y }: NamedPoint, place: Place): Box {
  const size = { width: name.length * LINE.ofLetter, height: LINE.height };
  const away = POINT / 2 + LINE.gap;
  const middle = { x: x - size.width / 2, y: y - size.height / 2 };
  const at = {
    top: { x: middle.x, y: y - away - size.height },
    bottom: { x: middle.x, y: y + away },
    right: { x: x + away, y: middle.y },
    left: { x: x - away - size.width, y: middle.y },
  };
  return { ...at[place], ...size };
}

/** A label may reach into the margins. */
const isWithin = (box: Box, area: Size): boolean =>
  box.x >= -MARGIN.left && box.x + box.width <= area.width + MARGIN.right && box.y >= -MARGIN.top;

/** The dotted line from price to price. */
const line = (points: readonly SweepPoint[]) => ({
  type: 'line' as const,
  data: points.map(costAndWait),
  symbol: 'none',
  silent: true,
  lineStyle: { color: 'var(--faint)', width: 1.5, type: 'dotted' as const },
  tooltip: { show: false },
});

function tipOf(points: readonly SweepPoint[], hit: unknown): string {
  const at = typeof hit === 'object' && hit !== null && 'dataIndex' in hit ? Number(hit.dataIndex) : -1;
  const point = points[at];
  if (point === undefined) return '';
  return html`<b>${nameOf(point)} a minute</b>
    <p>${dollars(point.dollarsPerMonth)} per month, ${count(point.launches)} launches</p>
    <p>wait: mean ${seconds(point.meanWaitS)}, p95 ${seconds(point.p95WaitS)}, ${count(point.over10s)} over 10 s</p>`
    .text;
}
