/** Computes matches: for each trace and price of waiting, the autoscaler's figures beside its peers'. */
import { meanOf } from '../../../lambda/decision/model/collections.ts';
import type { PolicySettings } from '../policies/policy.ts';
import type { Figures } from '../replay/result.ts';
import { BacktestError } from '../trace/backtest-error.ts';
import { OURS, type PolicyComparison, type PolicyResult, type TraceComparison } from './policy-comparison.ts';

const FIGURES = {
  hours: ({ tasks }) => tasks.hours,
  meanWaitS: ({ waitOfPeople }) => waitOfPeople.meanS,
  p95WaitS: ({ waitOfPeople }) => waitOfPeople.p95S,
  killed: ({ jobs }) => jobs.killed,
  /** Jobs that coderd failed after 30 minutes, or that had not finished at the end. */
  lost: ({ jobs }) => jobs.reaped + jobs.unserved,
  failedPrebuilds: (figures) => figures.failedPrebuilds,
  launches: ({ tasks }) => tasks.launches,
  /** Transitions that came later than `wake.maxDelay`. */
  tooLate: ({ executor }) => executor.tooLate,
  longestStopDelayS: ({ executor }) => executor.longestStopDelayS,
} satisfies Readonly<Record<string, (figures: Figures) => number>>;

/** One policy at one price of waiting. If it ran several times, all figures are means. */
export type Standing = Readonly<Record<keyof typeof FIGURES, number>> & {
  readonly policy: string;
  readonly settings: PolicySettings;
  /** `people`: minutes of waiting people and of failed jobs, times the price. */
  readonly dollars: { readonly tasks: number; readonly people: number; readonly total: number };
  /** Share of launches whose daemon never had a job, 0 to 1. */
  readonly idleShare: number;
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
  const means = Object.entries(FIGURES).map(([name, of]) => [name, mean(of)]);
  const figures = Object.fromEntries(means) as Record<keyof typeof FIGURES, number>;
  const idle = mean((each) => each.tasks.idleLaunches);
  const idleShare = figures.launches === 0 ? 0 : idle / figures.launches;
  return { policy, settings, dollars: { tasks, people, total: tasks + people }, ...figures, idleShare };
}
