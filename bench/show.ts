/** The figures as a person reads them. */
import { styleText } from 'node:util';
import Table from 'cli-table3';
import type { BundleFigures } from './bundle.ts';
import type { CoreFigures, GrowthFigures } from './core.ts';
import type { ForecastFigures } from './forecast.ts';
import type { FunctionFigures, LookFigures } from './function.ts';
import type { Work } from './invocation-process.ts';
import type { WeekFigures } from './week.ts';

/** What the project wants to stay below. */
export const GOALS = { decideMs: 100, tickMs: 2_000, weekMs: 60_000 } as const;

type Column = readonly [head: string, align: 'left' | 'right'];

/** The decision: a row a size, then how it grows. */
export function coreText(figures: readonly CoreFigures[], growth: readonly GrowthFigures[]): string {
  const columns: Column[] = [
    'pending jobs',
    'pools',
    'daemons',
    'tag groups',
    'decide',
    'vs JSON.parse',
    'read',
  ].map((head) => [head, 'right']);
  const rows = figures.map((row) => [
    count(row.jobs),
    count(row.pools),
    count(row.daemons),
    count(row.tagGroups),
    ms(row.decideMs),
    `${row.ratio.toFixed(1)} x`,
    ms(row.parseMs),
  ]);
  const exponents = growth.map(
    ({ pools, daemons, exponent }) => `${exponent.toFixed(2)} (${pools} pools, ${count(daemons)} daemons)`,
  );
  return [
    title('The decision alone'),
    'decide         from a snapshot in memory to the plan; median of several runs',
    'vs JSON.parse  decide as a multiple of what JSON.parse takes for the same snapshot as text, in the same run: comparable between machines',
    'read           checking a snapshot document against its schema; only a dry run on a file pays it, so it is no part of decide',
    tableOf(columns, rows),
    `growth: decide ~ jobs^k (1 = ten times the jobs take ten times as long), k = ${exponents.join(', ')}`,
    goal('decide at the largest', Math.max(...figures.map(({ decideMs }) => decideMs)), GOALS.decideMs),
  ].join('\n');
}

/** The decision with the forecast: a row a deployment and number of workspaces. */
export function forecastText(figures: readonly ForecastFigures[]): string {
  const columns: Column[] = [
    'pending jobs',
    'pools',
    'daemons',
    'workspaces',
    'templates',
    'due within 1 h',
    'decide',
    'without',
    'forecast',
    'vs JSON.parse',
  ].map((head) => [head, 'right']);
  const rows = figures.map((row) => [
    count(row.jobs),
    count(row.pools),
    count(row.daemons),
    count(row.workspaces),
    count(row.templates),
    count(row.within1h),
    ms(row.decideMs),
    ms(row.withoutMs),
    `${Math.round(row.share * 100)} %`,
    `${row.ratio.toFixed(1)} x`,
  ]);
  return [
    title('The decision with the forecast, two minutes before a fifth of the workspaces start'),
    'without        the same snapshot without workspaces and templates, in the same run',
    'forecast       its share of the decision: what is due, for which pools wake, and daemons made ready for it',
    tableOf(columns, rows),
    goal('decide with the forecast', Math.max(...figures.map(({ decideMs }) => decideMs)), GOALS.decideMs),
  ].join('\n');
}

/** ECS's bucket for ListTasks and DescribeTasks: 100 at once, 20 a second (docs/aws.md §2). */
const CLUSTER_READS = { burst: 100, perSecond: 20 } as const;

/** Whole looks of the bundled function. */
export function functionText(figures: readonly FunctionFigures[]): string {
  const columns: Column[] = [
    'pending jobs',
    'pools',
    'daemons',
    'workspaces',
    'init',
    'first look',
    'later looks',
    'with a refresh',
    'peak memory',
    'cluster reads',
  ].map((head) => [head, 'right']);
  const rows = figures.map((row) => [
    count(row.jobs),
    count(row.pools),
    count(row.daemons),
    count(row.workspaces),
    work(row.init),
    work(row.cold),
    work(row.warm),
    row.refresh === undefined ? '' : work(row.refresh),
    `${Math.round(row.peakRssMib)} MiB`,
    `${clusterReads(row.warm)}`,
  ]);
  const later = figures.flatMap(({ warm, refresh }) => [warm.ms, refresh?.ms ?? 0]);
  return [
    title('A whole look: observe, decide, act'),
    'The bundled function in a process of its own, with undici and the AWS SDK clients, against a server on loopback.',
    'init           from the start of the process until the function is loaded; then the first look, and later ones: median',
    'CPU            processor time beside time on the clock. Lambda gives 1 vCPU for 1,769 MB, so 512 MB take 3.5 times as long for it',
    'with a refresh later looks that read workspaces and templates anew, as every few minutes; median',
    'peak memory    the most that the process ever had (resident)',
    `cluster reads  ListTasks and DescribeTasks a look; AWS allows ${CLUSTER_READS.burst} at once and ${CLUSTER_READS.perSecond} a second, this server any number`,
    tableOf(columns, rows),
    ...figures.flatMap(refreshText),
    goal('a later look at the largest', Math.max(...later), GOALS.tickMs),
  ].join('\n');
}

/** Calls of one look that AWS counts together. */
function clusterReads({ calls }: LookFigures): number {
  return (calls.ListTasks ?? 0) + (calls.DescribeTasks ?? 0);
}

/** What is asked of coderd for the forecast alone. */
const FORECAST_CALLS = ['workspaces', 'templates', 'templateversions', 'authcheck'];

function refreshText({ workspaces, cold, refresh }: FunctionFigures): readonly string[] {
  if (refresh === undefined) return [];
  const text = ({ calls }: LookFigures): string =>
    FORECAST_CALLS.map((name) => `${calls[`coderd ${name}`] ?? 0} ${name}`).join(', ');
  return [
    `requests for the forecast of ${count(workspaces)} workspaces: ${text(cold)} at first; ${text(refresh)} at a refresh`,
  ];
}

/** The bundle and what it is made of. */
export function bundleText({ parts, ...figures }: BundleFigures): string {
  const rows = parts.map(({ name, bytes }) => [
    name,
    kb(bytes),
    `${Math.round((bytes / figures.bytes) * 100)} %`,
  ]);
  const ratio = (figures.coldImportMs / figures.bareProcessMs).toFixed(1);
  return [
    title('The bundle'),
    `${kb(figures.bytes)}, ${kb(figures.gzipBytes)} gzipped. A cold import takes ${ms(figures.coldImportMs)}: ${ratio} x as long as a Node process that does nothing (${ms(figures.bareProcessMs)}).`,
    tableOf(
      [
        ['part', 'left'],
        ['minified', 'right'],
        ['share', 'right'],
      ],
      rows,
    ),
  ].join('\n');
}

/** A backtest. */
export function weekText({ scenario, jobs, looks, seconds }: WeekFigures): string {
  return [
    title('A backtest of the autoscaler alone'),
    `a week of ${scenario}: ${count(jobs)} jobs, ${count(looks)} looks`,
    goal('all of it', seconds * 1000, GOALS.weekMs),
  ].join('\n');
}

function tableOf(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    head: columns.map(([head]) => styleText('bold', head)),
    colAligns: columns.map(([, align]) => align),
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
const kb = (bytes: number): string => `${Math.round(bytes / 1024)} KB`;
const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : count(Math.round(value))} ms`;
