/** `autoscaler backtest`: cost and waits over a trace, of the autoscaler and of other policies. */
import { type Command, Option } from 'commander';
import {
  type CliEnvironment,
  type CommandContext,
  UsageError,
} from '../../../../cli/shared/cli-environment.ts';
import { wrapLines } from '../../../../cli/shared/plain-table.ts';
import { isoTime } from '../../../../lambda/decision/model/brands.ts';
import { sum } from '../../../../lambda/decision/model/collections.ts';
import { wholeNumber } from '../../../world/base/whole-number.ts';
import { STATIC_FLEET } from '../../policies/static-fleet.ts';
import { priceOfWaiting } from '../../replay/prices.ts';
import type { Backtest, PoolSeries } from '../../replay/result.ts';
import { type BreakEvenOptions, findBreakEven } from '../../search/break-even.ts';
import { compare } from '../../search/compare.ts';
import type { Target } from '../../search/price-search.ts';
import { type Tuning, tune } from '../../search/tune.ts';
import { checkWritable, writeWhole } from '../trace/whole-file.ts';
import { amountsOf, isMonthly } from './amounts.ts';
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
    const hasBreakEven = against.includes(STATIC_FLEET.id) && isMonthly(trace);
    const parts = progressParts(onProgress, [1, hasBreakEven ? 1 : 0, hasPrices ? 2 : 0]);
    const result = await compare({ ...given, onProgress: parts[0] });
    const [ours] = result.runs;
    if (ours === undefined) return { result, prices: undefined };
    const ownDollarsOf: BreakEvenOptions['ownDollarsOf'] = (played) =>
      monthlyOwnDollars({ trace: played, config });
    const breakEven = hasBreakEven
      ? { breakEven: await findBreakEven({ ...given, ownDollarsOf, ours, onProgress: parts[1] }) }
      : {};
    if (!hasPrices) return { result: { ...result, ...breakEven }, prices: undefined };
    const prices = await tune({ ...given, target, ours, onProgress: parts[2] });
    return { result: { ...result, ...breakEven, prices: prices.points }, prices };
  });
}

type OnProgress = (share: number, doing: string) => void;

/** The progress of three parts, one after the other, each with its weight. */
function progressParts(
  onProgress: OnProgress,
  weights: readonly [number, number, number],
): readonly [OnProgress, OnProgress, OnProgress] {
  const all = sum(weights, (weight) => weight);
  const part = (before: number, weight: number): OnProgress => {
    return (share, doing) => onProgress((before + share * weight) / all, doing);
  };
  const [first, second, third] = weights;
  return [part(0, first), part(first, second), part(first + second, third)];
}

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
