/** The section of the pools. The page's script fills its tables for the chosen policy, pool and day. */
import type { Backtest } from '../../replay/result.ts';
import { drawPicture } from '../charts/picture.ts';
import { poolSeriesOption, STATES } from '../charts/pool-series.ts';
import { chartOf, figureOf, fold, onScreen } from '../parts/figure.ts';
import { type Html, html } from '../parts/html.ts';
import { busiestDay, busiestPool, dayLabel, daysOf } from '../parts/times.ts';

const PICTURE = { width: 1072, height: 440 };

export function poolsSection(backtest: Backtest): Html {
  const name = backtest.pools[busiestPool(backtest)]?.name;
  const series = backtest.runs[0]?.pools.find(({ pool }) => pool === name);
  if (series === undefined) return html``;
  const day = daysOf(backtest)[busiestDay(backtest)];
  const picture = drawPicture(
    'pool-series',
    (size) => poolSeriesOption(backtest, series, day, size),
    PICTURE,
  );
  return html`<section aria-labelledby="pools"><h2 id="pools">Pools over time</h2>${figureOf({
    id: 'pool-series',
    title: 'Tasks by state, and pending jobs',
    description: html`The stacked areas are tasks, the line is the desired count. The lower chart is the peak of pending jobs in each step.${onScreen('Point at a time to see why the desired count changed.')}`,
    choices: choices(backtest),
    legend: LEGEND,
    chart: chartOf('pool-series', picture),
    tables: html`${fold('Show as a table', html`<div class="wide tall" id="pool-steps" tabindex="0" role="region" aria-label="Tasks and queue by step"></div>`)}
${fold('Changes of the desired count, with reasons', html`<div class="wide tall" id="pool-changes" tabindex="0" role="region" aria-label="Changes of the desired count"></div>`)}`,
  })}</section>`;
}

const LEGEND = html`<ul class="legend pool-colors">${STATES.map((state) => html`<li><i class="swatch" style="background:var(--${state})"></i>${state}</li>`)}<li><i class="swatch line"></i>desired</li><li><i class="swatch" style="background:var(--queue)"></i>pending jobs</li></ul>`;

function choices(backtest: Backtest): Html {
  const { runs, pools } = backtest;
  return html`<form class="choices" id="pool-choices">
${select('policy', runs.map(optionOf))}
${select(
  'pool',
  pools.map(({ name }, value) => ({ value, title: name })),
  busiestPool(backtest),
)}
${select('days', dayOptions(backtest))}
</form>`;
}

type Option = { readonly value: number; readonly title: string };

const optionOf = ({ title }: { readonly title: string }, value: number): Option => ({ value, title });

/** The busiest day first, then the whole period (-1), then the other days. */
function dayOptions(backtest: Backtest): readonly Option[] {
  const days = daysOf(backtest).map(({ from }, value) => ({ value, title: dayLabel(from) }));
  const busiest = days[busiestDay(backtest)];
  if (busiest === undefined || days.length === 1) return days;
  return [
    { ...busiest, title: `${busiest.title} (busiest)` },
    { value: -1, title: 'whole period' },
    ...days.filter((day) => day !== busiest),
  ];
}

const select = (name: string, options: readonly Option[], chosen = options[0]?.value): Html =>
  html`<label>${name} <select name="${name}" autocomplete="off">${options.map(({ value, title }) => html`<option value="${value}"${value === chosen ? html` selected` : ''}>${title}</option>`)}</select></label>`;
