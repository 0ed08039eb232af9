/** Finds the day and the pool with most work, from the hours in which daemons had a job. */
import type { Backtest } from '../../replay/result.ts';
import { daysOf, type Range } from './times.ts';

/** The index of the busiest of `daysOf`, over all pools of the autoscaler; the first one if equal. */
export function busiestDay(backtest: Backtest): number {
  const busy = daysOf(backtest).map((day) => sum(busyByPool(backtest, day)));
  return Math.max(0, busy.indexOf(Math.max(...busy)));
}

/** The index of the pool with most work on that day; the first one if equal. */
export function busiestPool(backtest: Backtest): number {
  const busy = busyByPool(backtest, daysOf(backtest)[busiestDay(backtest)]);
  return Math.max(0, busy.indexOf(Math.max(...busy)));
}

function busyByPool({ runs, pools, trace, stepS }: Backtest, day: Range | undefined): readonly number[] {
  const stepOf = (at: number): number => Math.max(0, Math.ceil((at - trace.from) / (stepS * 1000)));
  return pools.map(({ name }) => {
    const series = runs[0]?.pools.find(({ pool }) => pool === name);
    return day === undefined ? 0 : sum(series?.busy.slice(stepOf(day.from), stepOf(day.to)) ?? []);
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
