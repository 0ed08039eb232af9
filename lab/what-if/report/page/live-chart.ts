/** An interactive chart: it resizes, and shows tooltips under the pointer and with the arrow keys. */
import type { EChartsOption } from 'echarts';
import type { ECharts } from 'echarts/core';
import { init } from '../charts/echarts.ts';
import { drawPicture } from '../charts/picture.ts';
import type { Canvas } from '../charts/style.ts';
import type { Html } from '../parts/html.ts';

/** Of pictures for print. style.css stretches them, as only the printer knows the width of its page. */
const PAPER_WIDTH = 800;

/** Throws an error if the page has no element with this id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found !== null) return found;
  throw new Error(`finding element "${id}" of the report: the page has none; create the report again`);
}

type OptionOf = (canvas: Canvas) => EChartsOption;
type LiveChart = { readonly show: (optionOf: OptionOf) => void };

/** `paperHeight`: the height of the picture for print, which is 800 wide. */
export function liveChart(id: string, paperHeight: number): LiveChart {
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
  const paper = { width: PAPER_WIDTH, height: paperHeight };
  drawForPrint(place, () => drawPicture(`${id}-paper`, () => shown({ ...paper, isPaper: true }), paper));
  listenToKeys(place, chart);
  return { show };
}

/** Adds a picture while the page is printed. style.css shows it instead of the chart. */
function drawForPrint(place: HTMLElement, draw: () => Html): void {
  const picture = document.createElement('div');
  picture.className = 'paper';
  window.addEventListener('beforeprint', () => {
    picture.innerHTML = draw().text;
    place.append(picture);
  });
  window.addEventListener('afterprint', () => picture.remove());
}

type Move = (at: number, first: number, last: number) => number;
const MOVES: Readonly<Record<string, Move>> = {
  ArrowLeft: (at, first, last) => Math.min(last, Math.max(first, at - 1)),
  ArrowRight: (at, first, last) => Math.min(last, Math.max(first, at + 1)),
  Home: (_, first) => first,
  End: (_at, _first, last) => last,
};

/** The arrow keys move through the visible points of the first series. */
function listenToKeys(place: HTMLElement, chart: ECharts): void {
  let at = -1;
  place.addEventListener('keydown', (event) => {
    const move = MOVES[event.key];
    if (move === undefined) return;
    event.preventDefault();
    at = move(at, ...shownPoints(chart));
    chart.dispatchAction({ type: 'showTip', seriesIndex: 0, dataIndex: at });
  });
  place.addEventListener('blur', () => chart.dispatchAction({ type: 'hideTip' }));
}

/** The first and the last point of the first series that the zoom shows. */
function shownPoints(chart: ECharts): readonly [first: number, last: number] {
  const { series, dataZoom } = chart.getOption();
  const data: unknown = Array.isArray(series) ? series[0]?.data : undefined;
  if (!Array.isArray(data)) return [0, 0];
  const { startValue, endValue } = (Array.isArray(dataZoom) ? dataZoom[0] : undefined) ?? {};
  if (startValue === undefined || endValue === undefined) return [0, data.length - 1];
  return [data.findIndex(([at]) => at >= startValue), data.findLastIndex(([at]) => at <= endValue)];
}
