/** The chart of waits: for each policy, the share of jobs that had a daemon within a given time. */
import type { EChartsOption } from 'echarts';
import { type Backtest, type PolicyRun, WAIT_EDGES_S } from '../../replay/result.ts';
import { html } from '../parts/html.ts';
import { seconds, share } from '../parts/numbers.ts';
import { lookOf, policyName } from '../parts/palette.ts';
import { AXIS, BASE, CROSSHAIR, indexOfHit, TOOLTIP } from './style.ts';

const TICKS_S = [1, 2, 5, 10, 30, 60, 300, 1800];

/** The share of jobs that waited up to each of `WAIT_EDGES_S`, 0 to 1. All 0 without jobs. */
export function sharesWithin({ waitCounts }: PolicyRun): readonly number[] {
  const jobs = waitCounts.reduce((sum, each) => sum + each, 0);
  let within = 0;
  return WAIT_EDGES_S.map((_, at) => {
    within += waitCounts[at] ?? 0;
    return jobs === 0 ? 0 : within / jobs;
  });
}

/** Starts of the share axis, with their steps. Below the share of the first edge the chart would be empty. */
const SCALES = [
  { from: 0.95, step: 0.01 },
  { from: 0.9, step: 0.02 },
  { from: 0.75, step: 0.05 },
  { from: 0.5, step: 0.1 },
] as const;

export function shareScale({ runs }: Backtest): { readonly from: number; readonly step: number } {
  const least = Math.min(...runs.map((run) => sharesWithin(run)[0] ?? 0));
  return SCALES.find(({ from }) => from < least) ?? { from: 0, step: 0.25 };
}

export function waitSharesOption(backtest: Backtest): EChartsOption {
  const { runs } = backtest;
  const { from, step } = shareScale(backtest);
  return {
    ...BASE,
    grid: { left: 48, right: 22, top: 14, bottom: 46 },
    tooltip: {
      ...TOOLTIP,
      trigger: 'axis',
      axisPointer: CROSSHAIR,
      formatter: (hits) => tipOf(runs, hits),
    },
    xAxis: {
      ...AXIS,
      type: 'log',
      min: 1,
      max: 1800,
      name: 'waited at most',
      nameLocation: 'middle',
      nameGap: 28,
      splitLine: { show: false },
      axisTick: { ...AXIS.axisTick, customValues: TICKS_S },
      axisLabel: { ...AXIS.axisLabel, customValues: TICKS_S, formatter: seconds, hideOverlap: true },
    },
    yAxis: {
      ...AXIS,
      type: 'value',
      min: from,
      max: 1,
      interval: step,
      axisLabel: { ...AXIS.axisLabel, formatter: share },
    },
    // the autoscaler is drawn last, above the other policies
    series: runs.map((run, at) => lineOf(run, at)).reverse(),
  };
}

function lineOf(run: PolicyRun, at: number) {
  const { color, symbol, dash } = lookOf(at);
  return {
    type: 'line' as const,
    name: run.title,
    data: sharesWithin(run).map((within, edge) => [WAIT_EDGES_S[edge] ?? 0, within]),
    symbol,
    symbolSize: 6,
    itemStyle: { color, opacity: 1 },
    lineStyle: { color, width: at === 0 ? 3 : 1.75, type: dash },
    emphasis: { disabled: true },
  };
}

function tipOf(runs: readonly PolicyRun[], hits: unknown): string {
  const edge = indexOfHit(hits);
  const rows = runs.map(
    (run, at) =>
      html`<tr><th>${policyName(run.title, at)}</th><td>${share(sharesWithin(run)[edge] ?? 0)}</td></tr>`,
  );
  return html`<b>Waited at most ${seconds(WAIT_EDGES_S[edge] ?? 0)}</b><table>${rows}</table>`.text;
}
