/** The input of the backtest, and what the simulation leaves out. */
import { type Backtest, FAILURE_MINUTES, PEOPLE_WAIT_FOR } from '../../replay/result.ts';
import { policyHead, tableOf, textHead } from '../parts/figure.ts';
import { settingsText, TUNED } from '../parts/headline.ts';
import { type Html, html } from '../parts/html.ts';
import { count, priceText, seconds } from '../parts/numbers.ts';

export function settingsSection(backtest: Backtest): Html {
  return html`<section aria-labelledby="settings"><h2 id="settings">Settings</h2>
<dl class="settings">${Object.entries(settingsOf(backtest)).map(([name, value]) => html`<div><dt>${name}</dt><dd><bdi>${value}</bdi></dd></div>`)}</dl>
${policiesTable(backtest)}
</section>`;
}

function settingsOf(backtest: Backtest): Readonly<Record<string, string>> {
  const { trace, seed, settings } = backtest;
  const kinds = Object.entries(trace.kinds).map(([kind, jobs]) => `${count(jobs)} ${kind}`);
  return {
    trace: trace.name,
    jobs: `${count(trace.jobs)}: ${kinds.join(', ')}`,
    ...(trace.skipped > 0 ? { 'lines left out': `${count(trace.skipped)} invalid` } : {}),
    ...(trace.unfit > 0 ? { 'jobs left out': `${count(trace.unfit)} without a matching pool` } : {}),
    seed: String(seed),
    region: `${settings.region}, prices of ${settings.pricesOf}`,
    'start time of a task': `${seconds(settings.startSeconds[0])} to ${seconds(settings.startSeconds[1])} until its daemon is connected`,
    'price of waiting': `${priceText(settings.valueOfMinute)} for each minute of a person`,
  };
}

function policiesTable(backtest: Backtest): Html {
  const rows = backtest.runs.map(
    (run, at) =>
      html`<tr>${policyHead(backtest, at, 'row')}<td class="text">${settingsText(run)}</td><td class="text">${run.source === undefined ? '' : link(run.source)}</td></tr>`,
  );
  return tableOf(
    'Settings of the policies',
    ['policy', textHead(`settings (${TUNED})`), textHead('source of the rule')],
    rows,
  );
}

/** Links only https: the source is text from outside. */
const link = ({ title, url }: { readonly title: string; readonly url: string }): Html =>
  url.startsWith('https://') ? html`<a href="${url}">${title}</a>` : html`${title}`;

export function assumptionsSection({ settings, runs }: Backtest): Html {
  return html`<section class="prose" aria-labelledby="assumptions"><h2 id="assumptions">What the simulation covers</h2>
<p>Every policy gets the same jobs at the same times, in a simulated coderd and ECS on a virtual clock. The autoscaler is the real one: the simulation runs the code of the
Lambda function.${othersText(runs)}</p>
<p>A job takes as long as the trace says, under every policy. The simulation ignores what a warm cache saves and what a crowded host costs. coderd's lifecycle executor creates its
jobs at the first full minute at which it sees a daemon. A task takes ${seconds(settings.startSeconds[0])} to ${seconds(settings.startSeconds[1])} to start. Fargate always has capacity. AWS does not fail. coderd fails only where
the trace has an outage. People do not react: they neither cancel nor try again.</p>
<p>Dollars are Fargate's list prices for tasks, the price of each launch, and the autoscaler's own function, metrics and logs. They leave out the NAT gateway, further data transfer and coderd itself. Only the wait of people has a price
(${[...PEOPLE_WAIT_FOR].join(', ')}). A killed job counts as ${FAILURE_MINUTES.killed} minutes of a person, a job that never ran as ${FAILURE_MINUTES.reaped}. These minutes are assumptions, not measurements.</p>
</section>`;
}

/** How tasks stop under each policy, by its id. */
const ENDINGS: Readonly<Record<string, string>> = {
  static: 'The static fleet has the size with the lowest total, and never stops a task.',
  'from-zero':
    'From zero, each build gets a new task, unless another is free. A task exits after a minute without a build.',
  'agent-scaler':
    "Buildkite's rule launches a task for each build, and keeps it for the idle time with the lowest total. Then the agent exits, and the desired count drops with them. ECS has no such call.",
};

function othersText([, ...others]: Backtest['runs']): string {
  const endings = Object.entries(ENDINGS).filter(([id]) => others.some(({ policy }) => policy === id));
  if (endings.length === 0) return '';
  const rules = 'The other policies have the settings with the lowest total on this same trace.';
  return [' ', rules, ...endings.map(([, text]) => ` ${text}`)].join('');
}
