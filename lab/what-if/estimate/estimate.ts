/**
 * How sure a figure of a replay is: its level over the days of a history, and the range in which it
 * will be in another week of such days with nine in ten chances. The range comes from how the days
 * differ, so it has what chance does in one world: which builds come, start times, restarts of the
 * function. It cannot have a change of the demand (docs/backtest.md).
 */
import { meanOf, sum } from '../../../lambda/decision/model/collections.ts';
import { MONTH_MS } from '../../../lambda/decision/model/units.ts';

/** 24 hours from the beginning of the trace on; the last one has the remaining hours, too. */
export type DayFigures = {
  readonly ms: number;
  /** Tasks and launches. */
  readonly dollars: number;
  /** Seconds that people waited, for each of their jobs that came or was due on this day. */
  readonly waitsS: readonly number[];
  /** A Saturday or Sunday where the trace comes from. */
  readonly isRestDay: boolean;
};

export type Estimate = {
  readonly value: number;
  /** Of another week. Undefined: fewer than `LEAST_DAYS` days. */
  readonly range?: readonly [low: number, high: number];
};

export type Estimates = {
  /** Tasks and launches of a month like these days. */
  readonly dollarsPerMonth: Estimate;
  readonly meanWaitS: Estimate;
  readonly p95WaitS: Estimate;
};

/** Fewer days do not show how much days differ. */
const LEAST_DAYS = 3;
const CONFIDENCE = 0.9;
const DAYS_AHEAD = 7;
/** The share of the jobs that wait longer than the 95th percentile. */
const BEYOND_P95 = 0.05;

/** `replays`: the same days with different seeds. */
export function estimatesOf(replays: readonly (readonly DayFigures[])[]): Estimates {
  const sample: Sample = { days: replays.flat(), count: replays[0]?.length ?? 0 };
  return {
    dollarsPerMonth: costOf(sample),
    meanWaitS: meanWaitOf(sample),
    p95WaitS: p95WaitOf(sample),
  };
}

/** `count`: days of one replay. */
type Sample = { readonly days: readonly DayFigures[]; readonly count: number };

/** A Sunday is compared with other days of rest. */
function costOf(sample: Sample): Estimate {
  const kinds = [...Map.groupBy(sample.days, ({ isRestDay }) => isRestDay).values()];
  const residuals = kinds.flatMap((days) => {
    const monthly = days.map((day) => perMonth(day.dollars, day.ms));
    const mean = meanOf(monthly);
    return monthly.map((each) => each - mean);
  });
  const value = perMonth(
    sum(sample.days, ({ dollars }) => dollars),
    sum(sample.days, ({ ms }) => ms),
  );
  return positive(value, marginOf(residuals, sample, kinds.length));
}

export const perMonth = (amount: number, ms: number): number => (amount * MONTH_MS) / ms;

function meanWaitOf(sample: Sample): Estimate {
  const { value, residuals } = ratioOf(sample.days, ({ waitsS }) => sum(waitsS, (wait) => wait));
  return positive(value, marginOf(residuals, sample, 1));
}

/** The least wait that at most 5 % of the jobs exceed; its range by the range of that share. */
function p95WaitOf(sample: Sample): Estimate {
  const waits = sample.days.flatMap(({ waitsS }) => waitsS).sort((a, b) => a - b);
  const least = (side: -1 | 0 | 1): number =>
    firstOf(waits, (wait) => {
      const over = ratioOf(sample.days, ({ waitsS }) => waitsS.filter((each) => each > wait).length);
      return over.value + side * (marginOf(over.residuals, sample, 1) ?? 0) <= BEYOND_P95;
    });
  const value = least(0);
  return sample.count < LEAST_DAYS ? { value } : { value, range: [least(-1), least(1)] };
}

/** An amount for each job, and what each day has beyond it, for the jobs of an average day. */
function ratioOf(days: readonly DayFigures[], amountOf: (day: DayFigures) => number) {
  const jobs = sum(days, ({ waitsS }) => waitsS.length);
  const value = jobs === 0 ? 0 : sum(days, amountOf) / jobs;
  const residuals = days.map((day) =>
    jobs === 0 ? 0 : ((amountOf(day) - value * day.waitsS.length) * days.length) / jobs,
  );
  return { value, residuals };
}

/** `means`: how many means the residuals were taken from. Undefined: too few days. */
function marginOf(residuals: readonly number[], { count }: Sample, means: number): number | undefined {
  if (count < LEAST_DAYS) return undefined;
  const freedom = Math.max(1, count - means);
  const variance = (meanOf(residuals.map((each) => each ** 2)) * count) / freedom;
  return studentT(CONFIDENCE, freedom) * Math.sqrt(variance * (1 / count + 1 / DAYS_AHEAD));
}

/** A figure that is never below 0 varies by a factor. */
function positive(value: number, margin: number | undefined): Estimate {
  if (margin === undefined) return { value };
  const factor = value === 0 ? 1 : Math.exp(margin / value);
  return { value, range: [value / factor, value * factor] };
}

export function plus({ value, range }: Estimate, more: number): Estimate {
  if (range === undefined) return { value: value + more };
  return { value: value + more, range: [range[0] + more, range[1] + more] };
}

/** The first of sorted values that is enough, by bisection; 0 without values. */
function firstOf(sorted: readonly number[], isEnough: (value: number) => boolean): number {
  let [low, high] = [0, sorted.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isEnough(sorted[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return sorted[low] ?? 0;
}

/** Student's t distribution (Abramowitz and Stegun, Mathematical Functions, 26.7.3 and 26.7.4). */

/** Half the width of a two-sided interval in standard errors, by bisection. `confidence`: 0 to 1. */
export function studentT(confidence: number, freedom: number): number {
  let [low, high] = [0, LARGEST];
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (shareWithin(middle, freedom) < confidence) low = middle;
    else high = middle;
  }
  return high;
}

const LARGEST = 10_000;
const STEPS = 60;

/** The share of the distribution within `t` standard errors of the mean. */
function shareWithin(t: number, freedom: number): number {
  const angle = Math.atan(t / Math.sqrt(freedom));
  const squared = Math.cos(angle) ** 2;
  const isOdd = freedom % 2 === 1;
  let term = isOdd ? Math.cos(angle) : 1;
  let sum = freedom === 1 ? 0 : term;
  for (let power = isOdd ? 3 : 2; power <= freedom - 2; power += 2) {
    term *= (squared * (power - 1)) / power;
    sum += term;
  }
  return isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}
