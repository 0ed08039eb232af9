/** Formats the matches as tables. */
import { type Column, plainTable } from '../../../cli/shared/plain-table.ts';
import { some } from '../../../lambda/explain/format.ts';
import type { Match, Overall, Standing } from './standings.ts';

type PolicyBench = {
  readonly region: string;
  readonly values: readonly number[];
  readonly matches: readonly Match[];
  readonly overall: Overall;
};

export function benchText({ matches, overall, region }: PolicyBench): string {
  const byTrace = Map.groupBy(matches, ({ scenario, seed }) => `${scenario} ${seed}`);
  return [
    'Each trace runs at several prices of waiting. At each price the table compares the autoscaler with its cheapest peer.',
    'The autoscaler knows only the price. Each peer has the best settings of its grid for this trace and this price.',
    '',
    '$/min     price of waiting: what one minute of a person costs, in dollars',
    'ratio     total dollars of the autoscaler divided by those of the cheapest peer; below 1: the autoscaler is cheaper',
    `total $   tasks at list prices of ${region}, plus minutes of waiting people and of failed jobs, times the price`,
    'hours     task-hours, as Fargate bills them',
    'mean, p95 how long people waited for builds, imports and autostarts, in seconds',
    'lost      jobs that coderd failed after 30 minutes, or that had not finished at the end',
    'idle      launches whose daemon never had a job, and their share of all launches',
    'stop s    longest delay of an autostop, dormancy or deletion, in seconds',
    'late      autostarts, autostops and dormancy that were later than wake.maxDelay',
    'prebuilds jobs of prebuilt workspaces that failed',
    ...[...byTrace.values()].flatMap(traceText),
    '',
    ...overallText(matches, overall),
  ].join('\n');
}

const COLUMNS: readonly Column[] = [
  { head: '$/min', align: 'right' },
  { head: 'policy', align: 'left' },
  ...[
    ...['ratio', 'total $', 'tasks $', 'hours', 'mean', 'p95', 'killed', 'lost'],
    ...['launches', 'idle', 'stop s', 'late', 'prebuilds'],
  ].map((head) => ({ head, align: 'right' as const })),
];

function traceText(matches: readonly Match[]): readonly string[] {
  const [match] = matches;
  if (match === undefined) return [];
  const { scenario, seed, days, jobs } = match;
  return [
    '',
    `${scenario}: ${some(days, 'day')}, ${jobs} jobs, seed ${seed}`,
    plainTable(COLUMNS, matches.flatMap(matchRows)),
    ...matches.map(settingsText),
  ];
}

function matchRows({ value, ratio, ours, peers: [best] }: Match): readonly (readonly string[])[] {
  return [
    standingRow(ours, dollarText(value), ratio.toFixed(2)),
    ...(best === undefined ? [] : [standingRow(best, '', '')]),
  ];
}

function settingsText({ value, peers: [best] }: Match): string {
  const settings = Object.entries(best?.settings ?? {}).map(([name, setting]) => `${name} ${setting}`);
  return `at $${dollarText(value)}: ${best?.policy ?? 'no peer'} with ${settings.join(', ')}`;
}

function standingRow(standing: Standing, value: string, ratio: string): readonly string[] {
  const { policy, dollars } = standing;
  return [
    ...[value, policy, ratio, dollars.total.toFixed(2), dollars.tasks.toFixed(2)],
    ...[standing.hours, standing.meanWaitS, standing.p95WaitS].map((figure) => figure.toFixed(1)),
    ...[standing.killed, standing.lost, standing.launches].map(count),
    `${Math.round(standing.launches * standing.idleShare)} (${Math.round(100 * standing.idleShare)} %)`,
    ...[standing.longestStopDelayS, standing.tooLate, standing.failedPrebuilds].map(count),
  ];
}

function overallText(
  matches: readonly Match[],
  { worst, median, lost, matches: all }: Overall,
): readonly string[] {
  const values = [...new Set(matches.map(({ value }) => value))];
  const rows = [...Map.groupBy(matches, ({ scenario, seed }) => `${scenario}, seed ${seed}`)].map(
    ([name, of]) => [
      name,
      ...values.map((value) => of.find((match) => match.value === value)?.ratio.toFixed(2) ?? '-'),
    ],
  );
  const columns = values.map((value): Column => ({ head: `at $${dollarText(value)}`, align: 'right' }));
  return [
    plainTable([{ head: 'ratio to the cheapest peer', align: 'left' }, ...columns], rows),
    '',
    `worst ratio   ${worst.ratio.toFixed(2)} (${worst.scenario}, seed ${worst.seed}, at $${dollarText(worst.value)})`,
    `median ratio  ${median.toFixed(2)}`,
    `the autoscaler costs more than the cheapest peer in ${lost} of ${all} matches`,
  ];
}

/** A mean of several runs can have a fraction. */
const count = (figure: number): string => (Number.isInteger(figure) ? `${figure}` : figure.toFixed(1));

const dollarText = (value: number): string => (Number.isInteger(value * 100) ? value.toFixed(2) : `${value}`);
