/** Formats the result as text: headline, how sure cost and waits are, costs, tasks and jobs, assumptions. */
import { type Column, plainTable } from '../../../../cli/shared/plain-table.ts';
import { type Backtest, FAILURE_MINUTES, type PolicyRun } from '../../replay/result.ts';
import { breakEvenText } from '../../report/parts/break-even.ts';
import {
  headlineOf,
  peopleWaitOf,
  peopleWaitText,
  settingsText,
  startSharesText,
  summaryOf,
  TUNED,
} from '../../report/parts/headline.ts';
import { brief, cents, count, estimateText, priceText, share } from '../../report/parts/numbers.ts';
import { lengthLabel } from '../../report/parts/times.ts';
import { amountsOf } from './amounts.ts';

/** `width`: characters of a line. @default as wide as needed */
export function backtestText(backtest: Backtest, width?: number): string {
  const wait = peopleWaitOf(backtest);
  return [
    [
      ...[`${headlineOf(backtest)}.`, summaryOf(backtest)],
      ...(wait ? [peopleWaitText(wait)] : []),
      ...(backtest.breakEven ? [breakEvenText(backtest.breakEven) ?? []].flat() : []),
    ].join('\n'),
    ...policyTables(backtest, width),
    assumptionsText(backtest),
  ].join('\n\n');
}

function policyTables(backtest: Backtest, width: number | undefined): readonly string[] {
  const rows = backtest.runs.map((run) => ({ name: run.policy, run }));
  const period = `in ${lengthLabel(backtest)}`;
  const tables = [weeksTable(rows, backtest), costTable(rows, period), outcomeTable(rows, period)];
  return [...tables.map((each) => plainTable(...each, width)), allSettingsText(rows)];
}

type PolicyTable = readonly [columns: readonly Column[], rows: readonly (readonly string[])[]];

type Row = { readonly name: string; readonly run: PolicyRun };

/** Cost and waits of each policy with their ranges. Waits are those of jobs that a person waits for. */
function weeksTable(rows: readonly Row[], backtest: Backtest): PolicyTable {
  const { of, per } = amountsOf(backtest);
  const cells = rows.map(({ name, run: { estimates } }) => [
    name,
    estimateText(estimates.dollarsPerMonth, (monthly) => brief(of(monthly)), '-'),
    estimateText(estimates.meanWaitS, brief, '-'),
    estimateText(estimates.p95WaitS, brief, '-'),
  ]);
  return table(['policy', `$ ${per}`, 'mean wait s', 'p95 wait s'], cells, 'left');
}

function costTable(rows: readonly Row[], period: string): PolicyTable {
  const ofRuns = rows.map(({ name, run: { figures } }) => {
    const { waitOfPeople: wait, dollars } = figures;
    return [
      ...[name, count(wait.p99S), share(wait.over60s)],
      ...[dollars.tasks, dollars.waiting, dollars.failures, dollars.total].map(cents),
    ];
  });
  const heads = ['wait p99', '> 60 s', '$ spent', '$ waiting', '$ failures', '$ total'];
  return table([period, ...heads], ofRuns);
}

function outcomeTable(rows: readonly Row[], period: string): PolicyTable {
  const ofRuns = rows.map(({ name, run: { figures } }) => {
    const { hours, launches, idleLaunches, peak } = figures.tasks;
    const { killed, reaped, unserved } = figures.jobs;
    const { tooLate } = figures.executor;
    const counts = [launches, idleLaunches, peak, killed, reaped, unserved, tooLate];
    return [name, hours.toFixed(1), ...counts.map(count)];
  });
  const heads = ['task h', 'launches', 'idle', 'peak', 'killed', 'given up', 'not over', 'late'];
  return table([period, ...heads], ofRuns);
}

function table(
  heads: readonly string[],
  rows: PolicyTable[1],
  align: Column['align'] = 'right',
): PolicyTable {
  return [
    heads.map((head, at) => ({ head, align: at === 0 ? 'left' : align })),
    rows.map((row) => heads.map((_, at) => row[at] ?? '')),
  ];
}

function allSettingsText(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.map(({ name, run }) => `${name.padEnd(width)}  ${settingsText(run)}`);
  return [`settings (${TUNED})`, ...lines].join('\n');
}

function assumptionsText(backtest: Backtest): string {
  const { settings, seed } = backtest;
  const { valueOfMinute, region, pricesOf, startSeconds } = settings;
  const [least, most] = startSeconds;
  const { killed, reaped } = FAILURE_MINUTES;
  return [
    `assumptions: one minute that a person waits costs ${priceText(valueOfMinute)}; a killed job counts as ${killed} such minutes, one that is given up or not over as ${reaped};`,
    `tasks start in ${least} to ${most} s; Fargate prices of ${region}, ${pricesOf}; seed ${seed}; no Spot interruptions (docs/backtest.md)`,
    ...(peopleWaitOf(backtest) === undefined ? [] : [`${startSharesText()} (docs/backtest.md)`]),
    "included: the autoscaler's own function, metrics and logs, and the price of launches. Not included: network, coderd (docs/cost.md)",
  ].join('\n');
}
