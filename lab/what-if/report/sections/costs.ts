/** The section of cost against wait, for every policy, and for every price of waiting that was played. */
import type { Backtest, BreakEven } from '../../replay/result.ts';
import { PRICE_COLOR, paretoOption } from '../charts/pareto.ts';
import { pictureOf } from '../charts/picture.ts';
import { breakEvenText } from '../parts/break-even.ts';
import { cell, estimateOf, figureOf, policyHead, rowHead, tableOf } from '../parts/figure.ts';
import { SPENT } from '../parts/headline.ts';
import { type Html, html } from '../parts/html.ts';
import { brief, count, dollars, hours, priceText, seconds } from '../parts/numbers.ts';
import { policyName } from '../parts/palette.ts';

const WIDE = { width: 520, height: 380 };
const WAITS = [
  { wait: 'p95S', id: 'pareto-p95', title: '95th percentile of the wait of people (p95)' },
  { wait: 'meanS', id: 'pareto-mean', title: 'Mean wait of people' },
] as const;

export function costsSection(backtest: Backtest): Html {
  const pictures = WAITS.map(({ wait, id, title }) => {
    const name = `${title}, against cost; the table below has both`;
    return figureOf(title, pictureOf({ id, name, wide: WIDE }, paretoOption(backtest, wait)));
  });
  return html`<section aria-labelledby="costs"><h2 id="costs">Cost and wait</h2>
<p>Jobs that people wait for: workspaces that they start, workspaces that a schedule starts, and template versions. Lower and further left is better.</p>
${legend(backtest)}<div class="pair">${pictures}</div>
${costsTable(backtest)}${backtest.breakEven ? breakEvenPart(backtest.breakEven) : ''}${backtest.prices.length === 0 ? '' : pricesTable(backtest)}
</section>`;
}

function legend({ runs, prices }: Backtest): Html {
  const line = html`<li><i class="swatch line" style="border-color:${PRICE_COLOR}"></i>autoscaler at other prices of waiting</li>`;
  return html`<ul class="legend">${runs.map(({ title }, at) => html`<li>${policyName(title, at)}</li>`)}${prices.length === 0 ? '' : line}</ul>`;
}

function costsTable(backtest: Backtest): Html {
  const hasMonth = backtest.runs.some(({ estimates }) => estimates.dollarsPerMonth.range !== undefined);
  const rows = backtest.runs.map(
    ({ figures: { tasks, dollars: cost }, estimates: { dollarsPerMonth, meanWaitS, p95WaitS } }, at) =>
      html`<tr>${policyHead(backtest, at, 'row')}${cell(tasks.hours, hours)}${cell(cost.tasks, dollars)}${hasMonth ? html`<td>${estimateOf(dollarsPerMonth, dollars)}</td>` : ''}${cell(tasks.launches, count)}<td>${estimateOf(meanWaitS, seconds)}</td><td>${estimateOf(p95WaitS, seconds)}</td></tr>`,
  );
  const month = hasMonth ? ['the same a month'] : [];
  const heads = ['', 'task-hours', SPENT, ...month, 'launches', 'mean wait', 'p95 wait'];
  return tableOf('Cost and wait', heads, rows);
}

/** One daemon around the clock, with ever fewer builds. */
function breakEvenPart(breakEven: BreakEven): Html {
  const rows = breakEven.volumes.map(
    ({ buildsPerDay, autoscaler, oneDaemon }) =>
      html`<tr>${rowHead(brief(buildsPerDay))}${autoscaler === undefined ? html`<td>–</td>` : cell(autoscaler, dollars)}${cell(oneDaemon, dollars)}</tr>`,
  );
  const heads = ['builds a day', 'autoscaler', 'one daemon in each pool'];
  return html`<h3>Fewer builds, and one daemon around the clock</h3><p>${breakEvenText(breakEven) ?? ''}</p>
<p>Each row replays a share of the workspaces, chosen by chance. Dollars are for a month, with waiting and lost jobs. A dash: not replayed, since one daemon costs more there than the autoscaler with all builds.</p>
${tableOf('Fewer builds', heads, rows)}`;
}

/** A minute of waiting at each price, in a replay of its own. */
function pricesTable({ prices }: Backtest): Html {
  const rows = prices.map(
    ({ price, isConfigured, figures, estimates: { dollarsPerMonth, meanWaitS, p95WaitS } }) =>
      html`<tr>${rowHead(`${priceText(price)} a minute${isConfigured ? ', now' : ''}`)}${cell(figures.dollars.tasks, dollars)}<td>${estimateOf(dollarsPerMonth, dollars)}</td><td>${estimateOf(meanWaitS, seconds)}</td><td>${estimateOf(p95WaitS, seconds)}</td></tr>`,
  );
  const heads = ['waiting.person', SPENT, 'the same a month', 'mean wait', 'p95 wait'];
  return html`<h3>Other prices of waiting</h3>${tableOf('Prices of waiting', heads, rows)}`;
}
