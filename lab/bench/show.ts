/** Formats the measurements as tables. */
import { styleText } from 'node:util';
import Table from 'cli-table3';
import type { CliStartFigures } from './cli-start.ts';
import type { DecisionFigures } from './decision.ts';
import type { FunctionFigures, LookFigures } from './function.ts';
import type { Work } from './invocation-process.ts';
import type { TuneFigures } from './tune.ts';

/** The goals of the project: upper limits, in milliseconds or as a ratio. */
export const GOALS = { decideMs: 100, tickMs: 2_000, validateRatio: 6, tuneRatio: 0.1 } as const;

export function decisionText(figures: readonly DecisionFigures[]): string {
  const heads = [
    ...['pending jobs', 'pools', 'daemons', 'workspaces'],
    ...['decide', 'without forecast', 'vs JSON.parse'],
  ];
  const rows = figures.map((row) => [
    ...[row.jobs, row.pools, row.daemons, row.workspaces].map(count),
    ...[ms(row.decideMs), ms(row.withoutMs), `${row.ratio.toFixed(1)} x`],
  ]);
  return [
    title('The decision alone, two minutes before a fifth of the workspaces start'),
    'decide            from a snapshot in memory to the plan; median of several runs',
    'without forecast  the same snapshot without workspaces and templates, in the same run',
    'vs JSON.parse     time of decide divided by time of JSON.parse for the same snapshot, in the same run; comparable between machines',
    tableOf(heads, rows),
    goal('decide at the largest size', Math.max(...figures.map(({ decideMs }) => decideMs)), GOALS.decideMs),
  ].join('\n');
}

/** ECS's bucket for ListTasks and DescribeTasks: 100 at once, 20 a second (docs/internals/aws.md §2). */
const CLUSTER_READS = { burst: 100, perSecond: 20 } as const;

export function functionText(figures: readonly FunctionFigures[]): string {
  const heads = [
    ...['pending jobs', 'pools', 'daemons', 'workspaces', 'init', 'first look', 'later looks'],
    ...['with a refresh', 'peak memory', 'cluster reads'],
  ];
  const rows = figures.map((row) => [
    ...[row.jobs, row.pools, row.daemons, row.workspaces].map(count),
    ...[row.init, row.cold, row.warm].map(work),
    row.refresh === undefined ? '' : work(row.refresh),
    `${Math.round(row.peakRssMib)} MiB`,
    `${clusterReads(row.warm)}`,
  ]);
  const later = figures.flatMap(({ warm, refresh }) => [warm.ms, refresh?.ms ?? 0]);
  return [
    title('A whole look: observe, decide, apply'),
    'The bundled function in its own process, with undici and the AWS SDK clients, against a server on loopback.',
    'init           from the start of the process until the function is loaded',
    'later looks    median of the looks after the first one',
    'CPU            processor time beside elapsed time. Lambda gives 1 vCPU for 1,769 MB, so 512 MB need 3.5 times the processor time',
    'with a refresh later looks that read workspaces and templates again, as every few minutes; median',
    'peak memory    peak resident memory of the process',
    `cluster reads  ListTasks and DescribeTasks calls per look; AWS allows bursts of ${CLUSTER_READS.burst} and ${CLUSTER_READS.perSecond} per second, this server has no limit`,
    tableOf(heads, rows),
    ...figures.flatMap(refreshText),
    goal('a later look at the largest size', Math.max(...later), GOALS.tickMs),
  ].join('\n');
}

/** One function on larger and larger deployments, with answers of coderd that take 300 ms. */
export function reachText(figures: readonly FunctionFigures[]): string {
  const heads = [
    ...['organizations', 'pools', 'daemons', 'workspaces', 'look', 'first look', 'refresh'],
    ...['memory', 'requests a look', 'at a refresh', 'Lambda a month'],
  ];
  const rows = figures.map((row) => [
    ...[row.organizations ?? 0, row.pools, row.daemons, row.workspaces].map(count),
    ...[row.warm, row.cold, ...(row.refresh ? [row.refresh] : [])].map(work),
    `${Math.round(row.peakRssMib)} MiB`,
    ...[row.warm, row.refresh ?? row.warm].map((look) => `${coderdRequests(look)}`),
    `$${((row.warm.ms / 1_000) * DOLLARS_A_SECOND).toFixed(2)}`,
  ]);
  return [
    title(
      'How far one function reaches: coderd answers in 300 ms, and takes 512 requests a minute for each path',
    ),
    'Lambda a month  512 MB, a look every 10 s all month, without refreshes',
    tableOf(heads, rows),
  ].join('\n');
}

/** A month of looks every 10 s that last a second each, with 512 MB at the price of us-east-1. */
const DOLLARS_A_SECOND = ((730 * 3_600) / 10) * 0.5 * 0.0000133334;

function coderdRequests({ calls }: LookFigures): number {
  return Object.entries(calls).reduce(
    (all, [name, made]) => all + (name.startsWith('coderd ') ? made : 0),
    0,
  );
}

/** Calls of one look that share one AWS rate limit. */
function clusterReads({ calls }: LookFigures): number {
  return (calls.ListTasks ?? 0) + (calls.DescribeTasks ?? 0);
}

/** Requests to coderd that only the forecast needs. */
const FORECAST_CALLS = ['workspaces', 'templates', 'templateversions', 'authcheck'];

function refreshText({ workspaces, cold, refresh }: FunctionFigures): readonly string[] {
  if (refresh === undefined) return [];
  const text = ({ calls }: LookFigures): string =>
    FORECAST_CALLS.map((name) => `${calls[`coderd ${name}`] ?? 0} ${name}`).join(', ');
  return [
    `requests for the forecast of ${count(workspaces)} workspaces: ${text(cold)} at the first look; ${text(refresh)} at a refresh`,
  ];
}

export function tuneText({ jobs, tuneMs, replayMs, ratio }: TuneFigures): string {
  return [
    title('backtest --price-of-waiting, with eight seeds'),
    `the search takes ${ms(tuneMs)} of processor time for ${jobs} jobs: ${ratio.toFixed(2)} x as long as one replay of them (${ms(replayMs)}).`,
    `goal: within ${GOALS.tuneRatio} x: ${ratio <= GOALS.tuneRatio ? 'met' : 'missed'} (${ratio.toFixed(2)} x)`,
  ].join('\n');
}

export function cliStartText({ validateMs, emptyMs, ratio }: CliStartFigures): string {
  return [
    title('The start of the command line'),
    `autoscaler validate takes ${ms(validateMs)}: ${ratio.toFixed(1)} x as long as a Node process that does nothing (${ms(emptyMs)}).`,
    `goal: within ${GOALS.validateRatio} x: ${ratio <= GOALS.validateRatio ? 'met' : 'missed'} (${ratio.toFixed(1)} x)`,
  ].join('\n');
}

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    head: heads.map((head) => styleText('bold', head)),
    colAligns: heads.map(() => 'right'),
    style: { head: [], border: [], compact: true },
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
}

function title(text: string): string {
  return styleText('bold', `\n${text}`);
}

function goal(what: string, seenMs: number, goalMs: number): string {
  return `goal: ${what} within ${ms(goalMs)}: ${seenMs <= goalMs ? 'met' : 'missed'} (${ms(seenMs)})`;
}

const count = (value: number): string => value.toLocaleString('en');
const work = (value: Work): string => `${ms(value.ms)}, CPU ${ms(value.cpuMs)}`;
const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : count(Math.round(value))} ms`;
