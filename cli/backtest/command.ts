/**
 * `autoscaler backtest`: what it would have cost, and who would have waited; with the autoscaler,
 * and with what one would run instead.
 */
import { availableParallelism } from 'node:os';
import { type Command, Option } from 'commander';
import type { Backtest } from '../../backtest/replay/result.ts';
import { priceOfWaiting } from '../../backtest/replay/waiting-price.ts';
import { compare } from '../../backtest/search/compare.ts';
import { SWEEP_PRICES } from '../../backtest/search/sweep.ts';
import { CrewError, startCrew } from '../../backtest/search/worker-pool.ts';
import { wholeNumber } from '../../simulator/base/whole-number.ts';
import {
  type CliEnvironment,
  type CommandContext,
  InputError,
  UsageError,
} from '../shared/cli-environment.ts';
import { checkWritable } from '../shared/whole-file.ts';
import { parseDays } from '../trace/generate.ts';
import { cautionsOf } from './cautions.ts';
import { documentOf } from './document.ts';
import { parseAgainst, parsePrices, parseRegion, parseValue, parseWorkers } from './options.ts';
import { showProgress } from './progress.ts';
import { writeReport } from './report-file.ts';
import { backtestText } from './screen.ts';
import { readSubject, type Subject, type SubjectOptions } from './subject.ts';

type BacktestOptions = SubjectOptions & {
  readonly against?: readonly string[];
  readonly sweep?: 'waiting';
  readonly values?: readonly number[];
  readonly out?: string;
  readonly json: boolean;
  readonly valueOfMinute?: number;
  readonly region: string;
  readonly workers: number;
};

/** `autoscaler backtest` */
export function addBacktestCommand(program: Command, { surroundings }: CommandContext): void {
  program
    .command('backtest')
    .description(
      'say what it would have cost, and who would have waited, with the autoscaler and with others',
    )
    .option('--trace <file>', 'what was to be built, as autoscaler trace writes it; - for standard input')
    .option('--scenario <name>', 'instead: a made-up deployment, with its own configuration')
    .option('--days <number>', 'how many days of the scenario (default: 7)', parseDays)
    .option('--config <file>', "the configuration (default: autoscaler.yaml, or the scenario's)")
    .addOption(
      new Option(
        '--against <policies>',
        `what to compare it with: all, none, or some of ${parseAgainst('all')} (default: all; with --sweep: none)`,
      ).argParser(parseAgainst),
    )
    .addOption(
      new Option(
        '--sweep <setting>',
        'run the autoscaler at several prices of waiting, and compare cost and wait',
      ).choices(['waiting']),
    )
    .option(
      '--values <dollars>',
      `the prices of --sweep, in dollars a minute of a person (default: ${SWEEP_PRICES.join(',')})`,
      parsePrices,
    )
    .option('--out <file>', 'write the report with its pictures: one HTML file')
    .option('--json', 'print the result as one JSON document', false)
    .option('--seed <number>', 'the same seed gives the same figures', wholeNumber, 1)
    .option(
      '--value-of-minute <dollars>',
      'what a minute costs that a person waits (default: waiting.person of the configuration)',
      parseValue,
    )
    .option('--region <name>', "of Fargate's prices", parseRegion, 'us-east-1')
    .option('--workers <number>', 'threads; the figures are the same', parseWorkers, availableParallelism())
    .option('--skip-bad', 'leave bad lines of the trace out, and count them', false)
    .action((options: BacktestOptions) => backtest(options, surroundings));
}

async function backtest(options: BacktestOptions, surroundings: CliEnvironment): Promise<void> {
  const { out: file, json } = options;
  if (options.values !== undefined && options.sweep === undefined)
    throw new UsageError('--values needs --sweep waiting');
  if (file === '-')
    throw new UsageError(
      '--out - : the report is a page to open; name a file, or take --json for standard output',
    );
  const subject = readSubject(options, surroundings);
  if (file !== undefined) checkWritable(file, [options.trace, subject.configFile]);
  for (const caution of cautionsOf(subject)) surroundings.err(`warning: ${caution}\n`);
  const result = await run(subject, options, surroundings);
  surroundings.out(`${json ? JSON.stringify(documentOf(result)) : backtestText(result)}\n`);
  if (file === undefined) return;
  await writeReport(file, result);
  surroundings.err(`wrote ${file}\n`);
}

async function run(
  { trace, skipped, config }: Subject,
  { sweep, values = SWEEP_PRICES, seed, region, workers, ...rest }: BacktestOptions,
  { terminal }: CliEnvironment,
): Promise<Backtest> {
  const { against = parseAgainst(sweep === undefined ? 'all' : 'none') } = rest;
  const { valueOfMinute = priceOfWaiting(config) } = rest;
  const crew = startCrew(workers);
  const progress = showProgress(terminal);
  try {
    return await compare({
      ...{ trace, skipped, config, against, seed, valueOfMinute, region, crew },
      ...(sweep === undefined ? {} : { sweep: values }),
      onProgress: progress.show,
    });
  } catch (error) {
    throw error instanceof CrewError ? new InputError(error.message, { cause: error }) : error;
  } finally {
    progress.end();
    await crew.close();
  }
}
