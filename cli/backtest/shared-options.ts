/** The options that `autoscaler backtest`, `autoscaler tune` and `autoscaler compare` share. */
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { countTo } from '../shared/option-values.ts';
import { MOST_DAYS } from '../trace/generate.ts';
import { parseRegion } from './options.ts';

const MOST_WORKERS = 64;

/** Adds `--trace`, `--scenario` and `--days`. */
export function withTraceOptions(command: Command): Command {
  return withScenarioOptions(command.option('--trace <file>', TRACE_DESCRIPTION));
}

export const TRACE_DESCRIPTION =
  'trace file, as written by autoscaler trace; - for standard input (required without --scenario)';

/** Adds `--scenario` and `--days`. */
export function withScenarioOptions(command: Command): Command {
  return command
    .option(
      '--scenario <name>',
      'a fictional deployment with its own configuration (required without --trace)',
    )
    .option('--days <number>', 'days of the scenario (default: 7)', countTo(MOST_DAYS));
}

/** Adds `--region`, `--workers` and `--skip-bad`. */
export function withRunOptions(command: Command): Command {
  return command
    .option('--region <name>', 'AWS Region of the Fargate prices', parseRegion, 'us-east-1')
    .option(
      '--workers <number>',
      'number of threads; does not change the figures',
      countTo(MOST_WORKERS),
      availableParallelism(),
    )
    .option('--skip-bad', 'skip invalid lines of the trace and count them', false);
}
