/** With what it was run, and how far to trust it. */
import { type Backtest, FAILURE_MINUTES, PEOPLE_WAIT_FOR } from '../../replay/result.ts';
import { type Html, html } from '../parts/html.ts';
import { count, dollars, seconds } from '../parts/numbers.ts';
import { policyHead, wide } from './figure.ts';

export function settingsSection(backtest: Backtest): Html {
  return html`<section aria-labelledby="settings"><h2 id="settings">Settings</h2>
<dl class="settings">${Object.entries(settingsOf(backtest)).map(([name, value]) => html`<div><dt>${name}</dt><dd><bdi>${value}</bdi></dd></div>`)}</dl>
${wide('Settings of the policies', policiesTable(backtest))}
${wide('Pools', poolsTable(backtest))}
</section>`;
}

function settingsOf({ trace, seed, settings }: Backtest): Readonly<Record<string, string>> {
  const kinds = Object.entries(trace.kinds).map(([kind, jobs]) => `${count(jobs)} ${kind}`);
  return {
    trace: trace.name,
    jobs: `${count(trace.jobs)}: ${kinds.join(', ')}`,
    ...(trace.skipped > 0 ? { 'lines left out': `${count(trace.skipped)} that could not be read` } : {}),
    ...(trace.unfit > 0 ? { 'jobs left out': `${count(trace.unfit)} that no pool can run` } : {}),
    seed: String(seed),
    region: `${settings.region}, prices of ${settings.pricesOf}`,
    'start of a task': `${seconds(settings.startSeconds[0])} to ${seconds(settings.startSeconds[1])} until its daemon is there`,
    'a minute of waiting': `${dollars(settings.valueOfMinute)} for a person`,
  };
}

function policiesTable(backtest: Backtest): Html {
  const rows = backtest.runs.map(
    ({ settings, isTuned, source }, at) =>
      html`<tr>${policyHead(backtest, at, 'row')}<td>${settingsText(settings)}${isTuned ? ' (chosen by the grid search)' : ''}</td><td>${source === undefined ? '' : link(source)}</td></tr>`,
  );
  return html`<table class="text" id="policies-table"><thead><tr><th scope="col">policy</th><th scope="col">settings</th><th scope="col">its rule is from</th></tr></thead><tbody>${rows}</tbody></table>`;
}

const settingsText = (settings: Readonly<Record<string, string | number>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ') || 'as configured';

/** Nothing but the web: a source is text from outside. */
const link = ({ title, url }: { readonly title: string; readonly url: string }): Html =>
  url.startsWith('https://') ? html`<a href="${url}">${title}</a>` : html`${title}`;

function poolsTable({ pools }: Backtest): Html {
  const rows = pools.map(
    ({ name, organization, tags, min, max, dollarsPerTaskHour }) =>
      html`<tr><th scope="row">${name}</th><td>${organization}</td><td>${tagsText(tags)}</td><td>${min} to ${max}</td><td>${dollars(dollarsPerTaskHour)}</td></tr>`,
  );
  return html`<table class="text"><thead><tr><th scope="col">pool</th><th scope="col">organization</th><th scope="col">tags</th><th scope="col">tasks</th><th scope="col">a task-hour</th></tr></thead><tbody>${rows}</tbody></table>`;
}

const tagsText = (tags: Readonly<Record<string, string>>): string =>
  Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ') || 'untagged';

export function assumptionsSection({ settings, runs }: Backtest): Html {
  return html`<section class="prose" aria-labelledby="assumptions"><h2 id="assumptions">What was simulated, and what was not</h2>
<p>Every policy got the same jobs at the same times, in a model of coderd and of ECS on a virtual clock. The autoscaler is the real one: the code that runs in the Lambda
function looked, decided and acted in it.${othersText(runs)}</p>
<p>A job takes as long under every policy as the trace says: what a warm cache saves or a crowded host costs is not in it. Jobs that coderd's lifecycle executor creates come
at its first minute at which it sees a daemon. A start takes ${seconds(settings.startSeconds[0])} to ${seconds(settings.startSeconds[1])}; capacity of Fargate never runs out,
AWS does not fail, and coderd fails only where the trace says so. People react to nothing: who waits long does not try again.</p>
<p>Dollars are Fargate's list prices for tasks. The autoscaler's own function, metrics and logs (from 8 dollars a month on), NAT, data transfer and coderd itself are not in them. Waiting is priced for people only
(${[...PEOPLE_WAIT_FOR].join(', ')}); a killed job counts as ${FAILURE_MINUTES.killed} minutes of a person, a job that was never run as ${FAILURE_MINUTES.reaped}: assumptions, not measurements.</p>
</section>`;
}

/** How tasks end under each of the policies. */
const ENDINGS: Readonly<Record<string, string>> = {
  static:
    'A static fleet is shown of the size that the search finds and, where that is another, of maxTasks, your own limit; nobody stops its tasks.',
  keda: "KEDA's scale-in lets ECS pick whom it stops, and a job that is not done 120 s later is lost.",
  'agent-scaler':
    "Buildkite's agents end themselves while they are idle, and the count goes down with them: ECS has no such call.",
};

function othersText([, ...others]: Backtest['runs']): string {
  const endings = Object.entries(ENDINGS).filter(([id]) => others.some(({ policy }) => policy === id));
  if (endings.length === 0) return '';
  const rules =
    'The other policies are their public rules, put on ECS by us, each with the settings that a grid search on this very trace found to cost least in all.';
  return [' ', rules, ...endings.map(([, text]) => ` ${text}`)].join('');
}
