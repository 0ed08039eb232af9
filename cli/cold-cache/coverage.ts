/**
 * How many builds cannot be seen. coderd does not list deleted workspaces, so their builds are only
 * found if one of them was the last job of a daemon. The estimate is that of Good and Turing: many
 * workspaces that were found by one daemon only mean that many others were not found.
 */
import type { Coverage } from './history.ts';
import type { Estimate } from './interval.ts';

/** All builds, as a multiple of those that were found, and the standard error of that. */
export type Factor = { readonly value: number; readonly error: number };

const NORMAL_97_5 = 1.96;

export function factorOf({ found, lastBuilds, foundOnce, foundTwice }: Coverage): Factor {
  if (foundOnce === 0) return { value: 1, error: 0 };
  // the last jobs are a part of all builds, not drawn from them again and again
  const perLast = Math.max(0, 1 - lastBuilds / found) / lastBuilds;
  const value = 1 / (1 - Math.min(0.9, foundOnce * perLast));
  return { value, error: value ** 2 * Math.sqrt(foundOnce + 2 * foundTwice) * perLast };
}

/** An estimate of the builds that were found, for all builds. The interval gets wider. */
export function times({ value, low, high }: Estimate, factor: Factor): Estimate {
  const all = value * factor.value;
  const ofFactor = NORMAL_97_5 * factor.error * value;
  const width = (own: number): number => Math.hypot(own * factor.value, ofFactor);
  return { value: all, low: all - width(value - low), high: all + width(high - value) };
}
