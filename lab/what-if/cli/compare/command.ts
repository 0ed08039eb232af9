/** `autoscaler compare`: what a change would do to cost and waits. Exit code 3 if a limit is crossed. */
import { type Command, Option } from 'commander';
import type { CliEnvironment, CommandContext } from '../../../../cli/shared/cli-environment.ts';
import { countTo } from '../../../../cli/shared/option-values.ts';
import { checkWritable, writeWhole } from '../../../../cli/shared/whole-file.ts';
import { wholeNumber } from '../../../world/base/whole-number.ts';
import { changeOf } from '../../change/change.ts';
import { MOST_PAIRS } from '../../change/difference.ts';
import { Progress } from '../../search/worker-pool.ts';
import { peaksOf } from '../backtest/cautions.ts';
import { TRACE_DESCRIPTION, withRunOptions, withScenarioOptions } from '../backtest/options.ts';
import { onThreads } from '../backtest/progress.ts';
import { documentOf } from './document.ts';
import { type InputOptions, type Inputs, readInputs } from './inputs.ts';
import {
  checkCostLimit,
  checkLimits,
  type Limit,
  type Limits,
  parseCostLimit,
  parseWaitLimit,
} from './limits.ts';
import { type Comparison, markdownOf } from './markdown.ts';
import { settingChanges } from './setting-changes.ts';
import { terminalText } from './terminal-text.ts';
import { type Judged, verdictOf } from './verdict.ts';

type CompareOptions = InputOptions & {
  readonly seeds: number;
  readonly maxCostIncrease?: Limit;
  readonly maxWaitIncrease?: Limit;
  readonly failOn?: 'unserved';
  readonly out?: string;
  readonly json: boolean;
  readonly region: string;
  readonly workers: number;
};

type Files = { readonly before: string; readonly after: string };

const LIMIT_CROSSED = 3;
const DEFAULT_SEEDS = 5;

export function addCompareCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  const command = program
    .command('compare')
    .description(
      'show what a change of the configuration would do to cost and waits, as Markdown if it is written to a file or pipe',
    )
    .argument('<before>', 'configuration file before the change')
    .argument('<after>', 'configuration file after the change')
    .option('--trace <file>', `${TRACE_DESCRIPTION}; repeat it for several traces`, collect);
  withLimitOptions(withScenarioOptions(command))
    .option(
      '--seeds <number>',
      `pairs of replays, 1 to ${MOST_PAIRS}: more pairs tell smaller effects from chance`,
      countTo(MOST_PAIRS),
      DEFAULT_SEEDS,
    )
    .option('--seed <number>', 'the first seed; the same seed gives the same figures', wholeNumber, 1)
    .option('--out <file>', 'write the Markdown to a file, too')
    .option('--json', 'print the result as one JSON document', false);
  withRunOptions(command).action(async (before: string, after: string, options: CompareOptions) => {
    const isCrossed = await compare({ before, after }, options, cliEnvironment);
    exitWith(isCrossed ? LIMIT_CROSSED : 0);
  });
}

function withLimitOptions(command: Command): Command {
  return command
    .option(
      '--max-cost-increase <limit>',
      "the most that the tasks' cost may rise: 10%, or dollars a month such as 20usd",
      parseCostLimit,
    )
    .option(
      '--max-wait-increase <limit>',
      'the most that the average and the p95 wait of people may rise: 20%, or a duration such as 5s',
      parseWaitLimit,
    )
    .addOption(
      new Option(
        '--fail-on <what>',
        'unserved: jobs that are lost, or that have no pool, and were served before',
      ).choices(['unserved']),
    );
}

async function compare(
  files: Files,
  options: CompareOptions,
  cliEnvironment: CliEnvironment,
): Promise<boolean> {
  const { out: file, json } = options;
  if (file !== undefined) checkWritable(file, [files.before, files.after, ...(options.trace ?? [])]);
  const inputs = readInputs(files, options, cliEnvironment);
  const comparison = await comparisonOf(inputs, options, cliEnvironment);
  const markdown = markdownOf(comparison);
  const shown = json
    ? JSON.stringify(documentOf(comparison))
    : terminalText(markdown, cliEnvironment.columns);
  cliEnvironment.out(`${shown}\n`);
  if (file !== undefined) {
    writeWhole(file, `${markdown}\n`);
    cliEnvironment.err(`wrote ${file}\n`);
  }
  return comparison.verdict.isCrossed;
}

async function comparisonOf(
  inputs: Inputs,
  options: CompareOptions,
  cliEnvironment: CliEnvironment,
): Promise<Comparison> {
  const limits = limitsOf(options);
  checkCostLimit(
    limits,
    inputs.traces.map(({ trace }) => trace),
  );
  const settings = settingChanges(inputs.before, inputs.after);
  const isReplayed = settings.some((setting) => setting.isReplayed);
  const judged = isReplayed ? await replay(inputs, limits, options, cliEnvironment) : [];
  const verdict = verdictOf(judged, limits);
  return { verdict, judged, settings, limits, region: options.region, pools: inputs.after.pools };
}

function limitsOf({ maxCostIncrease: cost, maxWaitIncrease: wait, failOn }: CompareOptions): Limits {
  return {
    ...(cost === undefined ? {} : { cost }),
    ...(wait === undefined ? {} : { wait }),
    isUnservedRefused: failOn === 'unserved',
  };
}

function replay(
  { before, after, traces }: Inputs,
  limits: Limits,
  { seed, seeds: count, region, workers }: CompareOptions,
  cliEnvironment: CliEnvironment,
): Promise<readonly Judged[]> {
  for (const { trace } of traces)
    for (const peak of peaksOf({ trace, config: after }))
      cliEnvironment.err(`warning: after the change, ${peak}\n`);
  const seeds = Array.from({ length: count }, (_, at) => seed + at);
  return onThreads(workers, cliEnvironment, ({ workerPool, onProgress }) => {
    const progress = new Progress({ onProgress }, 2 * count * traces.length);
    const judge = async ({ trace, skipped }: Inputs['traces'][number]): Promise<Judged> => {
      const change = await changeOf({ trace, skipped, before, after, seeds, region, workerPool, progress });
      return { change, checks: checkLimits(change, limits) };
    };
    return Promise.all(traces.map(judge));
  });
}

const collect = (file: string, files: readonly string[] = []): readonly string[] => [...files, file];
