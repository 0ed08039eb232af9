/** Markup of a figure: chart, title, description, choices, legend, and the figures as tables. */
import type { Estimate } from '../../estimate/estimate.ts';
import type { Backtest } from '../../replay/result.ts';
import { Html, html } from './html.ts';
import { estimateText, type Format } from './numbers.ts';
import { policyName } from './palette.ts';

type Figure = {
  readonly id: string;
  readonly title: string;
  /** How to read the chart. Screen readers read it too. */
  readonly description: string | Html;
  readonly choices?: Html;
  readonly legend?: Html;
  readonly chart: Html;
  readonly tables: Html;
};

export function figureOf({ id, title, description, choices, legend, chart, tables }: Figure): Html {
  return html`<figure aria-labelledby="${id}-title">
<figcaption><h3 id="${id}-title">${title}</h3><p id="${id}-text">${description}</p></figcaption>
${choices ?? ''}${legend ?? ''}${chart}${tables}
</figure>`;
}

/** The element of a chart. The arrow keys move through its points. */
export function chartOf(id: string, picture: Html): Html {
  return html`<div class="chart" id="${id}" tabindex="0" role="group" aria-roledescription="chart" aria-labelledby="${id}-title" aria-describedby="${id}-text">${picture}</div>`;
}

/** A sentence that a printed page does not need, with a space before it. */
export function onScreen(sentence: string): Html {
  return html` <span class="on-screen">${sentence}</span>`;
}

export function fold(title: string, content: Html): Html {
  return html`<details><summary>${title}</summary>${content}</details>`;
}

/** Lets a wide table scroll sideways inside the page. */
export function wide(label: string, table: Html): Html {
  return html`<div class="wide" tabindex="0" role="region" aria-label="${label}">${table}</div>`;
}

/** `attributes`: of the table. `heads`: texts, or finished headings; empty for none. */
export function tableOf(
  attributes: Html,
  heads: readonly (string | Html)[],
  ...bodies: readonly (readonly Html[])[]
): Html {
  const cells = heads.map((head) => {
    if (head instanceof Html) return head;
    return head === '' ? html`<td></td>` : html`<th scope="col">${head}</th>`;
  });
  return html`<table${attributes}><thead><tr>${cells}</tr></thead>${bodies.map((rows) => html`<tbody>${rows}</tbody>`)}</table>`;
}

export const rowHead = (text: string): Html => html`<th scope="row">${text}</th>`;

/** A cell with the formatted figure as text and the exact figure in `<data value>`. */
export function cell(value: number, format: Format): Html {
  return html`<td><data value="${value}">${format(value)}</data></td>`;
}

/** The level, and its range beside it in small letters. */
export function estimateOf(estimate: Estimate, format: Format): Html {
  const level = format(estimate.value);
  const range = estimateText(estimate, format).slice(level.length);
  return html`<data value="${estimate.value}">${level}</data><small>${range}</small>`;
}

export const NO_FIGURE = html`<td class="none">–</td>`;

export function policyHead({ runs }: Backtest, at: number, scope: 'col' | 'row' | 'rowgroup'): Html {
  return html`<th scope="${scope}">${policyName(runs[at]?.title ?? '', at)}</th>`;
}

export const policyHeads = (backtest: Backtest): readonly Html[] =>
  backtest.runs.map((_, at) => policyHead(backtest, at, 'col'));

/** `more`: items after the policies. */
export function policyLegend(backtest: Backtest, more: readonly Html[] = []): Html {
  return html`<ul class="legend">${backtest.runs.map(({ title }, at) => html`<li>${policyName(title, at)}</li>`)}${more}</ul>`;
}
