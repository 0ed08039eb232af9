/**
 * How long a build takes, from the record of similar builds.
 *
 * Builds that are submitted together are often alike: a batch of starts, or a template that has
 * become slow. The record says how much: the covariance of builds that came within a minute. That
 * part of the spread is the same for all builds of a scenario.
 */
import { MIN_SAMPLES } from '../demand/ending.ts';
import { deriveRecord, tookMsOf } from '../demand/record.ts';
import { meanOf, sum } from '../model/collections.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Job, OrganizationReadings } from '../model/snapshot.ts';
import { OWN_SHAPE_FROM, quantileOf, rankIn, shapeOf, valueAt } from './start-phase.ts';
import { transitionsIn } from './transition-of.ts';

export type BuildTimes = {
  /** Milliseconds, the shortest first. */
  readonly durations: readonly number[];
  /** The mean of their logarithms. */
  readonly mean: number;
  /** The standard deviation that all builds of a scenario have in common. */
  readonly common: number;
  /** The share of a build's own deviation that remains, 0 to 1. */
  readonly own: number;
};

const TOGETHER_MS = 60_000;

/** A build like none that is known takes a half to twice as long as the organization's builds do. */
const UNLIKE_OTHERS = Math.log(2);

/** Makes a function that finds the times of builds like a job. Undefined: hardly any build is known. */
export function buildTimesIn(organization: OrganizationReadings): (job: Job) => BuildTimes | undefined {
  const { durationsOf } = deriveRecord(organization);
  const transitionOf = transitionsIn(organization);
  const covariances = covariancesIn(organization);
  const known = new Map<readonly number[], BuildTimes>();
  return (job) => {
    const transition = transitionOf(job);
    const alike = durationsOf({
      ...job,
      metadata: { ...job.metadata, workspace_build_transition: transition },
    });
    const isAlike = alike.length > 0;
    const durations = isAlike ? alike : allDurations(organization.recentJobs?.items ?? NONE);
    if (durations.length < MIN_SAMPLES) return undefined;
    const found = known.get(durations) ?? timesOf(durations, covariances.get(durations) ?? 0, !isAlike);
    known.set(durations, found);
    return found;
  };
}

const NONE: readonly Job[] = [];

const allDurations = memoized((jobs: readonly Job[]) =>
  finished(jobs)
    .map(tookMsOf)
    .sort((a, b) => a - b),
);

const finished = (jobs: readonly Job[]): readonly Job[] => jobs.filter((job) => tookMsOf(job) > 0);

/** `areUnlike`: of builds that may differ from the one in question. */
export function timesOf(durations: readonly number[], covariance: number, areUnlike = false): BuildTimes {
  const logs = durations.map(logOf);
  const mean = meanOf(logs);
  const variance = sum(logs, (log) => (log - mean) ** 2) / Math.max(1, logs.length - 1);
  const shared = Math.min(variance, Math.max(0, covariance));
  return {
    durations: withTails(durations),
    mean,
    // plus what so few builds leave open about their mean
    common: Math.sqrt(shared + variance / logs.length + (areUnlike ? UNLIKE_OTHERS ** 2 : 0)),
    own: variance === 0 ? 1 : Math.sqrt(1 - shared / variance),
  };
}

/**
 * The durations, with the tails that so few of them cannot show: five builds show neither the
 * shortest nor the longest twentieth.
 */
export function withTails(durations: readonly number[]): readonly number[] {
  const count = durations.length;
  if (count >= OWN_SHAPE_FROM) return durations;
  const logs = durations.map(logOf);
  const mean = meanOf(logs);
  const squares = sum(logs, (log) => (log - mean) ** 2);
  const deviation = Math.sqrt(squares / (count - 1)) * Math.sqrt((count + 1) / (count - 1));
  return shapeOf(logs, { mean, squares }).map((value) => Math.exp(mean + deviation * value));
}

const logOf = (ms: number): number => Math.log(Math.max(1, ms));

/** The covariance of the logarithms of durations, over pairs of similar builds that came together. */
function covariancesIn(organization: OrganizationReadings): ReadonlyMap<readonly number[], number> {
  const { durationsOf } = deriveRecord(organization);
  const alike = Map.groupBy(finished(organization.recentJobs?.items ?? NONE), (job) => durationsOf(job));
  return new Map([...alike].map(([durations, jobs]) => [durations, covarianceOf(jobs)]));
}

/** `jobs`: the newest first. */
function covarianceOf(jobs: readonly Job[]): number {
  const logs = jobs.map((job) => logOf(tookMsOf(job)));
  const mean = meanOf(logs);
  const products = jobs.flatMap((job, index) => {
    const next = jobs[index + 1];
    if (next === undefined || Math.abs(job.created_at - next.created_at) > TOGETHER_MS) return [];
    return [((logs[index] ?? mean) - mean) * ((logs[index + 1] ?? mean) - mean)];
  });
  return meanOf(products);
}

/** The factor that all builds of a scenario have in common, from a standard normal number. */
export function factorOf({ mean, common, own }: BuildTimes, normal: number): number {
  return Math.exp(mean * (1 - own) + common * normal);
}

/** The rest of a build of this age, in milliseconds. `number`: between 0 and 1. */
export function buildRestOf(
  { durations, own }: BuildTimes,
  { factor, ageMs, number }: { readonly factor: number; readonly ageMs: number; readonly number: number },
): number {
  if (ageMs <= 0) return factor * quantileOf(durations, number) ** own;
  const rank = own === 0 ? 0 : rankIn(durations, (ageMs / factor) ** (1 / own));
  const left = durations.length - rank;
  // older than all builds that are known: it may take as long again
  if (left < 0.5) return -Math.log(1 - number) * ageMs;
  const place = rank + number * left - 0.5;
  return Math.max(0, factor * valueAt(durations, place) ** own - ageMs);
}
