/**
 * The section with every figure of every policy and bound, and the waits by pool, tag group and
 * kind.
 */
import type { Backtest, Bound, Figures, WaitFigures } from '../../replay/result.ts';
import { type Html, html } from '../parts/html.ts';
import { count, dollars, hours, seconds, share } from '../parts/numbers.ts';
import { cell, fold, NO_FIGURE, policyHead, wide } from './figure.ts';

type Row = {
  readonly name: string;
  readonly of: (figures: Figures) => number;
  readonly ofBound?: (bound: Bound) => number;
  readonly format: (value: number) => string;
};

const WAIT_COLUMNS: readonly {
  readonly name: string;
  readonly of: (wait: WaitFigures) => number;
  readonly format: (value: number) => string;
}[] = [
  { name: 'mean', of: (wait) => wait.meanS, format: seconds },
  { name: 'p50', of: (wait) => wait.p50S, format: seconds },
  { name: 'p95', of: (wait) => wait.p95S, format: seconds },
  { name: 'p99', of: (wait) => wait.p99S, format: seconds },
  { name: 'longest', of: (wait) => wait.maxS, format: seconds },
  { name: 'over 10 s', of: (wait) => wait.over10s, format: share },
  { name: 'over 60 s', of: (wait) => wait.over60s, format: share },
  { name: 'over 5 min', of: (wait) => wait.over5min, format: share },
];

const GROUPS: readonly { readonly title: string; readonly rows: readonly Row[] }[] = [
  {
    title: 'Jobs',
    rows: [
      { name: 'submitted', of: ({ jobs }) => jobs.submitted, format: count },
      { name: 'succeeded', of: ({ jobs }) => jobs.succeeded, format: count },
      { name: 'killed when their task stopped', of: ({ jobs }) => jobs.killed, format: count },
      { name: 'failed by coderd after 30 min pending', of: ({ jobs }) => jobs.reaped, format: count },
      { name: 'never run', of: ({ jobs }) => jobs.unserved, format: count },
      { name: 'autostarts, autostops and dormancy due', of: ({ executor }) => executor.due, format: count },
      {
        name: 'of these late: coderd saw no daemon',
        of: ({ executor }) => executor.delayed,
        format: count,
      },
    ],
  },
  {
    title: 'Wait of all jobs',
    rows: WAIT_COLUMNS.map(({ name, of, format }) => ({ name, of: ({ wait }) => of(wait), format })),
  },
  {
    title: 'Wait of people',
    rows: WAIT_COLUMNS.map(({ name, of, format }) => ({
      name,
      of: ({ waitOfPeople }) => of(waitOfPeople),
      ...(name === 'mean' ? { ofBound: ({ meanWaitS }) => meanWaitS } : {}),
      format,
    })),
  },
  {
    title: 'Tasks',
    rows: [
      { name: 'task-hours', of: ({ tasks }) => tasks.hours, ofBound: (bound) => bound.hours, format: hours },
      { name: 'of these busy', of: ({ tasks }) => tasks.busyHours, format: hours },
      { name: 'peak', of: ({ tasks }) => tasks.peak, format: count },
      {
        name: 'launches',
        of: ({ tasks }) => tasks.launches,
        ofBound: (bound) => bound.launches,
        format: count,
      },
      { name: 'launches without a job', of: ({ tasks }) => tasks.idleLaunches, format: count },
    ],
  },
  {
    title: 'Dollars',
    rows: [
      {
        name: 'Fargate',
        of: (each) => each.dollars.tasks,
        ofBound: (bound) => bound.dollars,
        format: dollars,
      },
      { name: 'waiting people', of: (each) => each.dollars.waiting, format: dollars },
      { name: 'failed jobs', of: (each) => each.dollars.failures, format: dollars },
      { name: 'total', of: (each) => each.dollars.total, format: dollars },
    ],
  },
  {
    title: 'API calls',
    rows: [
      { name: 'looks', of: ({ calls }) => calls.ticks, format: count },
      { name: 'requests to coderd', of: ({ calls }) => calls.coderd, format: count },
      { name: 'calls to ECS', of: ({ calls }) => calls.ecs, format: count },
    ],
  },
];

export function allFiguresSection(backtest: Backtest): Html {
  return html`<section aria-labelledby="figures"><h2 id="figures">All figures</h2>
${wide('All figures of every policy', figuresTable(backtest))}
${fold(
  'Wait by pool',
  waitTable(backtest, 'pool', ({ waitByPool }) => waitByPool),
)}
${fold(
  'Wait by organization and tags',
  waitTable(backtest, 'group', ({ waitByGroup }) => waitByGroup),
)}
${fold(
  'Wait by kind of job',
  waitTable(backtest, 'kind', ({ waitByKind }) => waitByKind),
)}
</section>`;
}

function figuresTable(backtest: Backtest): Html {
  const { runs, bounds } = backtest;
  const heads = runs.map((_, at) => policyHead(backtest, at, 'col'));
  const body = GROUPS.map(
    ({ title, rows }) =>
      html`<tbody><tr><th class="group" scope="rowgroup">${title}</th></tr>${rows.map(
        ({ name, of, ofBound, format }) =>
          html`<tr><th scope="row">${name}</th>${runs.map(({ figures }) => cell(of(figures), format))}${bounds.map(
            (bound) => (ofBound === undefined ? NO_FIGURE : cell(ofBound(bound), format)),
          )}</tr>`,
      )}</tbody>`,
  );
  return html`<table id="figures-table"><thead><tr><td></td>${heads}${bounds.map(({ title }) => html`<th scope="col">${title}</th>`)}</tr></thead>${body}</table>`;
}

type WaitBy = (figures: Figures) => Readonly<Record<string, WaitFigures>>;

function waitTable(backtest: Backtest, what: string, by: WaitBy): Html {
  const keys = [...new Set(backtest.runs.flatMap(({ figures }) => Object.keys(by(figures))))];
  return wide(
    `Wait by ${what}`,
    html`<table id="wait-by-${what}"><thead><tr><td></td><th scope="col">jobs</th>${WAIT_COLUMNS.map(
      ({ name }) => html`<th scope="col">${name}</th>`,
    )}</tr></thead>${keys.map((key) => waitRows(backtest, key, by))}</table>`,
  );
}

function waitRows(backtest: Backtest, key: string, by: WaitBy): Html {
  const rows = backtest.runs.map(({ figures }, at) => {
    const wait = by(figures)[key];
    const cells =
      wait === undefined
        ? [cell(0, count), ...WAIT_COLUMNS.map(() => NO_FIGURE)]
        : [cell(wait.jobs, count), ...WAIT_COLUMNS.map(({ of, format }) => cell(of(wait), format))];
    return html`<tr>${policyHead(backtest, at, 'row')}${cells}</tr>`;
  });
  return html`<tbody><tr><th class="group" scope="rowgroup">${key === '-' ? 'no pool' : key}</th></tr>${rows}</tbody>`;
}
