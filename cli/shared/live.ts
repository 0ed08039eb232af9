/** Options and look of the commands that read the real coderd and ECS. */
import { type Command, Option } from 'commander';
import { loadConfig } from '../../lambda/config/load.ts';
import { formatProblem, type Problem } from '../../lambda/config/problems/problems.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { connect } from '../../lambda/connect.ts';
import { observe } from '../../lambda/look/observe.ts';
import { type CliEnvironment, DEFAULT_CONFIG, UsageError } from './cli-environment.ts';

export type LiveOptions = { readonly config: string; readonly cluster?: string };

/** Adds `--config` and `--cluster`. */
export function withLiveOptions(command: Command): Command {
  return withConfigOption(command).option(
    '--cluster <name>',
    'ECS cluster (default: AUTOSCALER_CLUSTER, then aws.cluster of the configuration)',
  );
}

/** Adds `--config`, with the default of AUTOSCALER_CONFIG. */
export function withConfigOption(command: Command): Command {
  return command.addOption(
    new Option('--config <file>', 'configuration file').default(DEFAULT_CONFIG).env('AUTOSCALER_CONFIG'),
  );
}

/** Looks once. A list that cannot be read does not throw: the snapshot has its status. */
export async function lookLive(options: LiveOptions, cliEnvironment: CliEnvironment) {
  const { config, caBundle } = readConfig(options.config, cliEnvironment);
  const connection = connect(config, clusterOf(options, cliEnvironment, config), caBundle);
  try {
    return { snapshot: await observe(connection.ports(), config), config };
  } finally {
    await connection.close();
  }
}

/** The cluster of `--cluster`, of AUTOSCALER_CLUSTER, or of the configuration, in this order. */
export function clusterNamed(
  { cluster }: LiveOptions,
  { environment }: CliEnvironment,
  { aws }: Pick<Deployment, 'aws'>,
): string | undefined {
  return cluster ?? environment.AUTOSCALER_CLUSTER ?? aws.cluster;
}

/** Like `clusterNamed`. Throws UsageError if there is none. */
export function clusterOf(...named: Parameters<typeof clusterNamed>): string {
  const name = clusterNamed(...named);
  if (name) return name;
  throw new UsageError(
    'no ECS cluster given. Add --cluster NAME (an output of the stack), or set AUTOSCALER_CLUSTER',
  );
}

/** Reads the configuration and prints its warnings. Throws ConfigError. */
export function readConfig(file: string, { err }: CliEnvironment, load = loadConfig) {
  const loaded = load(file);
  printWarnings(loaded.warnings, err);
  return loaded;
}

function printWarnings(warnings: readonly Problem[], err: (text: string) => void): void {
  for (const warning of warnings) err(`${formatProblem(warning)}\n`);
}
