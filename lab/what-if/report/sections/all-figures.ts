/** The section with every figure of every policy, and the waits by pool, tag group and kind. */
import type { Backtest, Figures, WaitFigures } from '../../replay/result.ts';
import { cell, fold, NO_FIGURE, policyHead, policyHeads, rowHead, tableOf, wide } from '../parts/figure.ts';
import { type Html, html } from '../parts/html.ts';
import { count, dollars, type Format, hours, seconds, share } from '../parts/numbers.ts';
import { lengthLabel } from '../parts/times.ts';

type Row = readonly [name: string, format: Format, of: (figures: Figures) => number];

const WAIT_COLUMNS: readonly (readonly [name: string, format: Format, of: keyof WaitFigures])[] = [
  ['mean', seconds, 'meanS'],
  ['p50', seconds, 'p50S'],
  ['p95', seconds, 'p95S'],
  ['p99', seconds, 'p99S'],
  ['longest', seconds, 'maxS'],
  ['over 10 s', share, 'over10s'],
  ['over 60 s', share, 'over60s'],
  ['over 5 min', share, 'over5min'],
];

const GROUPS: Readonly<Record<string, readonly Row[]>> = {
  Jobs: [
    ['submitted', count, ({ jobs }) => jobs.submitted],
    ['succeeded', count, ({ jobs }) => jobs.succeeded],
    ['killed when their task stopped', count, ({ jobs }) => jobs.killed],
    ['failed by coderd after 30 min pending', count, ({ jobs }) => jobs.reaped],
    ['never run', count, ({ jobs }) => jobs.unserved],
    ['autostarts, autostops and dormancy due', count, ({ executor }) => executor.due],
    ['of these late: coderd saw no daemon', count, ({ executor }) => executor.delayed],
  ],
  'Wait of all jobs': waitRowsOf(({ wait }) => wait),
  'Wait of people': waitRowsOf(({ waitOfPeople }) => waitOfPeople),
  Tasks: [
    ['task-hours', hours, ({ tasks }) => tasks.hours],
    ['of these busy', hours, ({ tasks }) => tasks.busyHours],
    ['peak', count, ({ tasks }) => tasks.peak],
    ['launches', count, ({ tasks }) => tasks.launches],
    ['launches without a job', count, ({ tasks }) => tasks.idleLaunches],
  ],
  Dollars: [
    ['Fargate', dollars, (each) => each.dollars.tasks],
    ['waiting people', dollars, (each) => each.dollars.waiting],
    ['failed jobs', dollars, (each) => each.dollars.failures],
    ['total', dollars, (each) => each.dollars.total],
  ],
  'API calls': [
    ['looks', count, ({ calls }) => calls.ticks],
    ['requests to coderd', count, ({ calls }) => calls.coderd],
    ['calls to ECS', count, ({ calls }) => calls.ecs],
  ],
};

function waitRowsOf(waitOf: (figures: Figures) => WaitFigures): readonly Row[] {
  return WAIT_COLUMNS.map(([name, format, of]) => [name, format, (figures) => waitOf(figures)[of]]);
}

const WAIT_TABLES: readonly { readonly title: string; readonly what: string; readonly by: WaitBy }[] = [
  { title: 'Wait by pool', what: 'pool', by: ({ waitByPool }) => waitByPool },
  { title: 'Wait by organization and tags', what: 'group', by: ({ waitByGroup }) => waitByGroup },
  { title: 'Wait by kind of job', what: 'kind', by: ({ waitByKind }) => waitByKind },
];

export function allFiguresSection(backtest: Backtest): Html {
  return html`<section aria-labelledby="figures"><h2 id="figures">All figures</h2>
<p>These are figures of the ${lengthLabel(backtest)} of the trace.</p>
${wide('All figures of every policy', figuresTable(backtest))}
${WAIT_TABLES.map(({ title, what, by }) => fold(title, waitTable(backtest, what, by)))}
</section>`;
}

function figuresTable(backtest: Backtest): Html {
  const { runs } = backtest;
  const bodies = Object.entries(GROUPS).map(([title, rows]) => [
    groupRow(title),
    ...rows.map(([name, format, of]) => {
      return html`<tr>${rowHead(name)}${runs.map(({ figures }) => cell(of(figures), format))}</tr>`;
    }),
  ]);
  const heads = ['', ...policyHeads(backtest)];
  return tableOf(html` id="figures-table"`, heads, ...bodies);
}

const groupRow = (title: string): Html => html`<tr><th class="group" scope="rowgroup">${title}</th></tr>`;

type WaitBy = (figures: Figures) => Readonly<Record<string, WaitFigures>>;

function waitTable(backtest: Backtest, what: string, by: WaitBy): Html {
  const keys = [...new Set(backtest.runs.flatMap(({ figures }) => Object.keys(by(figures))))];
  const heads = ['', 'jobs', ...WAIT_COLUMNS.map(([name]) => name)];
  const bodies = keys.map((key) => waitRows(backtest, key, by));
  return wide(`Wait by ${what}`, tableOf(html` id="wait-by-${what}"`, heads, ...bodies));
}

function waitRows(backtest: Backtest, key: string, by: WaitBy): readonly Html[] {
  const rows = backtest.runs.map(({ figures }, at) => {
    const wait = by(figures)[key];
    const cells = WAIT_COLUMNS.map(([, format, of]) => (wait ? cell(wait[of], format) : NO_FIGURE));
    return html`<tr>${policyHead(backtest, at, 'row')}${cell(wait?.jobs ?? 0, count)}${cells}</tr>`;
  });
  return [groupRow(key === '-' ? 'no pool' : key), ...rows];
}
