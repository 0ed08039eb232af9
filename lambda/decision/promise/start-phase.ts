/**
 * How long one phase of a start takes, learned from the starts that ECS still lists: until the
 * container runs, or from then until the daemon has registered.
 *
 * Few starts leave much open, and all tasks of a pool share it: if the image got larger, all are
 * late. So a phase is a set of log-normal distributions, each with its weight. Each scenario has
 * one of them for all tasks. Tasks that have not finished the phase count too: each says that the
 * phase takes longer than its age. With many starts, their own shape replaces the log-normal one.
 */
import { countUpTo, meanOf, sum } from '../model/collections.ts';
import { chanceAbove, normalQuantile } from './normal.ts';
import { SCENARIOS } from './scenarios.ts';

/** An assumption: starts of one pool differ by a fifth. It has the weight of three starts. */
const PRIOR = { spread: 0.2, weight: 3 } as const;
/** From this number of starts on, their own shape is used. */
export const OWN_SHAPE_FROM = 19;
const MEANS = 41;
const SPREADS = 11;
const LEAST_MS = 100;

/** One distribution: the logarithm of the time has this mean and standard deviation. */
export type LogTime = { readonly mean: number; readonly spread: number };

export type StartPhase = {
  /** Chooses the distribution of a scenario by two numbers between 0 and 1. */
  readonly choose: (first: number, second: number) => LogTime;
  /** The shape: standardized logarithms of times, in ascending order. */
  readonly shape: readonly number[];
};

/** What is expected of a phase before any task has finished it. */
export type ExpectedPhase = {
  /** Milliseconds. */
  readonly medianMs: number;
  /** How many finished phases it counts for. A fraction: it is less sure than one. */
  readonly starts: number;
};

export type PhaseInput = {
  /** The times of finished phases, in milliseconds. */
  readonly finished: readonly number[];
  /** The ages of phases that are not finished. */
  readonly ages: readonly number[];
  /** Used only if no phase is finished. */
  readonly expected: ExpectedPhase;
};

/** Learns a phase. */
export function learnPhase({ finished, ages, expected }: PhaseInput): StartPhase {
  const logs = finished.map(logOf).sort((a, b) => a - b);
  const count = logs.length || expected.starts;
  const mean = logs.length === 0 ? logOf(expected.medianMs) : meanOf(logs);
  const squares = sum(logs, (log) => (log - mean) ** 2);
  const seen = { count, mean, squares: squares + PRIOR.weight * PRIOR.spread ** 2 };
  return { choose: chooserOf(seen, censoredOf(ages)), shape: shapeOf(logs, { mean, squares }) };
}

/** The rest of a phase of this age, in milliseconds. `number`: between 0 and 1. */
export function restOf(
  { shape }: StartPhase,
  { mean, spread }: LogTime,
  ageMs: number,
  number: number,
): number {
  const reached = ageMs <= 0 ? Number.NEGATIVE_INFINITY : (Math.log(ageMs) - mean) / spread;
  const rank = rankIn(shape, reached);
  // beyond the shape the hazard stays as it is: the older, the longer it still takes
  if (rank >= shape.length - 0.5) return -Math.log(1 - number) * 0.5 * spread * ageMs;
  const place = rank + number * (shape.length - rank) - 0.5;
  return Math.max(0, Math.exp(mean + spread * valueAt(shape, place)) - ageMs);
}

const logOf = (ms: number): number => Math.log(Math.max(LEAST_MS, ms));

/** The logarithms of the ages in whole seconds, and how many tasks have each age. */
function censoredOf(ages: readonly number[]): readonly Censored[] {
  const groups = Map.groupBy(ages, (age) => Math.round(age / 1000));
  return [...groups].flatMap(([age, all]) =>
    age > 0 ? [{ log: Math.log(age * 1000), tasks: all.length }] : [],
  );
}

type Censored = { readonly log: number; readonly tasks: number };
type Seen = { readonly count: number; readonly mean: number; readonly squares: number };

/** Weighs a grid of distributions by how likely they make what was seen. */
function chooserOf(seen: Seen, censored: readonly Censored[]): StartPhase['choose'] {
  const { count, mean, squares } = seen;
  const likely = Math.sqrt(squares / (PRIOR.weight + count - 1));
  const reach = (4.5 * likely) / Math.sqrt(count) + 0.02;
  const most = censored.reduce((top, { log }) => Math.max(top, log + 0.5), mean + reach);
  const means = spaced(mean - reach, most, MEANS);
  const width = Math.min(1.2, 0.45 + 3 / (PRIOR.weight + count));
  const spreads = spaced(-0.9, 1.3, SPREADS).map((step) => likely * Math.exp(step * width));
  const chances = spreads.map((spread) =>
    means.map((center) => logLikelihood(seen, censored, { mean: center, spread })),
  );
  const best = Math.max(...chances.flat());
  const weights = chances.map((row) => row.map((chance) => Math.exp(chance - best)));
  const bySpread = cumulative(weights.map((row) => sum(row, (weight) => weight)));
  const byMean = weights.map(cumulative);
  return (first, second) => {
    const place = placeIn(bySpread, first);
    const row = byMean[Math.round(place)] ?? [];
    return { mean: valueAt(means, placeIn(row, second)), spread: valueAt(spreads, place) };
  };
}

function logLikelihood(
  { count, mean, squares }: Seen,
  censored: readonly Censored[],
  { mean: center, spread }: LogTime,
): number {
  const own =
    -(PRIOR.weight + count) * Math.log(spread) - (squares + count * (center - mean) ** 2) / (2 * spread ** 2);
  return censored.reduce(
    (total, { log, tasks }) => total + tasks * Math.log(Math.max(1e-9, chanceAbove((log - center) / spread))),
    own,
  );
}

const NORMAL = Array.from({ length: SCENARIOS }, (_, index) => normalQuantile((index + 0.5) / SCENARIOS));

/** The normal shape, replaced step by step by that of the starts themselves. */
export function shapeOf(
  logs: readonly number[],
  { mean, squares }: Pick<Seen, 'mean' | 'squares'>,
): readonly number[] {
  const deviation = Math.sqrt(squares / Math.max(1, logs.length - 1));
  const share = logs.length < 3 || deviation === 0 ? 0 : Math.min(1, (logs.length / OWN_SHAPE_FROM) ** 2);
  if (share === 0) return NORMAL;
  const own = logs.map((log) => (log - mean) / deviation);
  return NORMAL.map(
    (value, index) => (1 - share) * value + share * quantileOf(own, (index + 0.5) / NORMAL.length),
  );
}

/** The quantile of which the next value is below with this chance. `sorted` is not empty. */
export function quantileOf(sorted: ArrayLike<number>, chance: number): number {
  return valueAt(sorted, chance * (sorted.length + 1) - 1);
}

/** The value at a place between two of the values; the ends do not go on. */
export function valueAt(values: ArrayLike<number>, place: number): number {
  const within = Math.min(values.length - 1, Math.max(0, place));
  const index = Math.floor(within);
  const low = values[index] ?? 0;
  const high = values[index + 1] ?? low;
  // between a number and infinity only the number itself is finite
  return within === index || high === low ? low : low + (within - index) * (high - low);
}

/** How many of the values are below this one, with a fraction between two values. */
export function rankIn(sorted: readonly number[], value: number): number {
  const below = countUpTo(sorted, value);
  if (below === 0) return 0;
  const [low = value, high] = [sorted[below - 1], sorted[below]];
  const part = high === undefined ? 0.5 : high > low ? (value - low) / (high - low) : 0;
  return below - 0.5 + part;
}

function spaced(from: number, to: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => from + ((to - from) * index) / (count - 1));
}

function cumulative(weights: readonly number[]): readonly number[] {
  let total = 0;
  return weights.map((weight) => {
    total += weight;
    return total;
  });
}

/** The place of a share of the whole in cumulative weights. */
function placeIn(cumulated: readonly number[], share: number): number {
  const wanted = share * (cumulated.at(-1) ?? 0);
  const index = Math.min(cumulated.length - 1, countUpTo(cumulated, wanted));
  const before = cumulated[index - 1] ?? 0;
  const weight = (cumulated[index] ?? 0) - before;
  return index + (weight > 0 ? (wanted - before) / weight - 0.5 : 0);
}
