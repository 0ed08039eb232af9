/** The standings as a person reads them. */
import { type Column, plainTable } from '../../cli/plain-table.ts';
import type { Overall, Range, ScenarioStandings, Standing } from './standings.ts';

export type PolicyBench = {
  readonly valueOfMinute: number;
  readonly region: string;
  readonly seeds: number;
  readonly scenarios: readonly ScenarioStandings[];
  readonly overall: readonly Overall[];
};

export function standingsText({ scenarios, overall, seeds, valueOfMinute, region }: PolicyBench): string {
  return [
    `${seeds} traces a scenario; each figure is the median, and in brackets the range. "tuned": the best of a grid on one more trace.`,
    'total        dollars of tasks, waiting and failures, as a multiple of ours on the same trace: below 1 is better than ours',
    "hours, tasks task-hours and dollars of tasks, as multiples of the clairvoyant's, who knows every arrival",
    'p95, mean    wait of people, in seconds',
    `lost         jobs given up after 30 min or not over; a minute of waiting is $${valueOfMinute}, prices are those of ${region}`,
    ...scenarios.flatMap(scenarioText),
    '',
    overallTable(overall),
    '',
    ...losses(scenarios),
  ].join('\n');
}

function scenarioText({ scenario, days, jobs, standings }: ScenarioStandings): readonly string[] {
  const tuned = standings.filter(({ settings }) => Object.keys(settings).length > 0);
  return [
    '',
    `${scenario}: ${days} day${days === 1 ? '' : 's'} from Monday on, ${rangeText(jobs, 0)} jobs`,
    table(['policy', 'total', 'hours', 'tasks', 'p95', 'mean', 'killed', 'lost'], standings.map(rowOf)),
    ...tuned.map(({ policy, settings }) => `${policy}: ${settingsText(settings)}`),
  ];
}

function rowOf(standing: Standing): readonly string[] {
  const { policy, totalToOurs, hoursToClairvoyant, taskDollarsToClairvoyant } = standing;
  return [
    policy,
    ...[totalToOurs, hoursToClairvoyant, taskDollarsToClairvoyant].map((range) => rangeText(range, 2)),
    ...[standing.p95WaitS, standing.meanWaitS].map((range) => rangeText(range, 1)),
    ...[standing.killed, standing.lost].map((range) => rangeText(range, 0)),
  ];
}

function overallTable(overall: readonly Overall[]): string {
  return table(
    ['all scenarios', 'total', 'tasks', 'better than ours in'],
    overall.map(({ policy, totalToOurs, taskDollarsToClairvoyant, betterIn }) => [
      policy,
      totalToOurs.toFixed(2),
      taskDollarsToClairvoyant.toFixed(2),
      betterIn.join(', ') || '-',
    ]),
  );
}

/** Whoever is better than ours, and in what. */
function losses(scenarios: readonly ScenarioStandings[]): readonly string[] {
  return [
    'where ours loses, and to whom (medians):',
    ...lossesIn('all dollars, as a multiple of ours', scenarios, ({ totalToOurs }) => totalToOurs),
    ...lossesIn(
      "dollars of tasks, as a multiple of the clairvoyant's",
      scenarios,
      (each) => each.taskDollarsToClairvoyant,
    ),
    ...lossesIn('p95 wait of people, seconds', scenarios, ({ p95WaitS }) => p95WaitS),
    ...lossesIn('mean wait of people, seconds', scenarios, ({ meanWaitS }) => meanWaitS),
  ];
}

function lossesIn(
  what: string,
  scenarios: readonly ScenarioStandings[],
  of: (standing: Standing) => Range,
): readonly string[] {
  const lost = scenarios.flatMap(({ scenario, standings }) => {
    const [ours, ...others] = standings.map((each) => ({ policy: each.policy, value: of(each).median }));
    const better = others.filter(({ value }) => ours !== undefined && value < ours.value);
    if (better.length === 0 || ours === undefined) return [];
    const values = [ours, ...better].map(({ policy, value }) => `${policy} ${value.toFixed(2)}`);
    return [`    ${scenario}: ${values.join(', ')}`];
  });
  return [`  ${what}${lost.length === 0 ? ': nowhere' : ''}`, ...lost];
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return plainTable(
    heads.map((head, index): Column => ({ head, align: index === 0 ? 'left' : 'right' })),
    rows,
  );
}

/** `1.23 (1.10-1.40)`; one number where all are the same. */
function rangeText({ median, least, most }: Range, digits: number): string {
  const [middle, from, to] = [median, least, most].map((value) => value.toFixed(digits));
  return from === to ? `${middle}` : `${middle} (${from}-${to})`;
}

function settingsText(settings: Standing['settings']): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
