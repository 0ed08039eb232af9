/** One pool over time: tasks by state, desired count, pending jobs. */
import type { EChartsOption } from 'echarts';
import { DAY_MS } from '../../../../lambda/decision/model/units.ts';
import type { Backtest, PoolSeries } from '../../replay/result.ts';
import { dayLabel, type Range, timeLabel } from '../parts/times.ts';
import { AXIS, BASE } from './style.ts';

/** States of tasks, from the bottom of the stacked areas to the top. */
export const STATES = ['busy', 'idle', 'starting', 'leaving'] as const;

export function poolSeriesOption(backtest: Backtest, series: PoolSeries, range: Range): EChartsOption {
  const starts = series.busy.map((_, step) => backtest.trace.from + step * backtest.stepS * 1000);
  const dated = (values: readonly number[]) =>
    values
      .map((value, step) => [starts[step] ?? 0, value])
      .filter(([at = 0]) => at >= range.from && at < range.to);
  return {
    ...BASE,
    grid: [
      { ...SIDES, top: 26, bottom: '40%' },
      { ...SIDES, top: '72%', bottom: 28 },
    ],
    xAxis: [timeAxis(0), timeAxis(1)],
    yAxis: [countAxis(0, 'tasks'), countAxis(1, 'pending jobs')],
    series: [
      ...STATES.map((state) => area(state, dated(series[state]), 0)),
      desiredLine(dated(desiredCounts(backtest, series))),
      area('queue', dated(series.queue), 1),
    ],
  };
}

/** At the end of each step. */
export function desiredCounts({ trace, stepS }: Backtest, { changes, busy }: PoolSeries): readonly number[] {
  let [next, desired] = [0, changes[0]?.from ?? 0];
  return busy.map((_, step) => {
    const end = trace.from + (step + 1) * stepS * 1000;
    for (; (changes[next]?.at ?? Number.POSITIVE_INFINITY) < end; next++)
      desired = changes[next]?.to ?? desired;
    return desired;
  });
}

/** Both grids share one time scale. Only the lower one has labels; half of its last label needs room. */
const SIDES = { left: 44, right: 34, outerBoundsMode: 'none' as const };

const timeAxis = (gridIndex: 0 | 1) => ({
  ...AXIS,
  type: 'time' as const,
  gridIndex,
  axisLabel: {
    ...AXIS.axisLabel,
    show: gridIndex === 1,
    formatter: (at: number) => (at % DAY_MS === 0 ? dayLabel(at) : timeLabel(at)),
  },
  axisTick: { ...AXIS.axisTick, show: gridIndex === 1 },
  splitLine: { show: false },
});

const countAxis = (gridIndex: 0 | 1, name: string) => ({
  ...AXIS,
  type: 'value' as const,
  gridIndex,
  name,
  nameGap: 10,
  nameTextStyle: { ...AXIS.nameTextStyle, align: 'left' as const, padding: [0, 0, 0, -36] },
  min: 0,
  minInterval: 1,
  splitNumber: gridIndex === 0 ? 4 : 2,
  axisLine: { show: false },
  axisTick: { show: false },
});

/** An area shows the mean of each step exactly: without smoothing and without a line on top. */
const area = (name: string, data: number[][], axis: 0 | 1) => ({
  ...stepped(data, axis),
  ...(axis === 0 ? { stack: 'tasks' } : {}),
  lineStyle: { width: 0 },
  areaStyle: { color: `var(--${name})`, opacity: 1 },
});

const desiredLine = (data: number[][]) => ({
  ...stepped(data, 0),
  lineStyle: { color: 'var(--ink)', width: 1, opacity: 0.7 },
});

const stepped = (data: number[][], axis: 0 | 1) => ({
  type: 'line' as const,
  data,
  xAxisIndex: axis,
  yAxisIndex: axis,
  step: 'end' as const,
  symbol: 'none',
});
