/** The section of cost against wait, for every policy. */
import type { Backtest } from '../../replay/result.ts';
import { type CostAxis, paretoOption } from '../charts/pareto.ts';
import { drawPicture } from '../charts/picture.ts';
import { CURVE_COLOR, type WaitAxis } from '../charts/price-curve.ts';
import {
  cell,
  chartOf,
  estimateOf,
  figureOf,
  fold,
  policyHead,
  policyLegend,
  rowHead,
  tableOf,
  wide,
} from '../parts/figure.ts';
import { type Html, html } from '../parts/html.ts';
import { count, dollars, hours, priceText, seconds } from '../parts/numbers.ts';

const PICTURE = { width: 520, height: 380 };
const COSTS: readonly { readonly cost: CostAxis; readonly name: string }[] = [
  { cost: 'dollars', name: 'dollars' },
  { cost: 'hours', name: 'task-hours' },
];
const WAITS: readonly { readonly wait: WaitAxis; readonly id: string; readonly title: string }[] = [
  { wait: 'p95', id: 'pareto-p95', title: '95th percentile of the wait of people (p95)' },
  { wait: 'mean', id: 'pareto-mean', title: 'Mean wait of people' },
];

export function costsSection(backtest: Backtest): Html {
  return html`<section aria-labelledby="costs"><h2 id="costs">Cost and wait</h2>
<p>The charts count jobs that people wait for: workspaces that they start, workspaces that a schedule starts, and template versions. Lower and further left is better. The dotted line joins the policies that no other policy beats in both cost and wait.</p>
<fieldset class="choices" id="pareto-cost"><legend>Cost in</legend>${COSTS.map(
    ({ cost, name }, at) =>
      html`<label><input type="radio" name="cost" value="${cost}"${at === 0 ? html` checked` : ''}> ${name}</label>`,
  )}</fieldset>
${policyLegend(backtest, backtest.prices.length === 0 ? [] : [html`<li class="policy"><i class="swatch line" style="border-color:${CURVE_COLOR}"></i>autoscaler at other prices of waiting</li>`])}
<div class="pair">${WAITS.map(({ wait, id, title }) =>
    figureOf({
      id,
      title,
      description: `Each point is a policy, each small circle a price of waiting. The vertical axis is its ${wait === 'p95' ? 'p95' : 'mean'} wait, the horizontal axis its cost. Both are logarithmic.`,
      chart: chartOf(
        id,
        drawPicture(id, (size) => paretoOption(backtest, { cost: 'dollars', wait }, size), PICTURE),
      ),
      tables: html``,
    }),
  )}</div>
${fold('Show as a table', costsTable(backtest))}
</section>
${pricesSection(backtest)}`;
}

function pricesSection({ prices }: Backtest): Html {
  if (prices.length === 0) return html``;
  return html`<section aria-labelledby="prices"><h2 id="prices">Other prices of waiting</h2>
<p>The line with small circles in the charts above is the autoscaler at other prices for a minute of waiting (<code>waiting.person</code>), each in a replay of its own.</p>
${pricesTable(prices)}
</section>`;
}

function pricesTable(prices: Backtest['prices']): Html {
  const rows = prices.map(
    ({ price, isConfigured, figures, estimates: { meanWaitS, p95WaitS } }) =>
      html`<tr>${rowHead(`${priceText(price)}${isConfigured ? ' now' : ''}`)}${cell(figures.dollars.tasks, dollars)}<td>${estimateOf(meanWaitS, seconds)}</td><td>${estimateOf(p95WaitS, seconds)}</td></tr>`,
  );
  const heads = ['a minute', 'Fargate', 'mean wait', 'p95 wait'];
  return wide('Prices of waiting', tableOf(html` id="prices-table"`, heads, rows));
}

function costsTable(backtest: Backtest): Html {
  const hasMonth = backtest.runs.some(({ estimates }) => estimates.dollarsPerMonth.range !== undefined);
  const rows = backtest.runs.map(
    ({ figures: { tasks, dollars: cost }, estimates: { dollarsPerMonth, meanWaitS, p95WaitS } }, at) =>
      html`<tr>${policyHead(backtest, at, 'row')}${cell(tasks.hours, hours)}${cell(cost.tasks, dollars)}${hasMonth ? html`<td>${estimateOf(dollarsPerMonth, dollars)}</td>` : ''}${cell(tasks.launches, count)}<td>${estimateOf(meanWaitS, seconds)}</td><td>${estimateOf(p95WaitS, seconds)}</td></tr>`,
  );
  const month = hasMonth ? ['Fargate a month'] : [];
  const heads = ['', 'task-hours', 'Fargate', ...month, 'launches', 'mean wait', 'p95 wait'];
  return html`${wide('Cost and wait', tableOf(html` id="costs-table"`, heads, rows))}`;
}
