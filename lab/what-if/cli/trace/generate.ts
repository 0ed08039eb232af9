/** `autoscaler trace generate`: standard output has the trace only, so that you can pipe it. */
import { type Command, InvalidArgumentError } from 'commander';
import { showBlockingProgress } from '../../../../cli/shared/activity.ts';
import {
  type CliEnvironment,
  type CommandContext,
  UsageError,
} from '../../../../cli/shared/cli-environment.ts';
import { countTo } from '../../../../cli/shared/option-values.ts';
import { plainTable } from '../../../../cli/shared/plain-table.ts';
import { checkWritable, joined, writeWhole } from '../../../../cli/shared/whole-file.ts';
import { nearestName } from '../../../../lambda/config/schema/names.ts';
import { sum } from '../../../../lambda/decision/model/collections.ts';
import { some } from '../../../../lambda/explain/format.ts';
import { wholeNumber } from '../../../world/base/whole-number.ts';
import { SCENARIOS } from '../../scenarios/index.ts';
import { generateTrace } from '../../trace/generate/generate.ts';
import type { Scenario } from '../../trace/generate/scenario.ts';
import { writeTrace } from '../../trace/write.ts';

type GenerateOptions = {
  readonly scenario?: string;
  readonly seed: number;
  readonly days: number;
  readonly from?: string;
  readonly out: string;
  readonly list?: true;
  readonly json: boolean;
};

export const MOST_DAYS = 366;

export function addTraceGenerateCommand(trace: Command, { cliEnvironment }: CommandContext): void {
  trace
    .command('generate')
    .description('generate the trace of a fictional deployment')
    .option('--scenario <name>', 'name of the deployment; --list shows all (required without --list)')
    .option('--seed <number>', 'the same seed gives the same trace', wholeNumber, 1)
    .option('--days <number>', 'length of the trace in days', countTo(MOST_DAYS), 7)
    .option('--from <date>', "first day, such as 2026-03-02 (default: the scenario's)", parseDate)
    .option('--out <file>', 'output file; - for standard output', '-')
    .option('--list', 'show the scenarios')
    .option('--json', 'print the scenarios, or with --out the summary, as one JSON document', false)
    .action((options: GenerateOptions) => {
      if (options.list) cliEnvironment.out(`${scenariosText(options, cliEnvironment)}\n`);
      else generate(findScenario(options.scenario), options, cliEnvironment);
    });
}

function generate(scenario: Scenario, options: GenerateOptions, cliEnvironment: CliEnvironment): void {
  const { out, err } = cliEnvironment;
  const { seed, days, from = scenario.from, out: file, json } = options;
  checkSummaryPlace(options);
  if (file !== '-') checkWritable(file);
  const progress = showBlockingProgress(cliEnvironment);
  const onProgress = (share: number): void => progress.show('generating the trace', share);
  const trace = generateTrace(scenario, { seed, days, from, onProgress });
  const lines = counted(writeTrace(trace), (line) =>
    progress.show('writing the trace', line / trace.jobs.length),
  );
  if (file === '-') for (const text of joined(lines)) out(text);
  else writeWhole(file, lines);
  progress.clear();
  const summary = { version: 1, out: file, jobs: trace.jobs.length, days, from, seed };
  if (json) out(`${JSON.stringify({ ...summary, configuration: scenario.config }, null, 2)}\n`);
  const wrote = file === '-' ? '' : `wrote ${file}: `;
  err(
    `${wrote}${some(trace.jobs.length, 'job')} of ${some(days, 'day')} from ${from} on, seed ${seed}; made for ${scenario.config}\n`,
  );
}

/** Calls `onItem` with the number of items before each one. */
function* counted<T>(items: Iterable<T>, onItem: (before: number) => void): Generator<T> {
  let before = 0;
  for (const item of items) {
    onItem(before++);
    yield item;
  }
}

/** Throws UsageError: standard output holds one document. */
export function checkSummaryPlace({ out, json }: { readonly out: string; readonly json: boolean }): void {
  if (json && out === '-')
    throw new UsageError('--json needs --out FILE: without it, standard output has the trace, as JSON lines');
}

/** Finds a scenario by name. Throws UsageError if the name is missing or unknown. */
export function findScenario(name: string | undefined): Scenario {
  const names = SCENARIOS.map((scenario) => scenario.name);
  if (name === undefined) throw new UsageError(`no scenario given. Add --scenario NAME: ${names.join(', ')}`);
  const scenario = SCENARIOS.find((it) => it.name === name);
  if (scenario !== undefined) return scenario;
  const near = nearestName(name, names);
  const guess = near === undefined ? '' : `Did you mean "${near}"? `;
  throw new UsageError(`there is no scenario "${name}". ${guess}The scenarios are ${names.join(', ')}`);
}

function scenariosText({ json }: GenerateOptions, { columns }: CliEnvironment): string {
  if (!json) return scenarioTable(columns);
  const scenarios = SCENARIOS.map(({ name, groups, from, title, config }) => ({
    name,
    users: usersOf(groups),
    from,
    description: title,
    configuration: config,
  }));
  return JSON.stringify({ version: 1, scenarios }, null, 2);
}

const usersOf = (groups: Scenario['groups']): number => sum(groups, ({ users }) => users);

function scenarioTable(width: number | undefined): string {
  return plainTable(
    [
      { head: 'scenario', align: 'left' },
      { head: 'users', align: 'right' },
      { head: 'first day', align: 'left' },
      { head: 'description', align: 'left' },
      { head: 'configuration', align: 'left' },
    ],
    SCENARIOS.map(({ name, groups, from, title, config }) => [
      name,
      usersOf(groups).toLocaleString('en-US'),
      from,
      title,
      config,
    ]),
    width,
  );
}

/** Throws InvalidArgumentError; commander adds the option's name. */
function parseDate(text: string): string {
  const midnight = Date.parse(`${text}T00:00:00Z`);
  const isDate = /^(?:19|20)\d\d-/.test(text) && !Number.isNaN(midnight);
  if (isDate && new Date(midnight).toISOString().startsWith(text)) return text;
  throw new InvalidArgumentError('Write a date, such as 2026-03-02.');
}
