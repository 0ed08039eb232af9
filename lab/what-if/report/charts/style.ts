/** The style of all charts. Colours are CSS variables of style.css, so an SVG follows light and dark mode. */

/** Without quotation marks: echarts writes it into an attribute without escaping. */
const FONT = 'ui-sans-serif, system-ui, Segoe UI, Roboto, Liberation Sans, Arial, sans-serif';

export const BASE = {
  animation: false,
  // ticks at midnight UTC, whatever the time zone of this machine
  useUTC: true,
  textStyle: { fontFamily: FONT, fontSize: 12, color: 'var(--muted)' },
} as const;

/** Thin lines, and labels in the muted colour of the page. */
export const AXIS = {
  nameTextStyle: { color: 'var(--muted)', fontSize: 12 },
  axisLabel: { color: 'var(--muted)', fontSize: 12, hideOverlap: true },
  axisLine: { show: true, lineStyle: { color: 'var(--rule-strong)' } },
  axisTick: { show: true, lineStyle: { color: 'var(--rule-strong)' } },
  splitLine: { show: true, lineStyle: { color: 'var(--rule)' } },
} as const;
