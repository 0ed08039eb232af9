/**
 * The section of the hours of the week: one picture of the number of jobs, and one of the mean wait
 * for each policy. All policies share one colour scale.
 */
import type { Backtest, HoursOfWeek } from '../../replay/result.ts';
import { type Html, html } from '../parts/html.ts';
import { count, seconds } from '../parts/numbers.ts';
import { policyName } from '../parts/palette.ts';
import { hourOfWeekLabel } from '../parts/times.ts';
import { cell, fold, NO_FIGURE, onScreen, policyHead } from './figure.ts';

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const HOURS = Array.from({ length: 168 }, (_, hour) => hour);
/** Upper limits of the colours, in seconds. Longer mean waits have one more colour. */
const WAITS_S = [1, 5, 15, 30, 60, 180];

export function hoursOfWeekSection(backtest: Backtest): Html {
  const jobs = backtest.runs[0]?.hoursOfWeekUtc.jobs ?? [];
  return html`<section aria-labelledby="hours"><h2 id="hours">Waits by hour of the week</h2>
<p>Jobs that people wait for, by hour of the week. The first row is Monday, the first column is midnight.${onScreen('Point at an hour to see its figures.')}</p>
<div class="weeks">${weekOf(html`Jobs, up to ${count(Math.max(0, ...jobs))} per hour`, 'jobs', jobs.map(jobLevel(jobs)))}${backtest.runs.map(
    ({ title, hoursOfWeekUtc }, at) =>
      weekOf(policyName(title, at), String(at), HOURS.map(waitLevel(hoursOfWeekUtc))),
  )}</div>
${LEGEND}
${fold('Show as a table', hoursTable(backtest, jobs))}
</section>`;
}

/**
 * `levels`: the colour of each hour, 1 to 7; 0 without jobs. `of`: which figures the tooltip shows,
 * `jobs` or the index of a policy.
 */
function weekOf(title: Html, of: string, levels: readonly number[]): Html {
  const days = DAYS.map(
    (day, at) =>
      html`<span>${day}</span>${levels.slice(at * 24, at * 24 + 24).map((level) => html`<i class="${of === 'jobs' ? 'j' : 'w'}${level}"></i>`)}`,
  );
  return html`<div class="week"><h3>${title}</h3><div class="hours" data-of="${of}" aria-hidden="true">${days}<span></span>${[0, 6, 12, 18].map((hour) => html`<b>${hour}</b>`)}</div></div>`;
}

function jobLevel(jobs: readonly number[]): (each: number) => number {
  const most = Math.max(1, ...jobs);
  return (each) => (each === 0 ? 0 : Math.ceil((each / most) * 7));
}

const waitLevel =
  ({ jobs, meanWaitS }: HoursOfWeek) =>
  (hour: number): number => {
    if ((jobs[hour] ?? 0) === 0) return 0;
    const level = WAITS_S.findIndex((most) => (meanWaitS[hour] ?? 0) <= most);
    return (level < 0 ? WAITS_S.length : level) + 1;
  };

const LEGEND = html`<ul class="legend scale"><li>mean wait up to</li>${WAITS_S.map(
  (most, at) => html`<li><i class="swatch w${at + 1}"></i>${seconds(most)}</li>`,
)}<li><i class="swatch w7"></i>more</li><li><i class="swatch w0"></i>no jobs</li></ul>`;

function hoursTable(backtest: Backtest, jobs: readonly number[]): Html {
  const rows = HOURS.map(
    (hour) =>
      html`<tr><th scope="row">${hourOfWeekLabel(hour)}</th>${cell(jobs[hour] ?? 0, count)}${backtest.runs.map(
        ({ hoursOfWeekUtc }) =>
          jobs[hour] === 0 ? NO_FIGURE : cell(hoursOfWeekUtc.meanWaitS[hour] ?? 0, seconds),
      )}</tr>`,
  );
  const heads = backtest.runs.map((_, at) => policyHead(backtest, at, 'col'));
  return html`<div class="wide tall" tabindex="0" role="region" aria-label="Jobs and mean wait by hour of week"><table id="hours-table"><thead><tr><th scope="col">hour</th><th scope="col">jobs</th>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`;
}
