/** One look for a policy throughout the report: a colour of style.css (by name, so that it follows the mode), a symbol, a dash. */
import { Html, html } from './html.ts';

const SYMBOLS = [
  { symbol: 'circle', path: 'M5 0a5 5 0 1 1 0 10a5 5 0 1 1 0-10' },
  { symbol: 'rect', path: 'M.5.5h9v9h-9z' },
  { symbol: 'triangle', path: 'M5 .3L10 9.7H0z' },
  { symbol: 'diamond', path: 'M5 0L10 5L5 10L0 5z' },
  { symbol: 'path://M0 .3H10L5 9.7z', path: 'M0 .3H10L5 9.7z' },
] as const;
const COLORS = 8;

type Look = {
  readonly color: string;
  readonly symbol: string;
  readonly dash: 'solid' | 'dashed';
};

/** Of the policy at that place among the runs. With more than eight, looks come again. */
export function lookOf(place: number): Look {
  const at = place % COLORS;
  return {
    color: `var(--policy-${at + 1})`,
    symbol: SYMBOLS[at % SYMBOLS.length]?.symbol ?? 'circle',
    dash: at < SYMBOLS.length ? 'solid' : 'dashed',
  };
}

/** The policy's title behind its symbol, which is there for the eye alone. */
export function policyName(title: string, place: number): Html {
  const path = new Html(SYMBOLS[place % SYMBOLS.length]?.path ?? '');
  return html`<span class="policy"><svg viewBox="0 0 10 10" style="fill:${lookOf(place).color}" aria-hidden="true"><path d="${path}"/></svg>${title}</span>`;
}
