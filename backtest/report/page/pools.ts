/** Shows the chart and the tables of the pool, policy and day that the reader chooses. */
import type { Backtest, PoolSeries } from '../../replay/result.ts';
import { desiredCounts, poolSeriesOption, STATES, stepStarts } from '../charts/pool-series.ts';
import { oneDecimal } from '../parts/numbers.ts';
import { lookOf } from '../parts/palette.ts';
import { dayLabel, daysOf, type Range, timeLabel, withoutZone } from '../parts/times.ts';
import { byId, element, figureCell, rowHead, tableOf } from './elements.ts';
import { liveChart } from './live-chart.ts';

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

function fill(id: string, table: () => HTMLElement): void {
  const place = byId(id);
  place.replaceChildren(...(place.closest('details')?.open === true ? [table()] : []));
}

const foldsOf = (): readonly HTMLElement[] =>
  ['pool-steps', 'pool-changes'].flatMap((id) => byId(id).closest('details') ?? []);

type IsWithin = (at: number) => boolean;

const when = (at: number): string => `${dayLabel(at)} ${timeLabel(at)}`;

function stepsTable(backtest: Backtest, series: PoolSeries, isWithin: IsWithin): HTMLElement {
  const desired = desiredCounts(backtest, series);
  const rows = stepStarts(backtest, series).flatMap((start, step) => {
    const values = [...STATES.map((state) => series[state][step]), desired[step], series.queue[step]];
    return isWithin(start) ? [[rowHead(when(start)), ...values.map((value = 0) => countCell(value))]] : [];
  });
  return tableOf(['from', ...STATES, 'desired', 'pending jobs, peak'], rows);
}

const countCell = (value: number): HTMLElement => figureCell(value, oneDecimal(value));

function changesTable({ changes }: PoolSeries, isWithin: IsWithin): HTMLElement {
  const rows = changes
    .filter(({ at }) => isWithin(at))
    .map(({ at, from, to, why }) => [
      rowHead(when(at)),
      countCell(from),
      countCell(to),
      element('td', withoutZone(why.join('; '))),
    ]);
  return tableOf(['at', 'from', 'to', 'reasons'], rows);
}
