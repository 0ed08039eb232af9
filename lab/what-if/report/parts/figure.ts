/** Markup of figures and tables. */
import type { Estimate } from '../../estimate/estimate.ts';
import type { Backtest } from '../../replay/result.ts';
import { Html, html } from './html.ts';
import { estimateText, type Format } from './numbers.ts';
import { policyName } from './palette.ts';

export const figureOf = (title: string, ...contents: readonly Html[]): Html =>
  html`<figure><figcaption><h3>${title}</h3></figcaption>${contents}</figure>`;

export const fold = (title: string, content: Html): Html =>
  html`<details><summary>${title}</summary>${content}</details>`;

/** `label`: for screen readers. The table scrolls sideways inside the page. `heads`: texts, or finished headings. */
export function tableOf(
  label: string,
  heads: readonly (string | Html)[],
  ...bodies: readonly (readonly Html[])[]
): Html {
  const cells = heads.map((head) => {
    if (head instanceof Html) return head;
    return head === '' ? html`<td></td>` : html`<th scope="col">${head}</th>`;
  });
  const table = html`<table><thead><tr>${cells}</tr></thead>${bodies.map((rows) => html`<tbody>${rows}</tbody>`)}</table>`;
  return html`<div class="wide" tabindex="0" role="region" aria-label="${label}">${table}</div>`;
}

/** Above text, which begins at the left. */
export const textHead = (text: string): Html => html`<th scope="col" class="text">${text}</th>`;

export const rowHead = (text: string): Html => html`<th scope="row">${text}</th>`;

/** A cell with the formatted figure as text and the exact figure in `<data value>`. */
export const cell = (value: number, format: Format): Html =>
  html`<td><data value="${value}">${format(value)}</data></td>`;

/** The level, and its range beside it in small letters. */
export function estimateOf(estimate: Estimate, format: Format): Html {
  const level = format(estimate.value);
  const range = estimateText(estimate, format).slice(level.length);
  return html`<data value="${estimate.value}">${level}</data><small>${range}</small>`;
}

export const policyHead = ({ runs }: Backtest, at: number, scope: 'col' | 'row'): Html =>
  html`<th scope="${scope}">${policyName(runs[at]?.title ?? '', at)}</th>`;
