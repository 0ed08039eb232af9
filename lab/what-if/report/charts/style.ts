/** The style of all charts. Colours are CSS variables of style.css, so an SVG follows light and dark mode. */
import { html } from '../parts/html.ts';

/** Pixels. */
export type Size = { readonly width: number; readonly height: number };
/** `isPaper`: the chart is drawn for print. */
export type Canvas = Size & { readonly isPaper?: boolean };

/** Without quotation marks: echarts writes it into an attribute without escaping. */
const FONT = 'ui-sans-serif, system-ui, Segoe UI, Roboto, Liberation Sans, Arial, sans-serif';

export const BASE = {
  animation: false,
  // ticks at midnight UTC, whatever the time zone of the browser
  useUTC: true,
  textStyle: { fontFamily: FONT, fontSize: 12, color: 'var(--muted)' },
} as const;

/** Thin lines, and labels in the muted colour of the page. */
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

export const CROSSHAIR = {
  type: 'line',
  lineStyle: { color: 'var(--ink)', width: 1, type: 'solid' },
  label: { show: false },
} as const;

/** Of a mark line without arrows and text. */
export const THIN_LINES = {
  symbol: 'none',
  silent: true,
  label: { show: false },
  lineStyle: { color: 'var(--faint)', type: 'solid' as const, width: 1 },
};

export const swatch = (color: string) => html`<i class="swatch" style="background:${color}"></i>`;

/** The index of the item under the pointer, from what echarts gives a tooltip. 0: the first one. */
export function indexOfHit(hits: unknown): number {
  const [hit]: readonly unknown[] = Array.isArray(hits) ? hits : [hits];
  return typeof hit === 'object' && hit !== null && 'dataIndex' in hit ? Number(hit.dataIndex) : 0;
}
