/** What contests say: ratios within one trace, then the middle and the range over traces. */
import type { PolicySettings } from '../../lab/backtest/policy.ts';
import type { Figures } from '../../lab/backtest/result.ts';
import { median } from '../statistics.ts';
import { type Contest, type Contestant, OURS, type Round, TRAINING_SEED } from './contest.ts';

/** Over the traces of a scenario. */
export type Range = { readonly median: number; readonly least: number; readonly most: number };

export type Standing = {
  readonly policy: string;
  readonly settings: PolicySettings;
  /** Dollars of tasks, waiting and failures: as a multiple of the autoscaler's on the same trace. Below 1: better than ours. */
  readonly totalToOurs: Range;
  /** As multiples of the clairvoyant's. */
  readonly hoursToClairvoyant: Range;
  readonly taskDollarsToClairvoyant: Range;
  /** Of the jobs that people wait for. */
  readonly p95WaitS: Range;
  readonly meanWaitS: Range;
  readonly killed: Range;
  /** Given up after 30 min, or not over at the end. */
  readonly lost: Range;
  readonly totalDollars: Range;
};

export type ScenarioStandings = {
  readonly scenario: string;
  readonly days: number;
  readonly jobs: Range;
  readonly trainingSeed: number;
  /** The autoscaler is the first. */
  readonly standings: readonly Standing[];
};

/** Over scenarios: geometric means of the medians. */
export type Overall = {
  readonly policy: string;
  readonly totalToOurs: number;
  readonly taskDollarsToClairvoyant: number;
  /** Scenarios in which it is better than ours, by the median of `totalToOurs`. */
  readonly betterIn: readonly string[];
};

export function standingsOf({ scenario, days, contestants, rounds }: Contest): ScenarioStandings {
  return {
    ...{ scenario, days, trainingSeed: TRAINING_SEED },
    jobs: rangeOf(rounds.map(({ jobs }) => jobs)),
    standings: contestants.map((contestant) => standingOf(contestant, rounds)),
  };
}

export function overallOf(scenarios: readonly ScenarioStandings[]): readonly Overall[] {
  const all = scenarios.flatMap(({ scenario, standings }) =>
    standings.map((standing) => ({ scenario, ...standing })),
  );
  return [...Map.groupBy(all, ({ policy }) => policy)].map(([policy, of]) => ({
    policy,
    totalToOurs: geometricMean(of.map(({ totalToOurs }) => totalToOurs.median)),
    taskDollarsToClairvoyant: geometricMean(of.map((each) => each.taskDollarsToClairvoyant.median)),
    betterIn: of.filter(({ totalToOurs }) => totalToOurs.median < 1).map(({ scenario }) => scenario),
  }));
}

function standingOf({ name, settings }: Contestant, rounds: readonly Round[]): Standing {
  const over = (value: (figures: Figures, round: Round) => number): Range =>
    rangeOf(rounds.map((round) => value(figuresOf(round, name), round)));
  return {
    ...{ policy: name, settings },
    totalToOurs: over(({ dollars }, round) => dollars.total / figuresOf(round, OURS).dollars.total),
    hoursToClairvoyant: over(({ tasks }, { clairvoyant }) => tasks.hours / clairvoyant.hours),
    taskDollarsToClairvoyant: over(({ dollars }, { clairvoyant }) => dollars.tasks / clairvoyant.dollars),
    p95WaitS: over(({ waitOfPeople }) => waitOfPeople.p95S),
    meanWaitS: over(({ waitOfPeople }) => waitOfPeople.meanS),
    killed: over(({ jobs }) => jobs.killed),
    lost: over(({ jobs }) => jobs.reaped + jobs.unserved),
    totalDollars: over(({ dollars }) => dollars.total),
  };
}

function figuresOf({ figures, seed }: Round, name: string): Figures {
  const found = figures[name];
  if (found === undefined) throw new Error(`summing up seed ${seed}: "${name}" was not run`);
  return found;
}

function rangeOf(values: readonly number[]): Range {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
