/** The hours of the week: the number of jobs, and the mean wait of each policy, all in one colour scale. */
import type { Backtest, HoursOfWeek } from '../../replay/result.ts';
import { cell, fold, NO_FIGURE, onScreen, policyHeads, rowHead, tableOf } from '../parts/figure.ts';
import { type Html, html } from '../parts/html.ts';
import { count, jobsLabel, seconds } from '../parts/numbers.ts';
import { policyName } from '../parts/palette.ts';
import { hourOfWeekLabel } from '../parts/times.ts';

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const HOURS = Array.from({ length: 168 }, (_, hour) => hour);
/** Upper limits of the colours, in seconds. Longer mean waits have one more colour. */
const WAITS_S = [1, 5, 15, 30, 60, 180];

export function hoursOfWeekSection(backtest: Backtest): Html {
  const jobs = backtest.runs[0]?.hoursOfWeekUtc.jobs ?? [];
  return html`<section aria-labelledby="hours"><h2 id="hours">Waits by hour of the week</h2>
<p>Jobs that people wait for, by hour of the week. The first row is Monday, the first column is midnight.${onScreen('Point at an hour to see its figures.')}</p>
<div class="weeks">${weekOf(html`Jobs, up to ${count(Math.max(0, ...jobs))} per hour`, jobs.map(jobHour(jobs)))}${backtest.runs.map(
    ({ title, hoursOfWeekUtc }, at) => weekOf(policyName(title, at), HOURS.map(waitHour(hoursOfWeekUtc))),
  )}</div>
${LEGEND}
${fold('Show as a table', hoursTable(backtest, jobs))}
</section>`;
}

/** `color`: a variable of style.css. `figures`: shown under the pointer. */
type Hour = { readonly color: string; readonly figures: string };

function weekOf(title: Html, hours: readonly Hour[]): Html {
  const squares = hours.map(
    ({ color, figures }, hour) =>
      html`<i style="background:var(--${color})" title="${hourOfWeekLabel(hour)}: ${figures}"></i>`,
  );
  const days = DAYS.map((day, at) => html`<span>${day}</span>${squares.slice(at * 24, at * 24 + 24)}`);
  return html`<div class="week"><h3>${title}</h3><div class="hours" aria-hidden="true">${days}<span></span>${[0, 6, 12, 18].map((hour) => html`<b>${hour}</b>`)}</div></div>`;
}

function jobHour(jobs: readonly number[]): (each: number) => Hour {
  const most = Math.max(1, ...jobs);
  return (each) => ({
    color: each === 0 ? 'none' : `crowd-${Math.ceil((each / most) * 7)}`,
    figures: jobsLabel(each),
  });
}

const waitHour =
  ({ jobs, meanWaitS }: HoursOfWeek) =>
  (hour: number): Hour => {
    const [count = 0, wait = 0] = [jobs[hour], meanWaitS[hour]];
    if (count === 0) return { color: 'none', figures: jobsLabel(0) };
    const level = WAITS_S.findIndex((most) => wait <= most);
    return {
      color: `heat-${(level < 0 ? WAITS_S.length : level) + 1}`,
      figures: `${jobsLabel(count)}, ${seconds(wait)} on average`,
    };
  };

const LEGEND = html`<ul class="legend scale"><li>mean wait up to</li>${[
  ...WAITS_S.map((most, at) => ({ color: `heat-${at + 1}`, name: seconds(most) })),
  { color: 'heat-7', name: 'more' },
  { color: 'none', name: 'no jobs' },
].map(
  ({ color, name }) => html`<li><i class="swatch" style="background:var(--${color})"></i>${name}</li>`,
)}</ul>`;

function hoursTable(backtest: Backtest, jobs: readonly number[]): Html {
  const rows = HOURS.map((hour) => {
    const waits = backtest.runs.map(({ hoursOfWeekUtc }) =>
      jobs[hour] === 0 ? NO_FIGURE : cell(hoursOfWeekUtc.meanWaitS[hour] ?? 0, seconds),
    );
    return html`<tr>${rowHead(hourOfWeekLabel(hour))}${cell(jobs[hour] ?? 0, count)}${waits}</tr>`;
  });
  const table = tableOf(html` id="hours-table"`, ['hour', 'jobs', ...policyHeads(backtest)], rows);
  return html`<div class="wide tall" tabindex="0" role="region" aria-label="Jobs and mean wait by hour of week">${table}</div>`;
}
