/** Options and what they name. Loads no client of coderd or AWS: `autoscaler validate` has to start fast. */
import { type Command, Option } from 'commander';
import { loadConfig } from '../../lambda/config/load.ts';
import { formatProblem } from '../../lambda/config/problems/problems.ts';
import { type CliEnvironment, DEFAULT_CONFIG } from './cli-environment.ts';

export type LiveOptions = { readonly config: string; readonly cluster?: string };
export type JsonOptions = LiveOptions & { readonly json: boolean };

/** Adds `--config` and `--cluster`. */
export function withLiveOptions(command: Command): Command {
  return withConfigOption(command).option(
    '--cluster <name>',
    'ECS cluster (default: AUTOSCALER_CLUSTER, then aws.cluster, then an output of the stack)',
  );
}

/** Adds `--config`, with the default of AUTOSCALER_CONFIG. */
export function withConfigOption(command: Command): Command {
  return command.addOption(
    new Option('--config <file>', 'configuration file').default(DEFAULT_CONFIG).env('AUTOSCALER_CONFIG'),
  );
}

/** Adds `--json`. `what`: the document that the command prints. */
export function withJsonOption(command: Command, what: string): Command {
  return command.option('--json', `print ${what} as one JSON document`, false);
}

/** Reads the configuration and prints its warnings. Throws ConfigError. */
export function readConfig(file: string, { err }: CliEnvironment, load = loadConfig) {
  const loaded = load(file);
  for (const warning of loaded.warnings) err(`${formatProblem(warning)}\n`);
  return loaded;
}

/** The options that a command to run later needs too. */
export function repeated({ config, cluster }: LiveOptions): readonly string[] {
  return [
    ...(config === DEFAULT_CONFIG ? [] : ['--config', config]),
    ...(cluster === undefined ? [] : ['--cluster', cluster]),
  ];
}
