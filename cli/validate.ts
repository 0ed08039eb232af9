import { type Command, InvalidArgumentError } from 'commander';
import * as z from 'zod';
import { type LoadedConfig, loadDeployment } from '../lambda/config/load.ts';
import { ConfigError, type Problem } from '../lambda/config/problems/problems.ts';
import type { Deployment } from '../lambda/config/rules/deployment.ts';
import { configJsonSchema } from '../lambda/config/schema/settings.ts';
import { sum } from '../lambda/decision/model/collections.ts';
import { some } from '../lambda/explain/format.ts';
import { BUILDS, estimatePools, loadOf, type PoolEstimate, QUIET } from './cost/cost.ts';
import {
  type CliEnvironment,
  type CommandContext,
  DEFAULT_CONFIG,
  UsageError,
} from './shared/cli-environment.ts';
import { costText, priceNotes } from './shared/cost-text.ts';
import { readConfig } from './shared/live-options.ts';
import { type Column, plainTable, wrapLines } from './shared/plain-table.ts';

type ValidateOptions = {
  readonly config?: string;
  readonly buildsPerDay?: number;
  readonly json: boolean;
  readonly schema: boolean;
};

export function addValidateCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  program
    .command('validate')
    .description('check a configuration file and estimate the cost of its pools')
    .argument('[file]', `configuration file (default: AUTOSCALER_CONFIG, then ${DEFAULT_CONFIG})`)
    .option('--config <file>', 'configuration file, instead of the argument')
    .option('--builds-per-day <n>', 'builds on a working day, for all pools together', parseBuilds)
    .option('--schema', 'print the JSON Schema of the configuration instead', false)
    .option('--json', 'print the result as one JSON document', false)
    .action((argument: string | undefined, options: ValidateOptions) => {
      if (options.schema) return cliEnvironment.out(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
      const file = fileOf(argument, options, cliEnvironment);
      // to compile the schema takes longer than to read one file with it
      z.config({ jitless: true });
      if (options.json) exitWith(printDocument(file, options, cliEnvironment));
      else printText(file, options, cliEnvironment);
    });
}

function fileOf(
  argument: string | undefined,
  { config }: ValidateOptions,
  { environment }: CliEnvironment,
): string {
  if (argument !== undefined && config !== undefined && argument !== config)
    throw new UsageError(`two configuration files given: ${argument} and ${config}. Name one of them`);
  return argument ?? config ?? (environment.AUTOSCALER_CONFIG || DEFAULT_CONFIG);
}

function printText(file: string, { buildsPerDay }: ValidateOptions, cliEnvironment: CliEnvironment): void {
  const { config } = readConfig(file, cliEnvironment, loadDeployment);
  const names = config.pools.map(({ name }) => name);
  const pools = `${file}: valid; ${some(names.length, 'pool')}: ${names.join(', ')}`;
  cliEnvironment.out(`${wrapLines(pools, cliEnvironment.columns)}\n\n`);
  const prices = renderPrices(config, buildsPerDay, cliEnvironment.columns);
  cliEnvironment.out(`${wrapLines(prices, cliEnvironment.columns)}\n`);
}

/** Prints the result, with the mistakes of an invalid file. Returns the exit code. */
function printDocument(file: string, options: ValidateOptions, { out }: CliEnvironment): number {
  const examined = examine(file, options);
  out(`${JSON.stringify({ version: 1, file, ...examined }, null, 2)}\n`);
  return examined.isValid ? 0 : 1;
}

type Examined = {
  readonly isValid: boolean;
  readonly problems: readonly Problem[];
  readonly pools: readonly object[];
  /** About the prices. */
  readonly notes: readonly string[];
};

function examine(file: string, { buildsPerDay }: ValidateOptions): Examined {
  try {
    const loaded = loadDeployment(file);
    const notes = priceNotes(loaded.config.pools);
    return { isValid: true, problems: loaded.warnings, pools: poolsOf(loaded, buildsPerDay), notes };
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    return { isValid: false, problems: cause.problems, pools: [], notes: [] };
  }
}

function poolsOf({ config }: LoadedConfig, builds: number | undefined): readonly object[] {
  return estimate(config, builds).map(({ idle: { pool, dollars }, building }) => ({
    name: pool.name,
    max: pool.max,
    buildsPerDay: building?.buildsPerDay ?? null,
    dollarsPerMonth: {
      idle: dollars,
      configured: building?.dollars ?? null,
      atOneDollar: building?.atOneDollar ?? null,
    },
  }));
}

function parseBuilds(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number, 0 or more, such as 500.');
}

/** One row per pool, one sentence per assumption. Without `buildsPerDay` only the cost of idle pools. */
function renderPrices(deployment: Deployment, buildsPerDay: number | undefined, width?: number): string {
  const rows = estimate(deployment, buildsPerDay);
  const isBuilding = buildsPerDay !== undefined;
  const columns = isBuilding ? [...COLUMNS, ...BUILD_COLUMNS] : COLUMNS;
  const cells = rows.map((row) => [...poolCells(row), ...buildCells(row.building)]);
  return [
    `Expected cost of the deployment: ${costText(deployment, buildsPerDay)}.`,
    '',
    `Expected cost of the tasks${isBuilding ? '' : ' without builds'}, in dollars a month:`,
    '',
    plainTable(columns, [...cells, totalCells(rows)], width),
    '',
    ...(isBuilding ? buildsText(deployment, buildsPerDay) : [NO_BUILDS]),
    ...priceNotes(deployment.pools).map((note) => `${note}.`),
    PRICED,
  ].join('\n');
}

type PoolCost = {
  /** Without any build: only floors and schedules cost. */
  readonly idle: PoolEstimate;
  readonly building: PoolEstimate | undefined;
};

/** The cost of each pool's tasks, idle and with this number of builds a day. */
function estimate(deployment: Deployment, buildsPerDay: number | undefined): readonly PoolCost[] {
  const building =
    buildsPerDay === undefined ? [] : estimatePools(deployment, loadOf(deployment, buildsPerDay));
  return estimatePools(deployment, QUIET).map((idle, at) => ({ idle, building: building[at] }));
}

const COLUMNS: readonly Column[] = [
  { head: 'pool', align: 'left' },
  { head: 'max', align: 'right' },
  { head: 'kept free', align: 'left' },
  { head: 'idle', align: 'right' },
];
const BUILD_COLUMNS: readonly Column[] = [
  { head: 'builds a day', align: 'right' },
  { head: 'with builds', align: 'right' },
  { head: 'at $1.00', align: 'right' },
];

function poolCells({ idle: { pool, dollars } }: PoolCost): readonly (string | number)[] {
  return [pool.name, pool.max, keptText(pool), whole(dollars)];
}

function buildCells(building: PoolCost['building']): readonly (string | number)[] {
  if (building === undefined) return [];
  const { buildsPerDay, dollars, atOneDollar } = building;
  return [Math.round(buildsPerDay), whole(dollars), whole(atOneDollar)];
}

function keptText({ warm, waiting, retiring }: PoolEstimate['pool']): string {
  if (retiring) return 'retiring';
  return warm === 'auto' ? `at $${amount(waiting.person)} a minute` : `warm: ${warm}`;
}

function totalCells(rows: readonly PoolCost[]): readonly string[] {
  const building = rows.flatMap((row) => row.building ?? []);
  const sums = [sum(building, ({ dollars }) => dollars), sum(building, ({ atOneDollar }) => atOneDollar)];
  return [
    ...['all', '', '', whole(sum(rows, ({ idle }) => idle.dollars))],
    ...(building.length === 0 ? [] : ['', ...sums.map(whole)]),
  ];
}

function buildsText(deployment: Deployment, buildsPerDay: number): readonly string[] {
  return [
    `Assumed: ${buildsPerDay} builds a working day, shared between the pools by their max.`,
    ...(loadOf(deployment, buildsPerDay).share > 1 ? [TOO_MANY] : []),
    ...ASSUMPTIONS,
  ];
}

const NO_BUILDS =
  'These are the tasks that run without any build. Add --builds-per-day N for an estimate with N builds on a working day.';

const TOO_MANY = 'These builds need more tasks than max and maxTasks allow: jobs will wait.';

const ASSUMPTIONS: readonly string[] = [
  `A working day is Monday to Friday, 10 hours. A build takes ${BUILDS.minutes} minute. People start ${BUILDS.unforeseen * 100} % of the builds.`,
  'The price of waiting (waiting.person) decides how many daemons the pool keeps free. "at $1.00" is the cost with person: 1.00, a developer at $60 an hour.',
  'This rests on these assumptions, so it has no range: autoscaler backtest has one, from past builds.',
];

const PRICED = 'Prices are those of us-east-1 (docs/cost.md).';

const whole = (dollars: number): string => `$${grouped(Math.round(dollars))}`;

/** Two decimals, up to four if needed. */
function amount(dollars: number): string {
  const [units, decimals = ''] = String(Number(dollars.toFixed(4))).split('.');
  return `${grouped(Number(units))}.${decimals.padEnd(2, '0')}`;
}

/** Commas between thousands. A first number format of Intl takes longer than the whole table. */
function grouped(units: number): string {
  return String(units).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
