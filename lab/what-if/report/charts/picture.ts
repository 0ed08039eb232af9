/** Draws a chart as SVG without a browser. The page shows it until its script runs, or if scripts are off. */
import type { EChartsOption } from 'echarts';
import { Html } from '../parts/html.ts';
import { init } from './echarts.ts';
import type { Size } from './style.ts';

export function drawPicture(id: string, optionOf: (size: Size) => EChartsOption, size: Size): Html {
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size });
  chart.setOption(optionOf(size));
  const svg = chart.renderToSVGString();
  chart.dispose();
  return new Html(withoutCounter(id, svg));
}

/** Ids without echarts' process-wide counter, no styles for hovering, and tenths of pixels. */
const withoutCounter = (id: string, svg: string): string =>
  svg
    .replaceAll(/<style[\s\S]*?<\/style>/g, '')
    .replaceAll(/ class="[^"]*"/g, '')
    .replaceAll(/<[^>]*>/g, (tag) => tag.replaceAll(/(\.\d)\d+/g, '$1'))
    .replaceAll(/zr\d+-/g, `${id}-`);
