/** A chart drawn without a browser: what is seen before the page's script runs, or where none may run. */
import type { EChartsOption } from 'echarts';
import { Html } from '../parts/html.ts';
import { init } from './echarts.ts';
import type { Size } from './label-places.ts';

export function drawPicture(id: string, optionOf: (size: Size) => EChartsOption, size: Size): Html {
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size });
  chart.setOption(optionOf(size));
  const svg = chart.renderToSVGString();
  chart.dispose();
  return new Html(withoutCounter(id, svg));
}

/** Ids in the picture hold a counter of the process; styles there only concern hovering. In its shapes a tenth of a pixel will do. */
const withoutCounter = (id: string, svg: string): string =>
  svg
    .replaceAll(/<style[\s\S]*?<\/style>/g, '')
    .replaceAll(/ class="[^"]*"/g, '')
    .replaceAll(/<[^>]*>/g, (tag) => tag.replaceAll(/(\.\d)\d+/g, '$1'))
    .replaceAll(/zr\d+-/g, `${id}-`);
