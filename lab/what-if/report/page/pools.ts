/** Shows the chart and the tables of the pool, policy and day that the reader chooses. */
import type { Backtest, PoolSeries } from '../../replay/result.ts';
import { desiredCounts, poolSeriesOption, STATES, stepStarts } from '../charts/pool-series.ts';
import { cell, rowHead, tableOf } from '../parts/figure.ts';
import { type Html, html } from '../parts/html.ts';
import { oneDecimal } from '../parts/numbers.ts';
import { lookOf } from '../parts/palette.ts';
import { dayLabel, daysOf, type Range, timeLabel, withoutZone } from '../parts/times.ts';
import { byId, liveChart } from './live-chart.ts';

export function showPools(backtest: Backtest): void {
  const chart = liveChart('pool-series', 410);
  const choices = byId('pool-choices');
  const draw = (): void => {
    const chosen = chosenOf(backtest, choices);
    if (chosen === undefined) return;
    byId('pools').parentElement?.style.setProperty('--run', lookOf(chosen.run).color);
    chart.show((size) => poolSeriesOption(backtest, chosen.series, chosen.range, size));
    fillTables(backtest, chosen);
  };
  choices.addEventListener('change', draw);
  for (const fold of foldsOf()) fold.addEventListener('toggle', draw);
  draw();
}

type Chosen = { readonly run: number; readonly series: PoolSeries; readonly range: Range | undefined };

function chosenOf(backtest: Backtest, choices: HTMLElement): Chosen | undefined {
  const chosen = (name: string): number =>
    Number(choices.querySelector<HTMLSelectElement>(`select[name="${name}"]`)?.value);
  const run = chosen('policy');
  const pool = backtest.pools[chosen('pool')]?.name;
  const series = backtest.runs[run]?.pools.find((each) => each.pool === pool);
  return series && { run, series, range: daysOf(backtest)[chosen('days')] };
}

/** Fills only the tables that are open: each one has thousands of cells. */
function fillTables(backtest: Backtest, { series, range }: Chosen): void {
  const isWithin = (at: number): boolean => range === undefined || (at >= range.from && at < range.to);
  fill('pool-steps', () => stepsTable(backtest, series, isWithin));
  fill('pool-changes', () => changesTable(series, isWithin));
}

function fill(id: string, table: () => Html): void {
  const place = byId(id);
  // the template escapes every text
  place.innerHTML = place.closest('details')?.open === true ? table().text : '';
}

const foldsOf = (): readonly HTMLElement[] =>
  ['pool-steps', 'pool-changes'].flatMap((id) => byId(id).closest('details') ?? []);

type IsWithin = (at: number) => boolean;

const when = (at: number): string => `${dayLabel(at)} ${timeLabel(at)}`;

function stepsTable(backtest: Backtest, series: PoolSeries, isWithin: IsWithin): Html {
  const desired = desiredCounts(backtest, series);
  const rows = stepStarts(backtest, series).flatMap((start, step) => {
    const values = [...STATES.map((state) => series[state][step]), desired[step], series.queue[step]];
    if (!isWithin(start)) return [];
    return html`<tr>${rowHead(when(start))}${values.map((value = 0) => cell(value, oneDecimal))}</tr>`;
  });
  return tableOf(html``, ['from', ...STATES, 'desired', 'pending jobs, peak'], rows);
}

function changesTable({ changes }: PoolSeries, isWithin: IsWithin): Html {
  const rows = changes
    .filter(({ at }) => isWithin(at))
    .map(
      ({ at, from, to, why }) =>
        html`<tr>${rowHead(when(at))}${cell(from, oneDecimal)}${cell(to, oneDecimal)}<td>${withoutZone(why.join('; '))}</td></tr>`,
    );
  return tableOf(html``, ['at', 'from', 'to', 'reasons'], rows);
}
