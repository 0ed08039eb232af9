/** What all charts look like. Colours are names of style.css: an SVG follows the page's mode by itself. */
import { html } from '../parts/html.ts';

/** Without quotation marks: echarts puts it into an attribute as it is. */
const FONT = 'ui-sans-serif, system-ui, Segoe UI, Roboto, Liberation Sans, Arial, sans-serif';

export const BASE = {
  animation: false,
  textStyle: { fontFamily: FONT, fontSize: 12, color: 'var(--muted)' },
} as const;

/** An axis: quiet lines, figures in the page's muted colour. */
export const AXIS = {
  nameTextStyle: { color: 'var(--muted)', fontSize: 12 },
  axisLabel: { color: 'var(--muted)', fontSize: 12 },
  axisLine: { show: true, lineStyle: { color: 'var(--rule-strong)' } },
  axisTick: { show: true, lineStyle: { color: 'var(--rule-strong)' } },
  splitLine: { show: true, lineStyle: { color: 'var(--rule)' } },
  minorSplitLine: { show: false },
} as const;

export const TOOLTIP = {
  confine: true,
  className: 'tip',
  backgroundColor: 'var(--raised)',
  borderColor: 'var(--rule-strong)',
  borderWidth: 1,
  padding: 11,
  textStyle: { color: 'var(--ink)', fontSize: 13, fontFamily: FONT },
  extraCssText: 'white-space: normal; max-width: min(23rem, 82vw);',
  transitionDuration: 0,
} as const;

/** The line under the pointer. */
export const CROSSHAIR = {
  type: 'line',
  lineStyle: { color: 'var(--ink)', width: 1, type: 'solid' },
  label: { show: false },
} as const;

/** A spot of colour before a word. */
export const swatch = (color: string) => html`<i class="swatch" style="background:${color}"></i>`;
