/** The section of the autoscaler's pools: the busiest one on its busiest day, with reasons, and all of them. */
import type { Backtest, PoolSeries } from '../../replay/result.ts';
import { pictureOf } from '../charts/picture.ts';
import { poolSeriesOption, STATES } from '../charts/pool-series.ts';
import { cell, figureOf, fold, rowHead, tableOf, textHead } from '../parts/figure.ts';
import { type Html, html } from '../parts/html.ts';
import { oneDecimal } from '../parts/numbers.ts';
import { busiestDay, busiestPool, dayLabel, daysOf, type Range, timeLabel } from '../parts/times.ts';

const WIDE = { width: 1072, height: 400 };

export function poolsSection(backtest: Backtest): Html {
  const own = backtest.runs[0]?.pools ?? [];
  const name = backtest.pools[busiestPool(backtest)]?.name;
  const series = own.find(({ pool }) => pool === name);
  const day = daysOf(backtest)[busiestDay(backtest)];
  if (series === undefined || day === undefined) return html``;
  const all = own.map((each, at) => drawn(backtest, each, backtest.trace, `pool-${at}`));
  return html`<section aria-labelledby="pools"><h2 id="pools">Pools over time</h2>
<p>The areas are tasks of the autoscaler, the line is the desired count. The lower chart is the peak of pending jobs in each step.</p>${LEGEND}
${drawn(backtest, series, day, 'busiest', `${series.pool}, ${dayLabel(day.from)}, the busiest day`)}
${fold('Changes of the desired count on this day, with reasons', changesTable(series, day))}
${fold('The whole period', html`${all}`)}</section>`;
}

function drawn(backtest: Backtest, series: PoolSeries, range: Range, id: string, title = series.pool): Html {
  const name = `${title}: tasks by state, and pending jobs`;
  return figureOf(title, pictureOf({ id, name, wide: WIDE }, poolSeriesOption(backtest, series, range)));
}

const LEGEND = html`<ul class="legend">${STATES.map((state) => html`<li><i class="swatch" style="background:var(--${state})"></i>${state}</li>`)}<li><i class="swatch line"></i>desired</li><li><i class="swatch" style="background:var(--queue)"></i>pending jobs</li></ul>`;

function changesTable({ changes }: PoolSeries, { from: start, to: end }: Range): Html {
  const rows = changes
    .filter(({ at }) => at >= start && at < end)
    .map(
      ({ at, from, to, why }) =>
        html`<tr>${rowHead(timeLabel(at))}${cell(from, oneDecimal)}${cell(to, oneDecimal)}<td class="text">${why.join('; ')}</td></tr>`,
    );
  return tableOf('Changes of the desired count', ['at', 'from', 'to', textHead('reasons')], rows);
}
