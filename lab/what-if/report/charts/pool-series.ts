/** One pool under one policy over time: tasks by state, desired count with its reasons, pending jobs. */
import type { EChartsOption } from 'echarts';
import { DAY_MS } from '../../../../lambda/decision/model/units.ts';
import type { Backtest, DesiredCountChange, PoolSeries } from '../../replay/result.ts';
import { type Html, html } from '../parts/html.ts';
import { oneDecimal } from '../parts/numbers.ts';
import { dayLabel, type Range, timeLabel, withoutZone } from '../parts/times.ts';
import { AXIS, BASE, type Canvas, CROSSHAIR, indexOfHit, swatch, TOOLTIP } from './style.ts';

/** States of tasks, from the bottom of the stacked areas to the top. */
export const STATES = ['busy', 'idle', 'starting', 'leaving'] as const;
/** The most changes that one tooltip shows. */
const MAX_CHANGES = 4;

export function poolSeriesOption(
  backtest: Backtest,
  series: PoolSeries,
  range: Range | undefined,
  { isPaper = false }: Canvas,
): EChartsOption {
  const starts = stepStarts(backtest, series);
  const dated = (values: readonly number[]) => values.map((value, step) => [starts[step] ?? 0, value]);
  return {
    ...BASE,
    grid: [
      { ...SIDES, top: 26, height: 236 },
      { ...SIDES, top: 306, height: 76 },
    ],
    axisPointer: { link: [{ xAxisIndex: 'all' }] },
    tooltip: {
      ...TOOLTIP,
      trigger: 'axis',
      axisPointer: CROSSHAIR,
      formatter: (hits) => tipOf(backtest, series, indexOfHit(hits)),
    },
    xAxis: [timeAxis(0, false), timeAxis(1, true)],
    yAxis: [countAxis(0, 'tasks'), countAxis(1, 'pending jobs')],
    dataZoom: zoom(range, starts.length, isPaper),
    series: [
      ...STATES.map((state) => area(state, dated(series[state]), 0)),
      desiredLine(dated(desiredCounts(backtest, series))),
      area('queue', dated(series.queue), 1),
    ],
  };
}

/** The time at which each step begins, in milliseconds since the epoch. */
export const stepStarts = ({ trace, stepS }: Backtest, { busy }: PoolSeries): readonly number[] =>
  busy.map((_, step) => trace.from + step * stepS * 1000);

export function desiredCounts(backtest: Backtest, series: PoolSeries): readonly number[] {
  const { changes } = series;
  let [next, desired] = [0, changes[0]?.from ?? 0];
  return stepStarts(backtest, series).map((start) => {
    for (; (changes[next]?.at ?? Number.POSITIVE_INFINITY) < start + backtest.stepS * 1000; next++) {
      desired = changes[next]?.to ?? desired;
    }
    return desired;
  });
}

/** Both grids share one time scale. Only the lower one has labels; half of its last label needs room. */
const SIDES = { left: 44, right: 34, outerBoundsMode: 'none' as const };

function timeAxis(gridIndex: number, hasLabels: boolean) {
  return {
    ...AXIS,
    type: 'time' as const,
    gridIndex,
    axisLabel: {
      ...AXIS.axisLabel,
      show: hasLabels,
      hideOverlap: true,
      formatter: (at: number) => (at % DAY_MS === 0 ? dayLabel(at) : timeLabel(at)),
    },
    axisTick: { ...AXIS.axisTick, show: hasLabels },
    splitLine: { show: false },
  };
}

const countAxis = (gridIndex: number, name: string) => ({
  ...AXIS,
  type: 'value' as const,
  gridIndex,
  name,
  nameLocation: 'end' as const,
  nameGap: 10,
  nameTextStyle: { ...AXIS.nameTextStyle, align: 'left' as const, padding: [0, 0, 0, -36] },
  min: 0,
  minInterval: 1,
  splitNumber: gridIndex === 0 ? 4 : 2,
  axisLine: { show: false },
  axisTick: { show: false },
});

/** An area shows the mean of each step exactly: without smoothing and without a line on top. */
const area = (name: string, data: number[][], axis: number) => ({
  type: 'line' as const,
  name,
  data,
  xAxisIndex: axis,
  yAxisIndex: axis,
  ...(axis === 0 ? { stack: 'tasks' } : {}),
  step: 'end' as const,
  symbol: 'none',
  lineStyle: { width: 0 },
  itemStyle: { color: `var(--${name})` },
  areaStyle: { color: `var(--${name})`, opacity: 1 },
  emphasis: { disabled: true },
});

const desiredLine = (data: number[][]) => ({
  type: 'line' as const,
  name: 'desired',
  data,
  step: 'end' as const,
  symbol: 'none',
  lineStyle: { color: 'var(--ink)', width: 1, opacity: 0.7 },
  itemStyle: { color: 'var(--ink)' },
  emphasis: { disabled: true },
});

function zoom(range: Range | undefined, steps: number, isPaper: boolean) {
  return [
    {
      type: 'slider' as const,
      show: !isPaper,
      xAxisIndex: [0, 1],
      ...(range === undefined ? { start: 0, end: 100 } : { startValue: range.from, endValue: range.to }),
      filterMode: 'filter' as const,
      left: 44,
      right: 34,
      bottom: 6,
      height: 26,
      showDetail: false,
      // echarts cannot place the shape of a single step
      showDataShadow: steps > 1,
      brushSelect: false,
      borderColor: 'var(--rule)',
      fillerColor: 'var(--zoom)',
      handleStyle: { color: 'var(--paper)', borderColor: 'var(--muted)' },
      moveHandleStyle: { color: 'var(--rule-strong)' },
      dataBackground: ZOOM_SHAPE,
      selectedDataBackground: ZOOM_SHAPE,
      emphasis: {
        handleStyle: { color: 'var(--paper)', borderColor: 'var(--ink)' },
        moveHandleStyle: { color: 'var(--muted)' },
      },
    },
  ];
}

const ZOOM_SHAPE = {
  lineStyle: { color: 'var(--faint)', width: 1 },
  areaStyle: { color: 'var(--rule)', opacity: 1 },
} as const;

function tipOf(backtest: Backtest, series: PoolSeries, step: number): string {
  const start = backtest.trace.from + step * backtest.stepS * 1000;
  const rows = STATES.map(
    (state) =>
      html`<tr><th>${swatch(`var(--${state})`)}${state}</th><td>${oneDecimal(series[state][step] ?? 0)}</td></tr>`,
  );
  return html`<b>${dayLabel(start)} ${timeLabel(start)}</b>
    <table>${rows}
    <tr><th>${swatch('var(--queue)')}pending jobs, peak</th><td>${oneDecimal(series.queue[step] ?? 0)}</td></tr></table>
    ${changesNear(backtest, series, start).map((change) => changeText(change, start))}`.text;
}

/** The changes within the step. If there are none, the last change before it. */
function changesNear(
  { stepS }: Backtest,
  { changes }: PoolSeries,
  start: number,
): readonly DesiredCountChange[] {
  const end = start + stepS * 1000;
  const within = changes.filter(({ at }) => at >= start && at < end);
  return within.length > 0 ? within.slice(-MAX_CHANGES) : changes.filter(({ at }) => at < start).slice(-1);
}

function changeText({ at, from, to, why }: DesiredCountChange, start: number): Html {
  const day = dayLabel(at) === dayLabel(start) ? '' : `${dayLabel(at)} `;
  return html`<p><time>${day}${timeLabel(at)}</time> ${from} → ${to}${why.length > 0 ? ': ' : ''}${withoutZone(why.join('; '))}</p>`;
}
