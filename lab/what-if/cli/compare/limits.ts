/** Parses the limits of a comparison, and checks a change against them. */
import { InvalidArgumentError } from 'commander';
import { UsageError } from '../../../../cli/shared/cli-environment.ts';
import { parseDuration } from '../../../../lambda/config/schema/durations.ts';
import type { Difference } from '../../change/difference.ts';
import type { ConfigChange } from '../../change/result.ts';
import { dollars, type Format, seconds } from '../../report/parts/numbers.ts';
import { lengthLabel } from '../../report/parts/times.ts';
import type { Trace } from '../../trace/trace.ts';
import { amountsOf, isMonthly } from '../backtest/amounts.ts';
import { mean } from './words.ts';

/** The most that a figure may rise: a share of its value before, or an amount. */
export type Limit = {
  /** As given: `10%`, `$20`, `5s`. */
  readonly text: string;
  readonly share?: number;
  /** Dollars a month, or seconds. */
  readonly amount?: number;
};

export type Limits = {
  readonly cost?: Limit;
  /** Of the average and the p95 wait of people, also of each group with enough jobs. */
  readonly wait?: Limit;
  /** Whether a job that is lost, or that has no pool any more, is a failure. */
  readonly isUnservedRefused: boolean;
};

/** `undecided`: the mean exceeds the limit, but its difference may be chance. */
type LimitOutcome = 'kept' | 'crossed' | 'undecided';

export type Check = {
  readonly outcome: LimitOutcome;
  readonly option: '--max-cost-increase' | '--max-wait-increase' | '--fail-on unserved';
  readonly limit?: Limit;
  /** `dollars`: of the trace, which is too short for a figure of a month. */
  readonly figure: 'dollarsPerMonth' | 'dollars' | 'meanWaitS' | 'p95WaitS' | 'lostJobs' | 'unfitJobs';
  /** Organization and tags, if the check is of one group of jobs. */
  readonly group?: string;
  readonly before: number;
  readonly after: number;
};

/** A percentage always allows a rise of one dollar a month, or of one second: smaller ones do not matter. */
export const LEAST_RISE = 1;
/** The waits of fewer jobs say little about the next week. */
const LEAST_JOBS = 20;

export function parseCostLimit(text: string): Limit {
  const [, sign, unit] = /^(?:\$(\d{1,9}(?:\.\d+)?)|(\d{1,9}(?:\.\d+)?)usd)$/i.exec(text) ?? [];
  const amount = sign ?? unit;
  if (amount !== undefined) return { text, amount: Number(amount) };
  return shareOr(text, "dollars a month, such as 20usd or '$20' (in quotes, since a shell reads $2)");
}

export function parseWaitLimit(text: string): Limit {
  const ms = parseDuration(text);
  return ms === undefined ? shareOr(text, 'a duration, such as 5s or 2m') : { text, amount: ms / 1000 };
}

function shareOr(text: string, otherwise: string): Limit {
  const [, percent] = /^(\d{1,6}(?:\.\d+)?)%$/.exec(text) ?? [];
  if (percent !== undefined) return { text, share: Number(percent) / 100 };
  throw new InvalidArgumentError(`Write a percentage, such as 10%, or ${otherwise}.`);
}

/** Throws UsageError for a limit in dollars a month that a trace is too short for. */
export function checkCostLimit({ cost }: Limits, traces: readonly Trace[]): void {
  const short = traces.find((trace) => !isMonthly(trace));
  if (cost?.amount === undefined || short === undefined) return;
  throw new UsageError(
    `--max-cost-increase ${cost.text} is an amount of a month, and the trace "${short.name}" covers ${lengthLabel({ trace: short })}: figures of a month need two days. Give a percentage, or a longer trace`,
  );
}

export const hasLimits = ({ cost, wait, isUnservedRefused }: Limits): boolean =>
  cost !== undefined || wait !== undefined || isUnservedRefused;

/** One check for each limit and figure. Of the groups, only those that do not keep it. */
export function checkLimits(change: ConfigChange, limits: Limits): readonly Check[] {
  const { measures, groups, fits } = change;
  const amounts = amountsOf(change);
  const cost = riseCheck('--max-cost-increase', limits.cost);
  const wait = riseCheck('--max-wait-increase', limits.wait);
  return [
    ...cost('dollarsPerMonth', measures.dollarsPerMonth).map((check): Check => {
      if (amounts.isMonthly) return check;
      return {
        ...check,
        figure: 'dollars',
        before: amounts.of(check.before),
        after: amounts.of(check.after),
      };
    }),
    ...wait('meanWaitS', measures.meanWaitS),
    ...wait('p95WaitS', measures.p95WaitS),
    ...groups
      .filter(({ jobs }) => jobs >= LEAST_JOBS)
      .flatMap(({ group, meanWaitS, p95WaitS }) => [
        ...wait('meanWaitS', meanWaitS, group),
        ...wait('p95WaitS', p95WaitS, group),
      ])
      .filter(({ outcome }) => outcome !== 'kept'),
    ...(limits.isUnservedRefused ? unservedChecks(measures.lostJobs, fits) : []),
  ];
}

function riseCheck(option: Check['option'], limit: Limit | undefined) {
  return (figure: Check['figure'], difference: Difference, group?: string): readonly Check[] => {
    if (limit === undefined) return [];
    const { before, after } = difference;
    const outcome = outcomeOf(difference, allowedRise(limit, before));
    return [{ outcome, option, limit, figure, before, after, ...(group === undefined ? {} : { group }) }];
  };
}

/** In dollars a month, or seconds. */
function allowedRise({ share, amount = 0 }: Limit, before: number): number {
  return share === undefined ? amount : Math.max(LEAST_RISE, before * share);
}

function outcomeOf({ change, clarity }: Difference, allowed: number): LimitOutcome {
  // sums of the same amounts may differ in their last digits
  if (change <= allowed + 1e-9) return 'kept';
  return clarity === 'clear' ? 'crossed' : 'undecided';
}

function unservedChecks(lostJobs: Difference, { neither, onlyBefore, onlyAfter }: ConfigChange['fits']) {
  const option = '--fail-on unserved';
  const unfit = { before: neither + onlyAfter, after: neither + onlyBefore };
  const { before, after } = lostJobs;
  const checks: readonly Check[] = [
    { outcome: outcomeOf(lostJobs, 0), option, figure: 'lostJobs', before, after },
    { outcome: onlyBefore > 0 ? 'crossed' : 'kept', option, figure: 'unfitJobs', ...unfit },
  ];
  return checks;
}

export const FIGURES: Readonly<Record<Check['figure'], { readonly name: string; readonly format: Format }>> =
  {
    dollarsPerMonth: { name: 'monthly cost of tasks', format: dollars },
    dollars: { name: 'cost of tasks', format: dollars },
    meanWaitS: { name: 'average wait of people', format: seconds },
    p95WaitS: { name: 'p95 wait of people', format: seconds },
    lostJobs: { name: 'jobs killed, given up or not over', format: mean },
    unfitJobs: { name: 'jobs without a pool', format: mean },
  };
