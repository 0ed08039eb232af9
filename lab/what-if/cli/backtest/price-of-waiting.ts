/** `autoscaler backtest --price-of-waiting`: what each price of waiting costs, and which one meets a target. */
import { type Command, InvalidArgumentError } from 'commander';
import { InputError, UsageError } from '../../../../cli/shared/cli-environment.ts';
import type { Target } from '../../search/price-search.ts';
import { type Tuning, tune, USUAL_SEEDS } from '../../search/tune.ts';
import { isMonthly } from './amounts.ts';
import { parseValue } from './options.ts';
import { unreachableText } from './prices-screen.ts';
import type { Subject } from './subject.ts';

export type PriceOptions = {
  readonly priceOfWaiting: boolean;
  readonly budget?: number;
  readonly meanWait?: number;
  readonly p95Wait?: number;
};

export function withPriceOfWaiting(command: Command): Command {
  return command
    .option('--price-of-waiting', 'show what each price of waiting costs, and the YAML of one', false)
    .option('--budget <dollars>', 'find the price: the most that tasks may cost per month', parseValue)
    .option('--mean-wait <seconds>', 'find the price: the longest average wait of people', parseSeconds)
    .option('--p95-wait <seconds>', 'find the price: the longest wait of 95 % of their builds', parseSeconds);
}

/** Undefined: no target. Throws UsageError. */
export function targetOf({ budget, meanWait, p95Wait }: PriceOptions, trace: Subject['trace']) {
  const targets: readonly (Target | undefined)[] = [
    budget === undefined ? undefined : { kind: 'budget', dollarsPerMonth: budget },
    meanWait === undefined ? undefined : { kind: 'mean-wait', seconds: meanWait },
    p95Wait === undefined ? undefined : { kind: 'p95-wait', seconds: p95Wait },
  ];
  const [target, other] = targets.flatMap((each) => each ?? []);
  if (other !== undefined)
    throw new UsageError('more than one target given. Use one of --budget, --mean-wait and --p95-wait');
  if (target?.kind === 'budget' && !isMonthly(trace))
    throw new UsageError(
      '--budget is for a month, and a trace of less than two days cannot tell one: give a longer trace, or a wait',
    );
  return target;
}

/** Seconds. */
function parseSeconds(text: string): number {
  if (/^\d{1,5}(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a number of seconds, 0 or more, such as 2.5.');
}

type Given = {
  /** The first of `USUAL_SEEDS` seeds. */
  readonly seed: number;
  readonly region: string;
  readonly onProgress: (share: number, doing: string) => void;
};

/** Throws InputError if no price meets the target. */
export async function pricesOf(
  { trace, config }: Subject,
  target: Target | undefined,
  given: Given,
): Promise<Tuning> {
  const tuning = await tune({ trace, config, target, seeds: USUAL_SEEDS, ...given });
  if (target !== undefined && tuning.best === undefined)
    throw new InputError(unreachableText(target, tuning));
  return tuning;
}

export const priceDocument = (target: Target | undefined, { points, best, choices }: Tuning) => ({
  ...{ target, points, price: best?.price, choices },
});
