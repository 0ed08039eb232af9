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

/**
 * echarts puts a process-wide counter into ids: replace it, as the same backtest must give the same
 * text. Its styles only concern hovering: remove them. Round coordinates to a tenth of a pixel.
 */
const withoutCounter = (id: string, svg: string): string =>
  svg
    .replaceAll(/<style[\s\S]*?<\/style>/g, '')
    .replaceAll(/ class="[^"]*"/g, '')
    .replaceAll(/<[^>]*>/g, (tag) => tag.replaceAll(/(\.\d)\d+/g, '$1'))
    .replaceAll(/zr\d+-/g, `${id}-`);
