/** The section with the figures of every policy, and the waits by pool, tag group and kind. */
import { ownValue } from '../../../../lambda/decision/model/collections.ts';
import type { Backtest, Figures, WaitFigures } from '../../replay/result.ts';
import { cell, fold, policyHead, rowHead, tableOf } from '../parts/figure.ts';
import { SPENT } from '../parts/headline.ts';
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
  ['over 60 s', share, 'over60s'],
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
  'Wait of people': WAIT_COLUMNS.map(([name, format, of]) => [
    name,
    format,
    ({ waitOfPeople }) => waitOfPeople[of],
  ]),
  Tasks: [
    ['task-hours', hours, ({ tasks }) => tasks.hours],
    ['of these busy', hours, ({ tasks }) => tasks.busyHours],
    ['peak', count, ({ tasks }) => tasks.peak],
    ['launches', count, ({ tasks }) => tasks.launches],
    ['launches without a job', count, ({ tasks }) => tasks.idleLaunches],
  ],
  Dollars: [
    [SPENT, dollars, (each) => each.dollars.tasks],
    ['waiting people', dollars, (each) => each.dollars.waiting],
    ['failed jobs', dollars, (each) => each.dollars.failures],
    ['total', dollars, (each) => each.dollars.total],
  ],
};

type WaitBy = (figures: Figures) => Readonly<Record<string, WaitFigures>>;

const WAIT_TABLES: readonly (readonly [title: string, by: WaitBy])[] = [
  ['Wait by pool', ({ waitByPool }) => waitByPool],
  ['Wait by organization and tags', ({ waitByGroup }) => waitByGroup],
  ['Wait by kind of job', ({ waitByKind }) => waitByKind],
];

export function allFiguresSection(backtest: Backtest): Html {
  return html`<section aria-labelledby="figures"><h2 id="figures">All figures</h2>
<p>These are figures of the ${lengthLabel(backtest)} of the trace.</p>
${figuresTable(backtest)}
${WAIT_TABLES.map(([title, by]) => fold(title, waitTable(backtest, title, by)))}
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
  const heads = ['', ...runs.map((_, at) => policyHead(backtest, at, 'col'))];
  return tableOf('All figures of every policy', heads, ...bodies);
}

const groupRow = (title: string): Html => html`<tr><th class="group" scope="rowgroup">${title}</th></tr>`;

function waitTable(backtest: Backtest, title: string, by: WaitBy): Html {
  const keys = [...new Set(backtest.runs.flatMap(({ figures }) => Object.keys(by(figures))))];
  const heads = ['', 'jobs', ...WAIT_COLUMNS.map(([name]) => name)];
  const bodies = keys.map((key) => [
    groupRow(key === '-' ? 'no pool' : key),
    ...backtest.runs.map(({ figures }, at) =>
      waitRow(policyHead(backtest, at, 'row'), ownValue(by(figures), key)),
    ),
  ]);
  return tableOf(title, heads, ...bodies);
}

function waitRow(head: Html, wait: WaitFigures | undefined): Html {
  const cells = WAIT_COLUMNS.map(([, format, of]) => (wait ? cell(wait[of], format) : html`<td>–</td>`));
  return html`<tr>${head}${cell(wait?.jobs ?? 0, count)}${cells}</tr>`;
}
