/** The section of suggested settings: what to change, and what that would have saved. */
import type { Backtest } from '../../replay/result.ts';
import type { Suggestion, Trial } from '../../replay/suggestion.ts';
import { adviceOf } from '../parts/advice.ts';
import { type Html, html } from '../parts/html.ts';
import { count, dollars, seconds } from '../parts/numbers.ts';
import { cell, wide } from './figure.ts';

/** What to change, for the place below the headline. */
export function advice(backtest: Backtest): Html {
  const { suggestion } = backtest;
  return suggestion === undefined ? html`` : html`<p class="advice">${adviceOf(backtest, suggestion)}</p>\n`;
}

export function suggestionSection(backtest: Backtest): Html {
  const { suggestion, settings } = backtest;
  if (suggestion === undefined) return html``;
  return html`<section aria-labelledby="suggestion"><h2 id="suggestion">Suggested settings</h2>
<p>${suggestion.isWorthIt ? 'Merge these settings into autoscaler.yaml. The table shows this trace with them, and at other prices of waiting alone.' : 'Keep your settings. The table shows this trace at other prices of waiting.'} The total is tasks, waiting at ${dollars(settings.valueOfMinute)} a minute, and failed jobs.</p>
<div class="pair">${suggestion.isWorthIt ? html`<pre>${suggestion.yaml}</pre>` : ''}${wide('Tried settings', table(suggestion))}</div>
</section>`;
}

const HEADS = ['price of waiting', 'tasks', 'waiting', 'total', 'mean wait', 'p95 wait', 'jobs lost'];

function table({ trials, after, isWorthIt }: Suggestion): Html {
  const rows = trials.map((trial) => row(trial, trial.isConfigured ? ' (now)' : ''));
  const last = isWorthIt ? [row(after, ' (suggested)')] : [];
  return html`<table id="suggestion-table"><thead><tr>${HEADS.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${[...rows, ...last]}</tbody></table>`;
}

function row(trial: Trial, mark: string): Html {
  const { price, dollars: cost, meanWaitS, p95WaitS, lostJobs } = trial;
  return html`<tr${mark === '' ? '' : html` class="configured"`}><th scope="row">${dollars(price)}${mark}</th>${cell(cost.tasks, dollars)}${cell(cost.waiting, dollars)}${cell(cost.total, dollars)}${cell(meanWaitS, seconds)}${cell(p95WaitS, seconds)}${cell(lostJobs, count)}</tr>`;
}
