/** What contests say: for each trace and price of waiting, what ours came to beside the cheapest of the others. */
import type { PolicySettings } from '../../backtest/policies/policy.ts';
import type { Figures } from '../../backtest/replay/result.ts';
import { meanOf } from '../../simulator/base/mean.ts';
import { median } from '../shared/statistics.ts';
import { type Entrant, OURS, type PolicyComparison, type Round } from './policy-comparison.ts';

/** One policy at one price of waiting. Where it had several goes, all figures are their means. */
export type Standing = {
  readonly policy: string;
  readonly settings: PolicySettings;
  readonly dollars: {
    readonly tasks: number;
    /** Minutes that people waited, and minutes for what failed, times the price. */
    readonly people: number;
    readonly total: number;
  };
  readonly hours: number;
  /** Of the jobs that people wait for. */
  readonly meanWaitS: number;
  readonly p95WaitS: number;
  readonly killed: number;
  /** Given up after 30 minutes, or not over at the end. */
  readonly lost: number;
  readonly failedPrebuilds: number;
  readonly launches: number;
  /** Of the launches, those whose daemon never had a job: 0 to 1. */
  readonly idleShare: number;
  /** Transitions that came later than `wake.maxDelay`. */
  readonly tooLate: number;
  /** How late the latest autostop, dormancy or deletion was. */
  readonly longestStopDelayS: number;
};

/** One trace at one price of waiting. */
export type Match = {
  readonly scenario: string;
  readonly seed: number;
  readonly days: number;
  readonly jobs: number;
  /** Dollars a minute of a person. */
  readonly value: number;
  /** Our total dollars as a multiple of the cheapest peer's. Below 1: ours is cheaper. */
  readonly ratio: number;
  readonly ours: Standing;
  /** Each with its best settings; the cheapest first. */
  readonly peers: readonly Standing[];
};

export type Overall = {
  readonly worst: Pick<Match, 'scenario' | 'seed' | 'value' | 'ratio'>;
  readonly median: number;
  /** How many matches ours loses, of how many. */
  readonly lost: number;
  readonly matches: number;
};

export function matchesOf({ scenario, days, rounds }: PolicyComparison): readonly Match[] {
  return rounds.flatMap((round) =>
    [...round.ours].map(([value, figures]): Match => {
      const ours = standingOf({ policy: OURS, settings: {}, goes: [figures] }, value);
      const peers = bestPeers(round, value);
      const ratio = ours.dollars.total / (peers[0]?.dollars.total ?? Number.NaN);
      return { scenario, seed: round.seed, days, jobs: round.jobs, value, ratio, ours, peers };
    }),
  );
}

export function overallOf(matches: readonly Match[]): Overall {
  const [worst] = matches.toSorted((a, b) => b.ratio - a.ratio);
  if (worst === undefined) throw new Error('summing up the matches: there are none');
  const { scenario, seed, value, ratio } = worst;
  return {
    worst: { scenario, seed, value, ratio },
    median: median(matches.map((match) => match.ratio)),
    lost: matches.filter((match) => match.ratio > 1).length,
    matches: matches.length,
  };
}

function bestPeers({ peers }: Round, value: number): readonly Standing[] {
  const standings = peers.map((entrant) => standingOf(entrant, value));
  const byPrice = standings.toSorted((a, b) => a.dollars.total - b.dollars.total);
  return [...Map.groupBy(byPrice, ({ policy }) => policy).values()].flatMap(([best]) => best ?? []);
}

/** The figures' dollars of waiting and failures are of a dollar a minute. */
function standingOf({ policy, settings, goes }: Entrant, value: number): Standing {
  const mean = (of: (figures: Figures) => number): number => meanOf(goes.map(of));
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
