/** `autoscaler tune`: shows what each price of waiting costs for a trace, and recommends one. */
import { type Command, InvalidArgumentError } from 'commander';
import {
  type CliEnvironment,
  type CommandContext,
  InputError,
  UsageError,
} from '../../../../cli/shared/cli-environment.ts';
import { countTo } from '../../../../cli/shared/option-values.ts';
import { wholeNumber } from '../../../world/base/whole-number.ts';
import type { Target } from '../../search/price-search.ts';
import { type Tuning, tune, USUAL_SEEDS } from '../../search/tune.ts';
import { isMonthly } from '../backtest/amounts.ts';
import { cautionsOf } from '../backtest/cautions.ts';
import { parseValue, withPriceOptions, withTraceOptions } from '../backtest/options.ts';
import { showProgress } from '../backtest/progress.ts';
import { CONFIG_DESCRIPTION, readSubject, type Subject, type SubjectOptions } from '../backtest/subject.ts';
import { tuneText, unreachableText } from './screen.ts';

type TuneOptions = SubjectOptions & {
  readonly budget?: number;
  readonly meanWait?: number;
  readonly p95Wait?: number;
  readonly seeds: number;
  readonly json: boolean;
  readonly region: string;
};

const MOST_SEEDS = 20;

export function addTuneCommand(program: Command, { cliEnvironment }: CommandContext): void {
  const command = withTraceOptions(program.command('tune'))
    .description('show what each price of waiting costs, and recommend one for a budget or a wait')
    .option('--config <file>', CONFIG_DESCRIPTION)
    .option('--budget <dollars>', 'the most that tasks may cost per month', parseValue)
    .option('--mean-wait <seconds>', 'the longest average wait of people', parseSeconds)
    .option('--p95-wait <seconds>', 'the longest wait of 95 % of the builds of people', parseSeconds)
    .option('--seeds <number>', 'worlds in which each price is tried', countTo(MOST_SEEDS), USUAL_SEEDS)
    .option('--json', 'print the result as one JSON document', false)
    .option('--seed <number>', 'the first seed; the same seed gives the same figures', wholeNumber, 1);
  withPriceOptions(command).action((options: TuneOptions) => tuneHistory(options, cliEnvironment));
}

async function tuneHistory(options: TuneOptions, cliEnvironment: CliEnvironment): Promise<void> {
  const target = targetOf(options);
  const subject = readSubject(options, cliEnvironment);
  if (target?.kind === 'budget' && !isMonthly(subject.trace))
    throw new UsageError(
      '--budget is for a month, and a trace of less than two days cannot tell one: give a longer trace, or a wait',
    );
  for (const caution of cautionsOf(subject)) cliEnvironment.err(`warning: ${caution}\n`);
  const { seeds } = options;
  const tuning = await run(subject, target, options, cliEnvironment);
  const { config: _config, best, points, choices } = tuning;
  if (target !== undefined && best === undefined) throw new InputError(unreachableText(target, tuning));
  const text = options.json
    ? JSON.stringify({ version: 2, target, seeds, points, price: best?.price, choices })
    : tuneText(
        { ...tuning, trace: subject.trace, configFile: subject.configFile, target, seeds },
        cliEnvironment.columns,
      );
  cliEnvironment.out(`${text}\n`);
}

/** Undefined: no target. Throws UsageError. */
function targetOf({ budget, meanWait, p95Wait }: TuneOptions): Target | undefined {
  const targets: readonly (Target | undefined)[] = [
    budget === undefined ? undefined : { kind: 'budget', dollarsPerMonth: budget },
    meanWait === undefined ? undefined : { kind: 'mean-wait', seconds: meanWait },
    p95Wait === undefined ? undefined : { kind: 'p95-wait', seconds: p95Wait },
  ];
  const [target, other] = targets.flatMap((each) => each ?? []);
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
  target: Target | undefined,
  { seed, seeds, region }: TuneOptions,
  cliEnvironment: CliEnvironment,
): Promise<Tuning> {
  const progress = showProgress(cliEnvironment);
  try {
    return await tune({ trace, config, target, seed, seeds, region, onProgress: progress.show });
  } finally {
    progress.end();
  }
}
