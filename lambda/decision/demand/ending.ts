/**
 * Which builds probably end in time. The decision and the replay of rules ask alike: a busy daemon that is
 * free in time counts like a free one.
 */
import { countUpTo, percentile } from '../model/collections.ts';
import { MINUTE_MS } from '../model/units.ts';

/** With fewer durations the duration of similar jobs is unknown. */
export const MIN_SAMPLES = 5;
/** A busy daemon serves a job that waits if the chance that it is free in time is at least this. */
export const MIN_CHANCE_TO_END = 0.8;
/** coderd fails jobs that wait for longer. */
const LONGEST_MS = 30 * MINUTE_MS;

/** How long a job may wait until that costs as much as a launch. In milliseconds. */
export function waitingWorthMs(launchDollars: number, dollarsPerMs: number): number {
  return dollarsPerMs === 0 ? LONGEST_MS : Math.min(LONGEST_MS, launchDollars / dollarsPerMs);
}

/**
 * The chance that a running job ends within a time, given its age. 0 if nothing is known, or if the
 * job is older than 19 of 20 similar jobs.
 * @param durations of similar jobs, in milliseconds, the shortest first
 */
export function chanceToEnd(
  durations: readonly number[],
  { ageMs, withinMs }: { readonly ageMs: number; readonly withinMs: number },
): number {
  if (ageMs >= percentile(durations, 0.95)) return 0;
  const longer = durations.length - countUpTo(durations, ageMs);
  const soon = countUpTo(durations, ageMs + withinMs) - (durations.length - longer);
  return soon / longer;
}

/**
 * The ages at which the chance is at least `atLeast`: from the first age on it is, from the second on
 * it is not, from the third on it is, and so on.
 * @param durations in milliseconds, the shortest first
 */
export function agesAtEnd(
  durations: readonly number[],
  withinMs: number,
  atLeast: number,
): readonly number[] {
  const steps = durations.flatMap((duration) => [duration, Math.max(0, duration - withinMs)]);
  const ages = [...new Set([0, percentile(durations, 0.95), ...steps])].sort((a, b) => a - b);
  const isEnding = ages.map((ageMs) => chanceToEnd(durations, { ageMs, withinMs }) >= atLeast);
  return ages.filter((_, index) => isEnding[index] !== (isEnding[index - 1] ?? false));
}

/** Whether a build of this age probably ends in time. `ages`: of `agesAtEnd`. */
export function isEnding(ages: readonly number[], ageMs: number): boolean {
  return countUpTo(ages, ageMs) % 2 === 1;
}
