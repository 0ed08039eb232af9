import { percentile } from '../../lambda/decision/model/collections.ts';

const BUDGET_MS = 1_000;

/** The median of the values; 0 without values. */
export function median(values: readonly number[]): number {
  return percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

/** Median milliseconds of one call: one warm-up, then 5 to 25 runs, until one second has passed. */
export function timeOf(run: () => void): number {
  return timeOn(() => undefined, run);
}

/** Like `timeOf`, for a call on a new value each time. Making the value is not measured. */
export function timeOn<T>(make: () => T, run: (made: T) => void): number {
  run(make());
  const times: number[] = [];
  const startedAt = performance.now();
  while (times.length < 5 || (times.length < 25 && performance.now() - startedAt < BUDGET_MS)) {
    const made = make();
    const before = performance.now();
    run(made);
    times.push(performance.now() - before);
  }
  return median(times);
}

export class BenchError extends Error {
  override readonly name = 'BenchError';
}
