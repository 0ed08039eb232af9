/** The section of the sweep: cost and wait at each price of waiting, as a chart and a table. */
import type { Backtest, SweepPoint } from '../../replay/result.ts';
import { drawPicture } from '../charts/picture.ts';
import { sweepOption } from '../charts/sweep.ts';
import { type Html, html } from '../parts/html.ts';
import { count, dollars, seconds } from '../parts/numbers.ts';
import { cell, chartOf, figureOf, wide } from './figure.ts';

const ID = 'sweep-waiting';
const PICTURE = { width: 520, height: 380 };

export function sweepSection({ sweep }: Backtest): Html {
  if (sweep === undefined) return html``;
  return html`<section aria-labelledby="sweep"><h2 id="sweep">Choose your price of waiting</h2>
<p>The autoscaler ran over this trace at each price of waiting. All other settings are as configured. Choose the point with the cost and the wait that you want, and set <code>waiting.person</code> to its price: dollars for each minute that a person waits. A higher price costs more and shortens the wait. Small exceptions are chance.</p>
<div class="pair">${figureOf({
    id: ID,
    title: 'Cost per month and mean wait of people',
    description:
      'Each point is a price. The vertical axis is the mean wait, the horizontal axis the cost of a month of 30.4 days. The diamond is the configured price.',
    chart: chartOf(
      ID,
      drawPicture(ID, (size) => sweepOption(sweep, size), PICTURE),
    ),
    tables: html``,
  })}${wide('Prices of waiting', tableOf(sweep))}</div>
</section>`;
}

function tableOf(sweep: readonly SweepPoint[]): Html {
  const rows = sweep.map(
    (point) =>
      html`<tr${point.isConfigured ? html` class="configured"` : ''}><th scope="row">${dollars(point.price)}${point.isConfigured ? ' (configured)' : ''}</th>${cell(point.dollarsPerMonth, dollars)}${cell(point.meanWaitS, seconds)}${cell(point.p95WaitS, seconds)}${cell(point.over10s, count)}${cell(point.launches, count)}${cell(point.idleLaunches, count)}</tr>`,
  );
  return html`<table id="sweep-table"><thead><tr><th scope="col">price of waiting</th><th scope="col">per month</th><th scope="col">mean wait</th><th scope="col">p95 wait</th><th scope="col">over 10 s</th><th scope="col">launches</th><th scope="col">launches without a job</th></tr></thead><tbody>${rows}</tbody></table>`;
}
