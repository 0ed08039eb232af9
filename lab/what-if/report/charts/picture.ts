/** Draws a chart as SVG without a browser, for wide and for narrow screens: its letters have the same size in both. */
import type { EChartsOption } from 'echarts';
import { Html, html } from '../parts/html.ts';
import { init } from './echarts.ts';

/** Pixels. */
export type Size = { readonly width: number; readonly height: number };

/** `name`: what the picture shows, for screen readers. `id`: differs from those of other pictures. */
export function pictureOf(
  { id, name, wide }: { readonly id: string; readonly name: string; readonly wide: Size },
  option: EChartsOption,
): Html {
  return html`<div class="chart" role="img" aria-label="${name}">${draw(`${id}-wide`, option, wide)}${draw(`${id}-narrow`, option, NARROW)}</div>`;
}

/** A phone without its margins. */
const NARROW: Size = { width: 340, height: 320 };

function draw(id: string, option: EChartsOption, size: Size): Html {
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size });
  chart.setOption(option);
  const svg = chart.renderToSVGString();
  chart.dispose();
  return html`<div class="${size === NARROW ? 'narrow' : 'wide-screen'}">${new Html(withoutCounter(id, svg))}</div>`;
}

/** Ids without echarts' process-wide counter, no styles for hovering, and tenths of pixels. */
const withoutCounter = (id: string, svg: string): string =>
  svg
    .replaceAll(/<style[\s\S]*?<\/style>/g, '')
    .replaceAll(/ class="[^"]*"/g, '')
    .replaceAll(/<[^>]*>/g, (tag) => tag.replaceAll(/(\.\d)\d+/g, '$1'))
    .replaceAll(/zr\d+-/g, `${id}-`);
