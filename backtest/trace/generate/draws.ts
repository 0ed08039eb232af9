/** Random numbers of the shapes that life has. */
import type { Random } from '../../../simulator/base/random.ts';
import type { Spread } from './scenario.ts';

/** Bell-shaped. */
export function normal(random: Random, mean: number, deviation: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return mean + deviation * radius * Math.cos(2 * Math.PI * random.next());
}

/** Between events that come at random. */
export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random.next());
}

/** How many of such events come, of a few. */
export function poisson(random: Random, mean: number): number {
  let count = 0;
  for (let passed = exponential(random, 1); passed < mean; passed += exponential(random, 1)) count++;
  return count;
}

/** A name with its weight. */
export function weighted(random: Random, weights: Readonly<Record<string, number>>): string {
  const names = Object.keys(weights);
  let left = random.next() * names.reduce((sum, name) => sum + (weights[name] ?? 0), 0);
  for (const name of names) {
    left -= weights[name] ?? 0;
    if (left < 0) return name;
  }
  return names.at(-1) ?? '';
}

/** Standard deviations between the median and the 95th percentile of a bell. */
const P95 = 1.645;
/** One build in so many meets a slow registry, a lock or a retry of its provider, and takes some times as long: an assumption. */
const SLOW_ONE_IN = 200;
const TIMES_AS_LONG = [3, 8] as const;
const LONGEST_S = 3600;

/** Seconds of a build, in tenths; 1 s at least. */
export function drawSeconds(random: Random, { p50, p95 }: Spread): number {
  const usual = p50 * Math.exp((normal(random, 0, 1) * Math.log(p95 / p50)) / P95);
  const slow = random.next() * SLOW_ONE_IN < 1 ? random.between(...TIMES_AS_LONG) : 1;
  return Math.round(Math.min(LONGEST_S, Math.max(1, usual * slow)) * 10) / 10;
}
