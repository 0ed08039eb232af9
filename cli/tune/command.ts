/**
 * `autoscaler tune`: recommends settings for a trace, and shows what they would have changed in it.
 */
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import type { Target } from '../../backtest/search/price-search.ts';
import { type Tuning, tune } from '../../backtest/search/tune.ts';
import { startWorkerPool, WorkerPoolError } from '../../backtest/search/worker-pool.ts';
import { wholeNumber } from '../../simulator/base/whole-number.ts';
import { cautionsOf } from '../backtest/cautions.ts';
import { parseRegion, parseValue, parseWorkers } from '../backtest/options.ts';
import { showProgress } from '../backtest/progress.ts';
import { CONFIG_DESCRIPTION, readSubject, type Subject, type SubjectOptions } from '../backtest/subject.ts';
import {
  type CliEnvironment,
  type CommandContext,
  InputError,
  UsageError,
} from '../shared/cli-environment.ts';
import { parseDays } from '../trace/generate.ts';
import { tuneText } from './screen.ts';
import { unreachableText } from './unreachable.ts';

type TuneOptions = SubjectOptions & {
  readonly budget?: number;
  readonly meanWait?: number;
  readonly p95Wait?: number;
  readonly json: boolean;
  readonly region: string;
  readonly workers: number;
};

/** `autoscaler tune` */
export function addTuneCommand(program: Command, { cliEnvironment }: CommandContext): void {
  program
    .command('tune')
    .description('recommend a price of waiting for a budget or a wait, and the limits that a trace needs')
    .option(
      '--trace <file>',
      'trace file, as written by autoscaler trace; - for standard input (required without --scenario)',
    )
    .option(
      '--scenario <name>',
      'a fictional deployment with its own configuration (required without --trace)',
    )
    .option('--days <number>', 'days of the scenario (default: 7)', parseDays)
    .option('--config <file>', CONFIG_DESCRIPTION)
    .option(
      '--budget <dollars>',
      'the most that tasks may cost per month (this or a wait is required)',
      parseValue,
    )
    .option('--mean-wait <seconds>', 'the longest average wait of people', parseSeconds)
    .option('--p95-wait <seconds>', 'the longest wait of 95 % of the builds of people', parseSeconds)
    .option('--json', 'print the result as one JSON document', false)
    .option('--seed <number>', 'the same seed gives the same figures', wholeNumber, 1)
    .option('--region <name>', 'AWS Region of the Fargate prices', parseRegion, 'us-east-1')
    .option(
      '--workers <number>',
      'number of threads; does not change the figures',
      parseWorkers,
      availableParallelism(),
    )
    .option('--skip-bad', 'skip invalid lines of the trace and count them', false)
    .action((options: TuneOptions) => tuneHistory(options, cliEnvironment));
}

async function tuneHistory(options: TuneOptions, cliEnvironment: CliEnvironment): Promise<void> {
  const target = targetOf(options);
  const subject = readSubject(options, cliEnvironment);
  for (const caution of cautionsOf(subject)) cliEnvironment.err(`warning: ${caution}\n`);
  const tuning = await run(subject, target, options, cliEnvironment);
  const { found } = tuning;
  if (found === undefined) throw new InputError(unreachableText(target, tuning.points));
  const { config: _config, ...rest } = found;
  const text = options.json
    ? JSON.stringify({ version: 1, target, before: tuning.before, points: tuning.points, ...rest })
    : tuneText({ ...subject, target, ...tuning, found }, cliEnvironment.columns);
  cliEnvironment.out(`${text}\n`);
}

/** Throws UsageError. */
function targetOf({ budget, meanWait, p95Wait }: TuneOptions): Target {
  const targets: readonly (Target | undefined)[] = [
    budget === undefined ? undefined : { kind: 'budget', dollarsPerMonth: budget },
    meanWait === undefined ? undefined : { kind: 'mean-wait', seconds: meanWait },
    p95Wait === undefined ? undefined : { kind: 'p95-wait', seconds: p95Wait },
  ];
  const [target, other] = targets.flatMap((each) => each ?? []);
  if (target === undefined)
    throw new UsageError(
      'no target given. Add --budget DOLLARS_A_MONTH, --mean-wait SECONDS or --p95-wait SECONDS',
    );
  if (other === undefined) return target;
  throw new UsageError('more than one target given. Use one of --budget, --mean-wait and --p95-wait');
}

/** Seconds. */
function parseSeconds(text: string): number {
  if (/^\d{1,5}(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a number of seconds, 0 or more, such as 2.5.');
}

async function run(
  { trace, config }: Subject,
  target: Target,
  { seed, region, workers }: TuneOptions,
  { terminal }: CliEnvironment,
): Promise<Tuning> {
  const workerPool = startWorkerPool(workers);
  const progress = showProgress(terminal);
  try {
    return await tune({ trace, config, target, seed, region, workerPool, onProgress: progress.show });
  } catch (error) {
    throw error instanceof WorkerPoolError ? new InputError(error.message, { cause: error }) : error;
  } finally {
    progress.end();
    await workerPool.close();
  }
}
