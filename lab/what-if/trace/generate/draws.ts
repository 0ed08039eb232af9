/** Draws random numbers from the distributions that the generator needs. */
import type { Random } from '../../../world/base/random.ts';
import type { Spread } from './scenario.ts';

export function normal(random: Random, mean: number, deviation: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return mean + deviation * radius * Math.cos(2 * Math.PI * random.next());
}

/** The time between random events, in the unit of `mean`. */
export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random.next());
}

/** The number of random events in a period with `mean` events on average. Its time grows with `mean`. */
export function poisson(random: Random, mean: number): number {
  let count = 0;
  for (let passed = exponential(random, 1); passed < mean; passed += exponential(random, 1)) count++;
  return count;
}

export function weighted(random: Random, weights: Readonly<Record<string, number>>): string {
  const names = Object.keys(weights);
  let left = random.next() * names.reduce((sum, name) => sum + (weights[name] ?? 0), 0);
  for (const name of names) {
    left -= weights[name] ?? 0;
    if (left < 0) return name;
  }
  return names.at(-1) ?? '';
}

/** Standard deviations between the median and the 95th percentile of a normal distribution. */
const P95 = 1.645;
/** Assumption: one build in 200 meets a slow registry, a lock or a retry, and takes 3 to 8 times as long. */
const SLOW_ONE_IN = 200;
const TIMES_AS_LONG = [3, 8] as const;
const LONGEST_S = 3600;

/** The duration of a build: 1 s to 3,600 s, in tenths of a second. */
export function drawSeconds(random: Random, { p50, p95 }: Spread): number {
  const usual = p50 * Math.exp((normal(random, 0, 1) * Math.log(p95 / p50)) / P95);
  const slow = random.next() * SLOW_ONE_IN < 1 ? random.between(...TIMES_AS_LONG) : 1;
  return Math.round(Math.min(LONGEST_S, Math.max(1, usual * slow)) * 10) / 10;
}
