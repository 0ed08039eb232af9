/**
 * A confidence interval for a weighted sum of means, by the studentized bootstrap: it needs no
 * normal distribution, and download times have a long tail. The seed is fixed, so the same data give
 * the same interval.
 */
import { by, percentile } from '../../lambda/decision/model/collections.ts';
import { Random } from '../../simulator/base/random.ts';

/** The share of intervals that contain the true value. */
export const CONFIDENCE = 0.95;

const RESAMPLES = 1_000;
const SEED = 20;

/** A sample, and the weight of its mean in the sum. */
export type Term = { readonly values: readonly number[]; readonly weight: number };

export type Estimate = { readonly value: number; readonly low: number; readonly high: number };

/** The sum of `weight` x mean over all terms, with its interval. Each term needs two values. */
export function estimateSum(terms: readonly Term[]): Estimate {
  const used = terms.filter(({ weight }) => weight !== 0);
  const whole = momentsOf(used, (values, index) => values[index] ?? 0);
  if (whole.error === 0) return { value: whole.value, low: whole.value, high: whole.value };
  const random = new Random(SEED);
  const resampled: Choose = (values) => values[Math.floor(random.next() * values.length)] ?? 0;
  const scores: number[] = [];
  for (let n = 0; n < RESAMPLES; n++) {
    const { value, error } = momentsOf(used, resampled);
    if (error > 0) scores.push((value - whole.value) / error);
  }
  scores.sort(by((score) => score));
  const bound = (share: number): number => whole.value - percentile(scores, share) * whole.error;
  return { value: whole.value, low: bound((1 + CONFIDENCE) / 2), high: bound((1 - CONFIDENCE) / 2) };
}

type Choose = (values: readonly number[], index: number) => number;

/** The weighted sum of the means, and its standard error, of the values that `choose` returns. */
function momentsOf(terms: readonly Term[], choose: Choose) {
  let [value, variance] = [0, 0];
  for (const { values, weight } of terms) {
    const { length, 0: origin = 0 } = values;
    let [total, squares] = [0, 0];
    for (let index = 0; index < length; index++) {
      const off = choose(values, index) - origin;
      total += off;
      squares += off ** 2;
    }
    value += weight * (origin + total / length);
    variance += (weight ** 2 * Math.max(0, squares - total ** 2 / length)) / (length - 1) / length;
  }
  return { value, error: Math.sqrt(variance) };
}
