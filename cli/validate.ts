import { type Command, InvalidArgumentError } from 'commander';
import * as z from 'zod';
import { type LoadedConfig, loadDeployment } from '../lambda/config/load.ts';
import { ConfigError, type Problem } from '../lambda/config/problems/problems.ts';
import { configJsonSchema } from '../lambda/config/schema/settings.ts';
import { some } from '../lambda/explain/format.ts';
import { estimate, renderPrices } from './prices.ts';
import {
  type CliEnvironment,
  type CommandContext,
  DEFAULT_CONFIG,
  UsageError,
} from './shared/cli-environment.ts';
import { readConfig } from './shared/live-options.ts';
import { wrapLines } from './shared/plain-table.ts';

type ValidateOptions = {
  readonly config?: string;
  readonly buildsPerDay?: number;
  readonly json: boolean;
};

/** `autoscaler validate` */
export function addValidateCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  program
    .command('validate')
    .description('check a configuration file and estimate the cost of its pools')
    .argument('[file]', `configuration file (default: AUTOSCALER_CONFIG, then ${DEFAULT_CONFIG})`)
    .option('--config <file>', 'configuration file, instead of the argument')
    .option('--builds-per-day <n>', 'builds on a working day, for all pools together', parseBuilds)
    .option('--json', 'print the result as one JSON document', false)
    .action((argument: string | undefined, options: ValidateOptions) => {
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
  cliEnvironment.out(`${file}: valid; ${some(names.length, 'pool')}: ${names.join(', ')}\n\n`);
  const prices = renderPrices(config, buildsPerDay, cliEnvironment.columns);
  cliEnvironment.out(`${wrapLines(prices, cliEnvironment.columns)}\n`);
}

/** Prints the result, with the mistakes of an invalid file. Returns the exit code. */
function printDocument(file: string, options: ValidateOptions, { out }: CliEnvironment): number {
  const { isValid, problems, pools } = examine(file, options);
  out(`${JSON.stringify({ version: 1, file, isValid, problems, pools }, null, 2)}\n`);
  return isValid ? 0 : 1;
}

type Examined = {
  readonly isValid: boolean;
  /** Errors and warnings. */
  readonly problems: readonly Problem[];
  readonly pools: readonly object[];
};

function examine(file: string, { buildsPerDay }: ValidateOptions): Examined {
  try {
    const loaded = loadDeployment(file);
    return { isValid: true, problems: loaded.warnings, pools: poolsOf(loaded, buildsPerDay) };
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    return { isValid: false, problems: cause.problems, pools: [] };
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

/** `autoscaler schema` */
export function addSchemaCommand(program: Command, { cliEnvironment }: CommandContext): void {
  program
    .command('schema')
    .description('print the JSON Schema of the configuration')
    .option('--json', 'the same: the schema is a JSON document')
    .action(() => cliEnvironment.out(`${JSON.stringify(configJsonSchema(), null, 2)}\n`));
}
