import { type Command, InvalidArgumentError } from 'commander';
import * as z from 'zod';
import { loadDeployment } from '../lambda/config/load.ts';
import { ConfigError, type Problem } from '../lambda/config/problems/problems.ts';
import type { Deployment } from '../lambda/config/rules/deployment.ts';
import { configJsonSchema } from '../lambda/config/schema/settings.ts';
import { some } from '../lambda/explain/format.ts';
import { BUILDS } from './cost/task-hours.ts';
import {
  type CliEnvironment,
  type CommandContext,
  DEFAULT_CONFIG,
  UsageError,
} from './shared/cli-environment.ts';
import { type Costs, costsOf, costText, priceNotes, quotaNotes } from './shared/cost-text.ts';
import { readConfig } from './shared/live-options.ts';
import { wrapLines } from './shared/plain-table.ts';

type ValidateOptions = {
  readonly config?: string;
  readonly buildsPerDay?: number;
  readonly json: boolean;
  readonly schema: boolean;
};

export function addValidateCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  program
    .command('validate')
    .description('check a configuration file and estimate its cost')
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
  const lines = [pools, '', ...costLines(config, buildsPerDay)];
  cliEnvironment.out(`${wrapLines(lines.join('\n'), cliEnvironment.columns)}\n`);
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
  /** Their names. */
  readonly pools: readonly string[];
  readonly dollarsPerMonth: Costs | null;
};

function examine(file: string, { buildsPerDay }: ValidateOptions): Examined {
  try {
    const { config, warnings: problems } = loadDeployment(file);
    const pools = config.pools.map(({ name }) => name);
    return { isValid: true, problems, pools, dollarsPerMonth: costsOf(config, buildsPerDay) };
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    return { isValid: false, problems: cause.problems, pools: [], dollarsPerMonth: null };
  }
}

function parseBuilds(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number, 0 or more, such as 500.');
}

function costLines(deployment: Deployment, builds: number | undefined): readonly string[] {
  return [
    `Expected cost of the deployment: ${costText(deployment, builds)}.`,
    builds === undefined ? NO_BUILDS : ASSUMPTIONS,
    ...[...quotaNotes(deployment), ...priceNotes(deployment.pools)].map((note) => `${note}.`),
    'Prices are those of us-east-1 (docs/cost.md).',
  ];
}

const NO_BUILDS = 'Add --builds-per-day N for a month with N builds on a working day.';

const ASSUMPTIONS = `Assumed: working days are Monday to Friday, 10 hours; a build takes ${BUILDS.minutes} minute; people start ${BUILDS.unforeseen * 100} % of the builds; the pools share the builds by their max. Replay your own builds with: autoscaler backtest.`;
