/** Formats the result as text: headline, waits and costs, tasks and jobs, assumptions. */
import { type Backtest, type Bound, FAILURE_MINUTES, type PolicyRun } from '../../backtest/replay/result.ts';
import {
  headlineOf,
  peopleWaitOf,
  peopleWaitText,
  startSharesText,
  summaryOf,
} from '../../backtest/report/parts/headline.ts';
import { cents, count, dollars } from '../../backtest/report/parts/numbers.ts';
import { type Column, plainTable } from '../shared/plain-table.ts';

/** `width`: characters of a line. @default as wide as needed */
export function backtestText(backtest: Backtest, width?: number): string {
  const wait = peopleWaitOf(backtest);
  return [
    [`${headlineOf(backtest)}.`, summaryOf(backtest), ...(wait ? [peopleWaitText(wait)] : [])].join('\n'),
    ...policyTables(backtest, width),
    assumptionsText(backtest),
    'autoscaler tune finds the price of waiting for a budget or a wait on this trace',
  ].join('\n\n');
}

function policyTables(backtest: Backtest, width: number | undefined): readonly string[] {
  const rows = backtest.runs.map((run) => ({ name: nameOf(run, backtest), run }));
  const tables = [costTable(rows, backtest.bounds), outcomeTable(rows, backtest.bounds)];
  return [...tables.map(({ columns, rows }) => plainTable(columns, rows, width)), settingsText(rows)];
}

type PolicyTable = {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
};

type Row = { readonly name: string; readonly run: PolicyRun };

/** The policy's id, with `tuned` if the policy also ran untuned. */
function nameOf({ policy, isTuned }: PolicyRun, { runs }: Backtest): string {
  const isTwice = runs.filter((run) => run.policy === policy).length > 1;
  return isTwice && isTuned ? `${policy} tuned` : policy;
}

/** Waits and costs of each policy. Waits are those of jobs that a person waits for. */
function costTable(rows: readonly Row[], bounds: readonly Bound[]): PolicyTable {
  const heads = ['wait s', 'p50', 'p95', 'p99', '> 60 s', 'task-hours'];
  const money = ['$ tasks', '$ waiting', '$ failures', '$ total'];
  const ofRuns = rows.map(({ name, run: { figures } }) => {
    const { waitOfPeople: wait, tasks, dollars } = figures;
    return [
      name,
      wait.meanS.toFixed(1),
      ...[wait.p50S, wait.p95S, wait.p99S].map(count),
      percent(wait.over60s),
      tasks.hours.toFixed(1),
      ...[dollars.tasks, dollars.waiting, dollars.failures, dollars.total].map(cents),
    ];
  });
  const ofBounds = bounds.map(({ bound, meanWaitS, hours, dollars }) => [
    ...[bound, meanWaitS.toFixed(1)],
    ...['', '', '', ''],
    ...[hours.toFixed(1), cents(dollars)],
    ...['', '', ''],
  ]);
  return table([...heads, ...money], [...ofRuns, ...ofBounds]);
}

function outcomeTable(rows: readonly Row[], bounds: readonly Bound[]): PolicyTable {
  const ofTasks = ['launches', 'of them idle', 'most tasks'];
  const ofJobs = ['killed', 'given up', 'not over', 'schedules late'];
  const ofRuns = rows.map(({ name, run: { figures } }) => {
    const { launches, idleLaunches, peak } = figures.tasks;
    const { killed, reaped, unserved } = figures.jobs;
    const { delayed } = figures.executor;
    return [name, ...[launches, idleLaunches, peak, killed, reaped, unserved, delayed].map(count)];
  });
  const ofBounds = bounds.flatMap(({ bound, launches }) =>
    launches > 0 ? [[bound, count(launches), ...['', '', '', '', '', '']]] : [],
  );
  return table([...ofTasks, ...ofJobs], [...ofRuns, ...ofBounds]);
}

function table(heads: readonly string[], rows: PolicyTable['rows']): PolicyTable {
  const figures = heads.map((head): Column => ({ head, align: 'right' }));
  return { columns: [{ head: 'policy', align: 'left' }, ...figures], rows };
}

function settingsText(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.map(({ name, run: { settings, isTuned } }) => {
    const fields = Object.entries(settings).map(([field, value]) => `${field} ${value}`);
    const words = fields.length === 0 ? 'as configured' : fields.join(', ');
    return `${name.padEnd(width)}  ${words}${isTuned ? ' (tuned)' : ''}`;
  });
  return ['settings (tuned: the best of a grid on this trace)', ...lines].join('\n');
}

function assumptionsText(backtest: Backtest): string {
  const { settings, seed } = backtest;
  const { valueOfMinute, region, pricesOf, startSeconds } = settings;
  const [least, most] = startSeconds;
  const { killed, reaped } = FAILURE_MINUTES;
  return [
    `assumptions: one minute that a person waits costs ${dollars(valueOfMinute)}; a killed job counts as ${killed} such minutes, one that is given up or not over as ${reaped};`,
    `tasks start in ${least} to ${most} s; Fargate prices of ${region}, ${pricesOf}; seed ${seed}; no Spot interruptions (docs/backtest.md)`,
    ...(peopleWaitOf(backtest) === undefined ? [] : [`${startSharesText()} (docs/backtest.md)`]),
    "not included: the autoscaler's function, metrics and logs, 8 dollars a month or more (docs/cost.md)",
  ].join('\n');
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}
