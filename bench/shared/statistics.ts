import { BenchError } from './bench-error.ts';

/** The median of the values. Throws BenchError without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  if (low === undefined || high === undefined)
    throw new BenchError('taking the median: there are no values; measure at least once');
  return (low + high) / 2;
}

export type Point = { readonly size: number; readonly ms: number };

/**
 * The exponent k of time ~ size^k, as the slope of the logarithms by least squares. 1: twice the
 * size takes twice the time. 2: twice the size takes four times the time.
 */
export function growthExponent(points: readonly Point[]): number {
  const logs = points.map(({ size, ms }) => ({ x: Math.log(size), y: Math.log(ms) }));
  const mean = (pick: (log: { x: number; y: number }) => number): number =>
    logs.reduce((total, log) => total + pick(log), 0) / logs.length;
  const [x, y] = [mean((log) => log.x), mean((log) => log.y)];
  return mean((log) => (log.x - x) * (log.y - y)) / mean((log) => (log.x - x) ** 2);
}

const BUDGET_MS = 1_000;

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
