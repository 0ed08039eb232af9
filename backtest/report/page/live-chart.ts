/**
 * An interactive chart. It resizes with its element and shows tooltips: under the pointer, and with
 * the arrow keys while it has the focus.
 */
import type { EChartsOption } from 'echarts';
import type { ECharts } from 'echarts/core';
import { init } from '../charts/echarts.ts';
import type { Size } from '../charts/label-places.ts';
import { byId } from './elements.ts';

/**
 * Pixels of an A4 page between its margins. The real width is unknown until the page is printed.
 */
const PAPER_WIDTH = 680;

type OptionOf = (size: Size) => EChartsOption;
export type LiveChart = { readonly show: (optionOf: OptionOf) => void };

export function liveChart(id: string): LiveChart {
  const place = byId(id);
  place.replaceChildren();
  const chart = init(place, null, { renderer: 'svg' });
  let shown: OptionOf = () => ({});
  const show = (optionOf: OptionOf): void => {
    shown = optionOf;
    chart.setOption(optionOf({ width: chart.getWidth(), height: chart.getHeight() }), { notMerge: true });
  };
  const resizeTo = (width: number): void => {
    if (chart.getWidth() === width) return;
    chart.resize({ width });
    show(shown);
  };
  new ResizeObserver(() => resizeTo(place.clientWidth)).observe(place);
  window.addEventListener('beforeprint', () => resizeTo(Math.min(place.clientWidth, PAPER_WIDTH)));
  window.addEventListener('afterprint', () => resizeTo(place.clientWidth));
  listenToKeys(place, chart);
  return { show };
}

const MOVES: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowLeft: (at) => Math.max(0, at - 1),
  ArrowRight: (at, last) => Math.min(last, at + 1),
  Home: () => 0,
  End: (_, last) => last,
};

/** The arrow keys move through the points of the first series. */
function listenToKeys(place: HTMLElement, chart: ECharts): void {
  let at = -1;
  place.addEventListener('keydown', (event) => {
    const move = MOVES[event.key];
    if (move === undefined) return;
    event.preventDefault();
    at = move(at, pointsOf(chart) - 1);
    chart.dispatchAction({ type: 'showTip', seriesIndex: 0, dataIndex: at });
  });
  place.addEventListener('blur', () => chart.dispatchAction({ type: 'hideTip' }));
}

function pointsOf(chart: ECharts): number {
  const { series } = chart.getOption();
  const data: unknown = Array.isArray(series) ? series[0]?.data : undefined;
  return Array.isArray(data) ? data.length : 0;
}
