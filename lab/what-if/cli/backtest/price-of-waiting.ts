/** `autoscaler backtest --price-of-waiting`: what a price of waiting costs, and which one meets a target. */
import { type Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../../../../cli/shared/cli-environment.ts';
import { ageText } from '../../../../lambda/explain/format.ts';
import { jobsLabel } from '../../report/parts/numbers.ts';
import { lengthLabel } from '../../report/parts/times.ts';
import type { Target } from '../../search/price-search.ts';
import { MOST_PRICES, type Tuning } from '../../search/tune.ts';
import { isMonthly } from './amounts.ts';
import { parseValue } from './options.ts';
import type { Subject } from './subject.ts';

export type PriceOptions = {
  readonly priceOfWaiting: boolean;
  readonly budget?: number;
  readonly meanWait?: number;
  readonly p95Wait?: number;
};

export function withPriceOfWaiting(command: Command): Command {
  return command
    .option('--price-of-waiting', 'show what the prices of waiting around yours cost, and their YAML', false)
    .option('--budget <dollars>', 'find the price: the most that may be spent per month', parseValue)
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

/** Measured: looks of a day without jobs, and what each job adds. */
const REPLAY_S = { aDay: 5, aJob: 0.01 } as const;
/** The configured price first, then the others two at a time. */
const ROUNDS = 3;

/** How long the search takes, before it starts. */
export function durationText({ trace }: Pick<Subject, 'trace'>): string {
  const days = (trace.to - trace.from) / 86_400_000;
  const seconds = ROUNDS * (days * REPLAY_S.aDay + trace.jobs.length * REPLAY_S.aJob);
  const jobs = `${jobsLabel(trace.jobs.length)} in ${lengthLabel({ trace })}`;
  return `replaying ${jobs} at the present price and up to ${MOST_PRICES} others: about ${ageText(Math.ceil(seconds))} on two idle cores`;
}

export const priceDocument = (target: Target | undefined, { best, choices }: Tuning) => ({
  ...{ target, price: best?.price, choices },
});
