/** `autoscaler backtest`: cost and waits over a trace, of the autoscaler and of other policies. */
import { type Command, Option } from 'commander';
import {
  type CliEnvironment,
  type CommandContext,
  UsageError,
} from '../../../../cli/shared/cli-environment.ts';
import { wrapLines } from '../../../../cli/shared/plain-table.ts';
import { isoTime } from '../../../../lambda/decision/model/brands.ts';
import { wholeNumber } from '../../../world/base/whole-number.ts';
import { priceOfWaiting } from '../../replay/prices.ts';
import type { Backtest, PoolSeries } from '../../replay/result.ts';
import { compare } from '../../search/compare.ts';
import type { Target } from '../../search/price-search.ts';
import { type Tuning, tune } from '../../search/tune.ts';
import { checkWritable, writeWhole } from '../trace/whole-file.ts';
import { amountsOf } from './amounts.ts';
import { cautionsOf } from './cautions.ts';
import { type ChangeOptions, checkBefore, showChange, withBefore } from './change.ts';
import { parseAgainst, parseValue, withRunOptions, withTraceOptions } from './options.ts';
import {
  durationText,
  type PriceOptions,
  priceDocument,
  targetOf,
  withPriceOfWaiting,
} from './price-of-waiting.ts';
import { tuneText } from './prices-screen.ts';
import { onThreads } from './progress.ts';
import { backtestText } from './screen.ts';
import {
  CONFIG_DESCRIPTION,
  monthlyOwnDollars,
  readSubject,
  type Subject,
  type SubjectOptions,
} from './subject.ts';

type BacktestOptions = SubjectOptions &
  PriceOptions &
  ChangeOptions & {
    readonly against: readonly string[];
    readonly out?: string;
    readonly json: boolean;
    readonly valueOfMinute?: number;
    readonly region: string;
    readonly workers: number;
  };

const LIMIT_CROSSED = 3;

export function addBacktestCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  const command = withTraceOptions(program.command('backtest'))
    .description('cost and waits over a trace: of the autoscaler and other policies, or of a change')
    .option('--config <file>', CONFIG_DESCRIPTION)
    .addOption(
      new Option(
        '--against <policies>',
        `policies to compare with: all, none, or some of ${parseAgainst('all')}`,
      )
        .argParser(parseAgainst)
        .default(parseAgainst('all'), 'all'),
    )
    .option('--out <file>', 'write a report with charts as one HTML file')
    .option('--json', 'print the result as one JSON document', false)
    .option('--seed <number>', 'the same seed gives the same figures', wholeNumber, 1)
    .option(
      '--value-of-minute <dollars>',
      'cost of one minute that a person waits (default: waiting.person of the configuration)',
      parseValue,
    );
  withRunOptions(withBefore(withPriceOfWaiting(command))).action(async (options: BacktestOptions) => {
    const { before } = options;
    checkBefore(options);
    if (before === undefined) exitWith((await backtest(options, cliEnvironment)) ? 1 : 0);
    else exitWith((await showChange({ ...options, before }, cliEnvironment)) ? LIMIT_CROSSED : 0);
  });
}

const PRICE_HINT =
  'With --mean-wait SECONDS, backtest finds the price of waiting for a wait. --help lists the other targets';

/** Returns whether no price meets the target. */
async function backtest(options: BacktestOptions, cliEnvironment: CliEnvironment): Promise<boolean> {
  const { out: file, json } = options;
  if (file === '-')
    throw new UsageError(
      '--out - : the report is an HTML page. Name a file, or use --json for standard output',
    );
  const subject = readSubject(options, cliEnvironment);
  const target = targetOf(options, subject.trace);
  if (file !== undefined) checkWritable(file, [...(options.trace ?? []), subject.configFile]);
  for (const caution of cautionsOf(subject)) cliEnvironment.err(`warning: ${caution}\n`);
  const { result, prices } = await run(subject, target, options, cliEnvironment);
  const { columns } = cliEnvironment;
  const text = json
    ? JSON.stringify({ ...documentOf(result), ...(prices && { tuning: priceDocument(target, prices) }) })
    : [
        wrapLines(backtestText(result, columns), columns),
        prices ? tuneText({ ...prices, ...subject, target }, columns) : wrapLines(PRICE_HINT, columns),
      ].join('\n\n');
  cliEnvironment.out(`${text}\n`);
  if (file !== undefined) {
    await writeReport(file, result);
    cliEnvironment.err(`wrote ${file}\n`);
  }
  return target !== undefined && prices?.best === undefined;
}

function run(
  subject: Subject,
  target: Target | undefined,
  options: BacktestOptions,
  cliEnvironment: CliEnvironment,
): Promise<{ readonly result: Backtest; readonly prices: Tuning | undefined }> {
  const { trace, skipped, config } = subject;
  const { against, seed, region, workers, valueOfMinute = priceOfWaiting(config) } = options;
  const hasPrices = options.priceOfWaiting || target !== undefined;
  if (hasPrices) cliEnvironment.err(`${durationText(subject)}\n`);
  return onThreads(workers, cliEnvironment, async ({ workerPool, onProgress }) => {
    const given = {
      ...{ trace, skipped, config, against, seed, valueOfMinute, region, workerPool },
      ownDollars: monthlyOwnDollars(subject),
    };
    const first = hasPrices ? FIRST_SHARE : 1;
    const result = await compare({
      ...given,
      onProgress: (share, doing) => onProgress(share * first, doing),
    });
    const [ours] = result.runs;
    if (!hasPrices || ours === undefined) return { result, prices: undefined };
    const onPrice = (share: number, doing: string) => onProgress(first + share * (1 - first), doing);
    const prices = await tune({ ...given, target, ours, onProgress: onPrice });
    return { result: { ...result, prices: prices.points }, prices };
  });
}

/** The share of the work before other prices are played. */
const FIRST_SHARE = 1 / 3;

function documentOf(backtest: Backtest) {
  const { trace, runs } = backtest;
  return {
    ...backtest,
    trace: { ...trace, from: isoTime(trace.from), to: isoTime(trace.to) },
    runs: runs.map((run) => ({
      ...run,
      estimates: amountsOf(backtest).estimatesOf(run.estimates),
      pools: run.pools.map(seriesOf),
    })),
  };
}

function seriesOf(series: PoolSeries) {
  return { ...series, changes: series.changes.map((change) => ({ ...change, at: isoTime(change.at) })) };
}

/** Writes the result as an HTML report. Throws InputError. */
async function writeReport(file: string, result: Backtest): Promise<void> {
  // imported only when needed: charts and bundler take as long to load as all commands together
  const { renderReport } = await import('../../report/render.ts');
  writeWhole(file, renderReport(result));
}
