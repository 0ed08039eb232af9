/** The section of waits: the distribution for each policy. */
import { type Backtest, WAIT_EDGES_S } from '../../replay/result.ts';
import { drawPicture } from '../charts/picture.ts';
import { shareScale, sharesWithin, waitSharesOption } from '../charts/wait-shares.ts';
import {
  cell,
  chartOf,
  figureOf,
  fold,
  policyHeads,
  policyLegend,
  rowHead,
  tableOf,
  wide,
} from '../parts/figure.ts';
import { type Html, html } from '../parts/html.ts';
import { count, seconds, share } from '../parts/numbers.ts';
import { waitPartsFigure } from './wait-parts.ts';

const PICTURE = { width: 1072, height: 380 };

export function waitsSection(backtest: Backtest): Html {
  const { from } = shareScale(backtest);
  return html`<section aria-labelledby="waits"><h2 id="waits">How long people wait</h2>${figureOf({
    id: 'wait-shares',
    title: 'Share of jobs that had a daemon within a given time',
    description: `Jobs that people wait for. Higher is better: 95% at 30 s means that 5% waited longer than 30 s. ${from > 0 ? `The vertical axis begins at ${share(from)}. ` : ''}The time axis is logarithmic.`,
    legend: policyLegend(backtest),
    chart: chartOf(
      'wait-shares',
      drawPicture('wait-shares', () => waitSharesOption(backtest), PICTURE),
    ),
    tables: html`${fold('Show as a table', sharesTable(backtest))}${fold('Show job counts', countsTable(backtest))}`,
  })}${waitPartsFigure(backtest)}</section>`;
}

function sharesTable(backtest: Backtest): Html {
  const shares = backtest.runs.map(sharesWithin);
  const rows = WAIT_EDGES_S.map(
    (edge, at) =>
      html`<tr>${rowHead(`≤ ${seconds(edge)}`)}${shares.map((each) => cell(each[at] ?? 0, share))}</tr>`,
  );
  return table(backtest, 'wait-shares-table', 'Share of the jobs by wait', rows);
}

function countsTable(backtest: Backtest): Html {
  const rows = [...WAIT_EDGES_S, undefined].map(
    (edge, at) =>
      html`<tr>${rowHead(edgeName(edge, at))}${backtest.runs.map(({ waitCounts }) => cell(waitCounts[at] ?? 0, count))}</tr>`,
  );
  return table(backtest, 'wait-counts-table', 'Jobs by wait', rows);
}

function edgeName(edge: number | undefined, at: number): string {
  const below = seconds(WAIT_EDGES_S[at - 1] ?? 0);
  return edge === undefined ? `over ${below}` : `${below} to ${seconds(edge)}`;
}

const table = (backtest: Backtest, id: string, label: string, rows: readonly Html[]): Html =>
  wide(label, tableOf(html` id="${id}"`, ['wait', ...policyHeads(backtest)], rows));
