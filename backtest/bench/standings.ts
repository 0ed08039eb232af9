/** Computes matches: for each trace and price of waiting, the autoscaler's figures beside its peers'. */

import { meanOf } from '../../lambda/decision/model/collections.ts';
import type { PolicySettings } from '../policies/policy.ts';
import type { Figures } from '../replay/result.ts';
import { BacktestError } from '../trace/backtest-error.ts';
import { OURS, type PolicyComparison, type PolicyResult, type TraceComparison } from './policy-comparison.ts';

/** One policy at one price of waiting. If it ran several times, all figures are means. */
export type Standing = {
  readonly policy: string;
  readonly settings: PolicySettings;
  readonly dollars: {
    readonly tasks: number;
    /** Minutes of waiting people and of failed jobs, times the price. */
    readonly people: number;
    readonly total: number;
  };
  readonly hours: number;
  /** The wait of jobs that people wait for. */
  readonly meanWaitS: number;
  readonly p95WaitS: number;
  readonly killed: number;
  /** Jobs that coderd failed after 30 minutes, or that had not finished at the end. */
  readonly lost: number;
  readonly failedPrebuilds: number;
  readonly launches: number;
  /** Share of launches whose daemon never had a job, 0 to 1. */
  readonly idleShare: number;
  /** Transitions that came later than `wake.maxDelay`. */
  readonly tooLate: number;
  /** Longest delay of an autostop, dormancy or deletion. */
  readonly longestStopDelayS: number;
};

export type Match = {
  readonly scenario: string;
  readonly seed: number;
  readonly days: number;
  readonly jobs: number;
  /** Dollars for each minute of a person. */
  readonly value: number;
  /** Total dollars of the autoscaler by those of the cheapest peer. Below 1: the autoscaler is cheaper. */
  readonly ratio: number;
  readonly ours: Standing;
  /** Each with its best settings, cheapest first. */
  readonly peers: readonly Standing[];
};

export type Overall = {
  readonly worst: Pick<Match, 'scenario' | 'seed' | 'value' | 'ratio'>;
  readonly median: number;
  /** Number of matches in which the autoscaler costs more. */
  readonly lost: number;
  readonly matches: number;
};

export function matchesOf({ scenario, days, traces }: PolicyComparison): readonly Match[] {
  return traces.flatMap((trace) =>
    [...trace.ours].map(([value, figures]): Match => {
      const ours = standingOf({ policy: OURS, settings: {}, repeats: [figures] }, value);
      const peers = bestPeers(trace, value);
      const ratio = ours.dollars.total / (peers[0]?.dollars.total ?? Number.NaN);
      return { scenario, seed: trace.seed, days, jobs: trace.jobs, value, ratio, ours, peers };
    }),
  );
}

/** Throws BacktestError without matches. */
export function overallOf(matches: readonly Match[]): Overall {
  const [worst] = matches.toSorted((a, b) => b.ratio - a.ratio);
  if (worst === undefined)
    throw new BacktestError('summing up the matches: there are none; run at least one scenario');
  const { scenario, seed, value, ratio } = worst;
  return {
    worst: { scenario, seed, value, ratio },
    median: median(matches.map((match) => match.ratio)),
    lost: matches.filter((match) => match.ratio > 1).length,
    matches: matches.length,
  };
}

/** With an even number of values, the mean of the middle two. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  return meanOf([Math.floor(half), Math.ceil(half)].flatMap((index) => sorted[index] ?? []));
}

function bestPeers({ peers }: TraceComparison, value: number): readonly Standing[] {
  const standings = peers.map((result) => standingOf(result, value));
  const byPrice = standings.toSorted((a, b) => a.dollars.total - b.dollars.total);
  return [...Map.groupBy(byPrice, ({ policy }) => policy).values()].flatMap(([best]) => best ?? []);
}

/** The dollars of waiting and failures in `repeats` are at one dollar a minute. */
function standingOf({ policy, settings, repeats }: PolicyResult, value: number): Standing {
  const mean = (of: (figures: Figures) => number): number => meanOf(repeats.map(of));
  const tasks = mean(({ dollars }) => dollars.tasks);
  const people = value * mean(({ dollars }) => dollars.waiting + dollars.failures);
  const launches = mean((figures) => figures.tasks.launches);
  return {
    ...{ policy, settings, dollars: { tasks, people, total: tasks + people } },
    hours: mean((figures) => figures.tasks.hours),
    meanWaitS: mean(({ waitOfPeople }) => waitOfPeople.meanS),
    p95WaitS: mean(({ waitOfPeople }) => waitOfPeople.p95S),
    killed: mean(({ jobs }) => jobs.killed),
    lost: mean(({ jobs }) => jobs.reaped + jobs.unserved),
    failedPrebuilds: mean((figures) => figures.failedPrebuilds),
    launches,
    idleShare: launches === 0 ? 0 : mean((figures) => figures.tasks.idleLaunches) / launches,
    tooLate: mean(({ executor }) => executor.tooLate),
    longestStopDelayS: mean(({ executor }) => executor.longestStopDelayS),
  };
}
