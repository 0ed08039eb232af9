/**
 * The section of the pools. The page's script fills its tables for the chosen policy, pool and day.
 */
import type { Backtest } from '../../replay/result.ts';
import { drawPicture } from '../charts/picture.ts';
import { poolSeriesOption, STATES } from '../charts/pool-series.ts';
import { type Html, html } from '../parts/html.ts';
import { dayLabel, daysOf } from '../parts/wall-clock.ts';
import { chartOf, figureOf, fold } from './figure.ts';

const PICTURE = { width: 1072, height: 440 };

export function poolsSection(backtest: Backtest): Html {
  const series = backtest.runs[0]?.pools[0];
  if (series === undefined) return html``;
  const picture = drawPicture('pool-series', () => poolSeriesOption(backtest, series, undefined), PICTURE);
  return html`<section aria-labelledby="pools"><h2 id="pools">Pools over time</h2>${figureOf({
    id: 'pool-series',
    title: 'Tasks by state, and pending jobs',
    description:
      'The stacked areas are tasks, the line is the desired count. The lower chart is the peak of pending jobs in each step. Point at a time to see why the desired count changed.',
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
  const days = daysOf(backtest).map(({ from }) => dayLabel(from));
  return html`<form class="choices" id="pool-choices">
${select(
  'policy',
  runs.map(({ title }) => title),
)}
${select(
  'pool',
  pools.map(({ name }) => name),
)}
${select('days', ['whole period', ...days])}
</form>`;
}

/** The value of each option is its index. */
const select = (name: string, options: readonly string[]): Html =>
  html`<label>${name} <select name="${name}" autocomplete="off">${options.map((option, at) => html`<option value="${at}">${option}</option>`)}</select></label>`;
