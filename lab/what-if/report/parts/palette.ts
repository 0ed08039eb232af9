/** The colour and symbol of each policy. Colours are variables of style.css, as are its modes. */
import { Html, html } from './html.ts';

const SYMBOLS = [
  { symbol: 'circle', path: 'M5 0a5 5 0 1 1 0 10a5 5 0 1 1 0-10' },
  { symbol: 'rect', path: 'M.5.5h9v9h-9z' },
  { symbol: 'triangle', path: 'M5 .3L10 9.7H0z' },
  { symbol: 'diamond', path: 'M5 0L10 5L5 10L0 5z' },
] as const;
const COLORS = 4;

type PolicyStyle = {
  readonly color: string;
  readonly symbol: string;
};

/** The style of the policy at this index of `runs`. Styles repeat after four policies. */
export function lookOf(index: number): PolicyStyle {
  const at = index % COLORS;
  return {
    color: `var(--policy-${at + 1})`,
    symbol: SYMBOLS[at % SYMBOLS.length]?.symbol ?? 'circle',
  };
}

/** The title of the policy after its symbol. Screen readers skip the symbol. */
export function policyName(title: string, index: number): Html {
  const path = new Html(SYMBOLS[index % SYMBOLS.length]?.path ?? '');
  return html`<span class="policy"><svg viewBox="0 0 10 10" style="fill:${lookOf(index).color}" aria-hidden="true"><path d="${path}"/></svg>${title}</span>`;
}
