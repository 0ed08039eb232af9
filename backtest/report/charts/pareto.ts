/**
 * The chart of cost against wait: one point for each policy, one dashed line for each lower bound
 * of the cost.
 */
import type { EChartsOption, LabelLayoutOptionCallbackParams } from 'echarts';
import type { Backtest, Bound, PolicyRun } from '../../replay/result.ts';
import { type Html, html } from '../parts/html.ts';
import { dollars, hours, seconds, share } from '../parts/numbers.ts';
import { lookOf, policyName } from '../parts/palette.ts';
import { AXIS, BASE, indexOfHit, type Size, TOOLTIP } from './style.ts';
import { costTicks, LEAST_COST, LEAST_WAIT_S, logShare, onAxis, waitTicks } from './ticks.ts';

export type CostAxis = 'dollars' | 'hours';
export type WaitAxis = 'mean' | 'p95';
type ParetoAxes = { readonly cost: CostAxis; readonly wait: WaitAxis };

const MARGIN = { left: 56, right: 18, top: 16, bottom: 46 } as const;

/** Pixels that the name of a bound needs beside its line. It runs upwards. */
const BOUND_NAME_WIDTH = 20;
/** Pixels. Points that are closer than this hide one another, so they share a tooltip. */
const OVERLAP_DISTANCE = 8;

/** The first series has the policies, in the order of `backtest.runs`. */
export function paretoOption(backtest: Backtest, axes: ParetoAxes, size: Size): EChartsOption {
  const { runs, bounds } = backtest;
  const width = size.width - MARGIN.left - MARGIN.right;
  const height = size.height - MARGIN.top - MARGIN.bottom;
  const points = runs.map((run) => pointOf(run, axes));
  const ideals = axes.wait === 'mean' ? bounds.map((bound) => idealOf(bound, axes.cost)) : [];
  const costs = costScale(backtest, axes.cost, width);
  const waits = waitTicks([...points, ...ideals].map(([, wait]) => wait));
  const spots = points.map(([cost, wait]) => [logShare(costs, cost) * width, logShare(waits, wait) * height]);
  const drawn = ([cost, wait]: Point): Point => [onAxis(costs, cost), onAxis(waits, wait)];
  return {
    ...BASE,
    grid: MARGIN,
    tooltip: { ...TOOLTIP, trigger: 'item', formatter: (hit) => tipOf(runs, spots, hit) },
    xAxis: {
      ...logAxis(costs, LEAST_COST[axes.cost], axes.cost === 'dollars' ? roundDollars : hours),
      name: axes.cost === 'dollars' ? 'Fargate, dollars' : 'task-hours',
      nameGap: 28,
    },
    yAxis: logAxis(waits, LEAST_WAIT_S, seconds),
    series: [
      {
        ...policies(runs, points.map(drawn), size),
        markLine: boundsMark(boundLines(bounds, axes.cost, costs, width)),
        markArea: impossible(bounds, axes.cost, costs[0] ?? 0),
      },
      { ...FRONTIER, data: bestOf(points).map(drawn) },
      { ...IDEALS, data: ideals.map(drawn) },
    ],
  };
}

/** `$5` for a tick at `$5.00`. */
const roundDollars = (tick: number): string => dollars(tick).replace(/\.00$/, '');

/** Begins one tick lower if the name of the first bound would cover the other axis. */
function costScale({ runs, bounds }: Backtest, cost: CostAxis, width: number): readonly number[] {
  const limits = bounds.map((bound) => costOf(bound, cost)).filter((limit) => limit > 0);
  const costs = [...runs.map((run) => pointOf(run, { cost, wait: 'mean' })[0]), ...limits];
  const ticks = costTicks(costs, LEAST_COST[cost]);
  const isTight = limits.some((limit) => logShare(ticks, limit) * width < BOUND_NAME_WIDTH);
  return isTight ? costTicks([...costs, ...ticks.slice(0, 1)], LEAST_COST[cost]) : ticks;
}

type Point = [cost: number, wait: number];

function pointOf({ figures: { waitOfPeople: wait, dollars, tasks } }: PolicyRun, axes: ParetoAxes): Point {
  return [
    axes.cost === 'dollars' ? dollars.tasks : tasks.hours,
    axes.wait === 'mean' ? wait.meanS : wait.p95S,
  ];
}

const costOf = (bound: Bound, cost: CostAxis): number => (cost === 'dollars' ? bound.dollars : bound.hours);
const idealOf = (bound: Bound, cost: CostAxis): Point => [costOf(bound, cost), bound.meanWaitS];

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

/** Points with the names of their policies. A name moves up or down to cover no other name. */
function policies(runs: readonly PolicyRun[], points: readonly Point[], { width }: Size) {
  return {
    type: 'scatter' as const,
    clip: false,
    emphasis: { disabled: true },
    z: 4,
    labelLayout: ({ rect, labelRect }: LabelLayoutOptionCallbackParams) => ({
      moveOverlap: 'shiftY' as const,
      // above the line to the next policy
      dy: -12,
      ...(labelRect.x + labelRect.width > width ? { align: 'right' as const, x: rect.x - 4 } : {}),
    }),
    data: runs.map(({ title }, at) => ({
      value: points[at] ?? [],
      symbol: lookOf(at).symbol,
      symbolSize: at === 0 ? 16 : 13,
      itemStyle: { color: lookOf(at).color, opacity: 1, borderColor: 'var(--paper)', borderWidth: 1.5 },
      label: {
        show: true,
        position: 'right' as const,
        lineHeight: 16,
        formatter: () => title,
        color: lookOf(at).color,
        fontSize: 13,
        textBorderColor: 'var(--paper)',
        textBorderWidth: 3,
        ...(at === 0 ? { fontWeight: 700 as const } : {}),
      },
    })),
  };
}

/** The policies that no other policy beats in both cost and wait, cheapest first. */
function bestOf(points: readonly Point[]): readonly Point[] {
  return points
    .filter(([x, y]) => !points.some(([u, v]) => u <= x && v <= y && (u < x || v < y)))
    .sort(([a], [b]) => a - b);
}

/** The line through the best policies. */
const FRONTIER = {
  type: 'line' as const,
  symbol: 'none',
  silent: true,
  step: 'end' as const,
  lineStyle: { color: 'var(--faint)', width: 1.5, type: 'dotted' as const },
  tooltip: { show: false },
};

/** Points of the bounds: their cost, and the mean wait that remains. */
const IDEALS = {
  type: 'scatter' as const,
  symbol: 'emptyCircle',
  symbolSize: 9,
  silent: true,
  clip: false,
  itemStyle: { color: 'var(--muted)', opacity: 1 },
  tooltip: { show: false },
};

type BoundLine = {
  readonly name: string;
  readonly cost: number;
  readonly x: number;
  readonly side: 'left' | 'right';
};

/**
 * The lowest bound has its name on the left of its line, the other one on the right. A bound close
 * to the left edge costs next to nothing and leaves no room for a name: it is left out.
 */
function boundLines(
  bounds: readonly Bound[],
  cost: CostAxis,
  costs: readonly number[],
  width: number,
): readonly BoundLine[] {
  return bounds
    .map((bound) => ({ name: bound.title, cost: costOf(bound, cost) }))
    .map((line) => ({ ...line, x: logShare(costs, line.cost) * width }))
    .filter(({ x }) => x >= BOUND_NAME_WIDTH)
    .sort((a, b) => a.x - b.x)
    .map((line, at) => ({ ...line, side: at === 0 ? 'left' : 'right' }));
}

function boundsMark(lines: readonly BoundLine[]) {
  return {
    symbol: 'none',
    silent: true,
    label: {
      formatter: '{b}',
      color: 'var(--muted)',
      fontSize: 12,
      textBorderColor: 'var(--paper)',
      textBorderWidth: 3,
    },
    lineStyle: { color: 'var(--faint)', type: 'dashed' as const, width: 1 },
    data: lines.map(({ name, cost, side }) => ({
      name,
      xAxis: cost,
      label: { position: side === 'left' ? ('insideStartTop' as const) : ('insideStartBottom' as const) },
    })),
  };
}

function impossible(bounds: readonly Bound[], cost: CostAxis, from: number) {
  const busy = bounds.find(({ bound }) => bound === 'busy-hours');
  const to = busy === undefined ? 0 : costOf(busy, cost);
  const area: [{ xAxis: number }, { xAxis: number }] = [{ xAxis: from }, { xAxis: to }];
  return { silent: true, itemStyle: { color: 'var(--wash)' }, data: to > from ? [area] : [] };
}

/** The tooltip of all policies under the pointer. `spots`: their pixels. */
function tipOf(runs: readonly PolicyRun[], spots: readonly (readonly number[])[], hit: unknown): string {
  const [x = 0, y = 0] = spots[indexOfHit(hit)] ?? [];
  const isHere = ([otherX = 0, otherY = 0]: readonly number[] = []): boolean =>
    Math.hypot(otherX - x, otherY - y) < OVERLAP_DISTANCE;
  return html`${runs.flatMap((run, at) => (isHere(spots[at]) ? [figuresText(run, at)] : []))}`.text;
}

function figuresText(
  { title, figures: { waitOfPeople: wait, tasks, dollars: cost } }: PolicyRun,
  at: number,
): Html {
  return html`<b>${policyName(title, at)}</b>
    <p>${dollars(cost.tasks)} for ${hours(tasks.hours)} of tasks, busy for ${share(tasks.hours > 0 ? tasks.busyHours / tasks.hours : 0)} of that time</p>
    <p>wait: mean ${seconds(wait.meanS)}, p95 ${seconds(wait.p95S)}, longest ${seconds(wait.maxS)}</p>`;
}
