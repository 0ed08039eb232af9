/** What policies cost and how long jobs wait under them; and the costs that nothing can be below. */
import type { EChartsOption } from 'echarts';
import type { Backtest, Bound, PolicyRun } from '../../backtest/result.ts';
import { html } from '../html.ts';
import { dollars, hours, seconds, share } from '../numbers.ts';
import { lookOf, policyName } from '../palette.ts';
import { type Box, LABEL_GAP, type LabelPlace, placeLabels, type Size } from './label-places.ts';
import { AXIS, BASE, TOOLTIP } from './style.ts';
import { costTicks, logShare, WAIT_TICKS_S, waitTicks } from './ticks.ts';

export type CostAxis = 'dollars' | 'hours';
export type WaitAxis = 'mean' | 'p95';
export type ParetoAxes = { readonly cost: CostAxis; readonly wait: WaitAxis };

const MARGIN = { left: 56, right: 18, top: 16, bottom: 46 } as const;

/** Its first series are the policies, in their order. */
export function paretoOption(backtest: Backtest, axes: ParetoAxes, size: Size): EChartsOption {
  const { runs, bounds } = backtest;
  const points = runs.map((run) => pointOf(run, axes));
  const ideals = axes.wait === 'mean' ? bounds.map((bound) => idealOf(bound, axes.cost)) : [];
  const shown = [...points, ...ideals];
  const costs = costTicks([...shown.map(([cost]) => cost), ...bounds.map((each) => costOf(each, axes.cost))]);
  const waits = waitTicks(shown.map(([, wait]) => wait));
  const places = placeLabels(
    points.map(([cost, wait], at) => ({
      name: runs[at]?.title ?? '',
      x: logShare(costs, cost) * areaOf(size).width,
      y: (1 - logShare(waits, wait)) * areaOf(size).height,
    })),
    areaOf(size),
    bounds.map((each) =>
      boundLabel(logShare(costs, costOf(each, axes.cost)) * areaOf(size).width, areaOf(size)),
    ),
  );
  return {
    ...BASE,
    grid: MARGIN,
    tooltip: { ...TOOLTIP, trigger: 'item', formatter: (hit) => tipOf(backtest, hit) },
    xAxis: {
      ...logAxis(costs, axes.cost === 'dollars' ? (tick) => dollars(tick).replace(/\.00$/, '') : hours),
      name: axes.cost === 'dollars' ? 'Fargate, dollars' : 'task-hours',
      nameGap: 28,
    },
    yAxis: logAxis(waits, (tick) => `${tick === WAIT_TICKS_S[0] ? '≤ ' : ''}${seconds(tick)}`),
    series: [
      {
        ...policies(runs, points, places),
        markLine: boundLines(bounds, axes.cost),
        markArea: impossible(bounds, axes.cost, costs[0] ?? 0),
      },
      frontier(points),
      { ...IDEALS, data: ideals.map(drawn) },
    ],
  };
}

const areaOf = ({ width, height }: Size): Size => ({
  width: width - MARGIN.left - MARGIN.right,
  height: height - MARGIN.top - MARGIN.bottom,
});

type Point = [cost: number, wait: number];

function pointOf({ figures: { waitOfPeople: wait, dollars, tasks } }: PolicyRun, axes: ParetoAxes): Point {
  return [
    axes.cost === 'dollars' ? dollars.tasks : tasks.hours,
    axes.wait === 'mean' ? wait.meanS : wait.p95S,
  ];
}

const costOf = (bound: Bound, cost: CostAxis): number => (cost === 'dollars' ? bound.dollars : bound.hours);
const idealOf = (bound: Bound, cost: CostAxis): Point => [costOf(bound, cost), bound.meanWaitS];

function logAxis(ticks: readonly number[], label: (tick: number) => string) {
  const customValues = [...ticks];
  return {
    ...AXIS,
    type: 'log' as const,
    min: customValues[0] ?? 1,
    max: customValues.at(-1) ?? 10,
    nameLocation: 'middle' as const,
    axisTick: { ...AXIS.axisTick, customValues },
    axisLabel: { ...AXIS.axisLabel, customValues, formatter: label, hideOverlap: true },
    splitLine: { show: false },
  };
}

function policies(
  runs: readonly PolicyRun[],
  points: readonly Point[],
  places: readonly (LabelPlace | undefined)[],
) {
  return {
    type: 'scatter' as const,
    data: runs.map(({ title }, at) => ({
      value: drawn(points[at] ?? [0, 0]),
      symbol: lookOf(at).symbol,
      symbolSize: at === 0 ? 16 : 13,
      itemStyle: { color: lookOf(at).color, opacity: 1, borderColor: 'var(--paper)', borderWidth: 1.5 },
      label: { ...labelAt(places[at]), formatter: title, color: lookOf(at).color, ...(at === 0 ? OURS : {}) },
    })),
    clip: false,
    emphasis: { disabled: true },
    z: 4,
  };
}

const OURS = { fontWeight: 700 as const };

const labelAt = (place: LabelPlace | undefined) => ({
  show: place !== undefined,
  position: place?.side ?? ('right' as const),
  offset: [0, place?.dy ?? 0],
  distance: LABEL_GAP,
  fontSize: 13,
  textBorderColor: 'var(--paper)',
  textBorderWidth: 3,
});

/** A logarithm knows no zero: what is less than the least tick is drawn at it. */
const drawn = ([cost, wait]: Point): Point => [
  Math.max(cost, Number.MIN_VALUE),
  Math.max(wait, WAIT_TICKS_S[0]),
];

/** Through the policies that no other beats in both cost and wait. */
function frontier(points: readonly Point[]) {
  const best = points
    .filter(([x, y]) => !points.some(([u, v]) => u <= x && v <= y && (u < x || v < y)))
    .sort(([a], [b]) => a - b);
  return {
    type: 'line' as const,
    step: 'end' as const,
    data: best.map(drawn),
    symbol: 'none',
    silent: true,
    lineStyle: { color: 'var(--faint)', width: 1.5, type: 'dotted' as const },
    tooltip: { show: false },
  };
}

/** Where the bounds are, with the wait that is left. */
const IDEALS = {
  type: 'scatter' as const,
  symbol: 'emptyCircle',
  symbolSize: 9,
  silent: true,
  clip: false,
  itemStyle: { color: 'var(--muted)', opacity: 1 },
  tooltip: { show: false },
};

/** Upwards at the left of its line. */
const boundLabel = (x: number, { height }: Size): Box => ({
  x: x - 16,
  y: height - 110,
  width: 18,
  height: 110,
});

function boundLines(bounds: readonly Bound[], cost: CostAxis) {
  return {
    symbol: 'none',
    silent: true,
    label: {
      position: 'insideStartTop' as const,
      formatter: '{b}',
      color: 'var(--muted)',
      fontSize: 12,
      textBorderColor: 'var(--paper)',
      textBorderWidth: 3,
    },
    lineStyle: { color: 'var(--faint)', type: 'dashed' as const, width: 1 },
    data: bounds
      .filter((bound) => costOf(bound, cost) > 0)
      .map((bound) => ({ name: bound.title, xAxis: costOf(bound, cost) })),
  };
}

function impossible(bounds: readonly Bound[], cost: CostAxis, from: number) {
  const busy = bounds.find(({ bound }) => bound === 'busy-hours');
  const to = busy === undefined ? 0 : costOf(busy, cost);
  const area: [{ xAxis: number }, { xAxis: number }] = [{ xAxis: from }, { xAxis: to }];
  return { silent: true, itemStyle: { color: 'var(--wash)' }, data: to > from ? [area] : [] };
}

function tipOf({ runs }: Backtest, hit: unknown): string {
  const at = typeof hit === 'object' && hit !== null && 'dataIndex' in hit ? Number(hit.dataIndex) : -1;
  const run = runs[at];
  if (run === undefined) return '';
  const { waitOfPeople: wait, tasks, dollars: cost } = run.figures;
  return html`<b>${policyName(run.title, at)}</b>
    <p>${dollars(cost.tasks)} for ${hours(tasks.hours)} of tasks, a job in ${share(tasks.hours > 0 ? tasks.busyHours / tasks.hours : 0)} of them</p>
    <p>wait: mean ${seconds(wait.meanS)}, p95 ${seconds(wait.p95S)}, at most ${seconds(wait.maxS)}</p>`.text;
}
