/**
 * The rate of unforeseen builds, from the times of earlier ones. Builds can come in batches (a
 * workshop, the plan of an AI agent), so the model is a rate of batches, each with several builds.
 */
import type { EpochMs } from '../model/brands.ts';
import { countUpTo } from '../model/collections.ts';
import { memoized } from '../model/memoize-by-object.ts';
import { type Arrivals, RECENT_MS } from './record.ts';

export type ArrivalRate = Batches & {
  /** Unforeseen builds a minute. */
  readonly perMinute: number;
  /** The expected number of builds that still follow soon in a batch that has just begun. */
  readonly following: number;
  /**
   * The variance of the number of builds in a period, divided by its mean. It is 1 if builds are
   * independent, more if they come in batches.
   */
  readonly dispersion: number;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** With fewer builds in the last day the pool keeps no stock. */
const MIN_BUILDS_A_DAY = 2;
/**
 * The assumed rate if the record has no builds. It must be above 0 because the code divides by it.
 */
const MIN_RATE_A_MINUTE = 1e-9;
/** Builds of earlier days count for the same time of day within this distance, before and after. */
const AROUND_MS = HOUR_MS;
/** The weight of the older record, in batches. */
const PRIOR_BATCHES = 1;
/** The share of the rate at this time of day; the rest is the rate over all hours. */
const DAILY_SHARE = 0.9;

/** The rate if there are no builds. */
const NEVER: ArrivalRate = {
  perMinute: 0,
  dispersion: 1,
  following: 0,
  followers: 0,
  lagMs: 0,
  largest: 0,
};

/** Computes the rate now from the builds of at most the last 7 days. */
export function arrivalRate(arrivals: Omit<Arrivals, 'tags'>, now: EpochMs): ArrivalRate {
  const { times } = arrivals;
  const lastDay = times.findIndex((at) => at < now - DAY_MS);
  const inLastDay = lastDay < 0 ? times.length : lastDay;
  if (inLastDay < MIN_BUILDS_A_DAY) return NEVER;
  const { followers, lagMs, largest } = batchesOf(times);
  const dispersion = 1 + 2 * followers;
  const prior = Math.max(MIN_RATE_A_MINUTE, usualRate(arrivals, now));
  const weight = (PRIOR_BATCHES * dispersion) / prior;
  const recent = RECENT_MS / MINUTE_MS;
  const usual = (weight * prior + recentBuilds(times, now, DAY_MS)) / (weight + recent);
  const perMinute = Math.max(usual, rateSinceStart(arrivals, { now, prior, weight }));
  const sinceLastMs = Math.max(0, now - (times[0] ?? now));
  const following = followers * Math.exp(-sinceLastMs / Math.max(1, 2 * lagMs));
  return { perMinute, dispersion, following, followers, lagMs, largest };
}

/**
 * The rate from the builds since this process began to record; 0 once that is long ago. The record
 * before that is incomplete, so it weighs no more than what this process has seen itself.
 */
function rateSinceStart(
  { times, since }: Omit<Arrivals, 'tags'>,
  { now, prior, weight }: { readonly now: EpochMs; readonly prior: number; readonly weight: number },
): number {
  const watchedMs = Math.max(MINUTE_MS, now - (since ?? 0));
  if (watchedMs >= RECENT_MS) return 0;
  const watched = (RECENT_MS / MINUTE_MS) * (1 - Math.exp(-watchedMs / RECENT_MS));
  const known = recentBuilds(times, now, DAY_MS) / (RECENT_MS / MINUTE_MS);
  const bounded = Math.min(weight, RECENT_MS / MINUTE_MS);
  return (bounded * Math.max(prior, known) + recentBuilds(times, now, watchedMs)) / (bounded + watched);
}

/** Counts the builds of a period. Older builds count less. */
function recentBuilds(times: readonly EpochMs[], now: EpochMs, spanMs: number): number {
  let sum = 0;
  for (const at of times) {
    const age = Math.max(0, now - at);
    if (age > Math.min(spanMs, 6 * RECENT_MS)) break;
    sum += Math.exp(-age / RECENT_MS);
  }
  return sum;
}

/**
 * Builds a minute at this time of day, as far as the record reaches, mixed with a small share of
 * the rate over all hours.
 */
function usualRate({ times, cutOffAt, since }: Omit<Arrivals, 'tags'>, now: EpochMs): number {
  const oldest = Math.max(cutOffAt ?? 0, times.at(-1) ?? now);
  const reachMs = cutOffAt === undefined ? Math.max(DAY_MS, now - oldest) : Math.max(HOUR_MS, now - oldest);
  const watchedMs = Math.min(reachMs, now - (since ?? now));
  let all = 0;
  let watched = 0;
  let atSameTime = 0;
  for (const at of times) {
    if (at < oldest) break;
    all++;
    const age = now - at;
    if (age <= watchedMs) watched++;
    const fromSameTime = Math.abs(age - Math.round(age / DAY_MS) * DAY_MS);
    if (age > DAY_MS / 2 && fromSameTime <= AROUND_MS) atSameTime++;
  }
  // the record before the start of this process is incomplete
  const anyTime = Math.max(
    all / (reachMs / MINUTE_MS),
    watchedMs < RECENT_MS ? 0 : watched / (watchedMs / MINUTE_MS),
  );
  const days = Math.floor((reachMs + AROUND_MS) / DAY_MS);
  if (days === 0) return anyTime;
  const daily = atSameTime / ((days * 2 * AROUND_MS) / MINUTE_MS);
  return DAILY_SHARE * daily + (1 - DAILY_SHARE) * anyTime;
}

/** Most builds of one batch come within this time of each other. */
const BATCH_MS = 75_000;
/** A high rate that lasts longer than this is not a batch. */
const AROUND_BATCH_MS = 30 * MINUTE_MS;

export type Batches = {
  /** How many builds follow a build in the same batch, on average. */
  readonly followers: number;
  /** The mean time from a build to its followers, in milliseconds. */
  readonly lagMs: number;
  /** The largest number of builds within 75 s. */
  readonly largest: number;
};

/**
 * Estimates batches from the builds that follow each build closely, minus those that the rate
 * around it explains.
 */
const batchesOf = memoized((times: readonly EpochMs[]): Batches => {
  const none = { followers: 0, lagMs: 0, largest: 0 };
  if (times.length < 4) return none;
  const sorted = times.toReversed();
  const countIn = (from: number, to: number): number => countUpTo(sorted, to) - countUpTo(sorted, from - 1);
  let count = 0;
  let largest = 0;
  let lag = 0;
  let expected = 0;
  sorted.forEach((at, index) => {
    for (let next = index + 1; (sorted[next] ?? Number.POSITIVE_INFINITY) <= at + BATCH_MS; next++) {
      count++;
      lag += (sorted[next] ?? 0) - at;
    }
    largest = Math.max(largest, countIn(at, at + BATCH_MS));
    const around =
      countIn(at - AROUND_BATCH_MS, at - 2 * BATCH_MS) + countIn(at + 2 * BATCH_MS, at + AROUND_BATCH_MS);
    expected += around * (BATCH_MS / (2 * (AROUND_BATCH_MS - 2 * BATCH_MS)));
  });
  const excess = count - expected;
  if (excess <= 0) return none;
  const lagMs = (lag - (expected * BATCH_MS) / 2) / excess;
  return {
    followers: excess / times.length,
    lagMs: Math.min(BATCH_MS / 2, Math.max(0, lagMs)),
    largest,
  };
});
