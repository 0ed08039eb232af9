import { describe, expect, test } from 'vitest';
import { type Contest, holdContest, TRAINING_SEED } from '../../bench/policies/contest.ts';
import { standingsText } from '../../bench/policies/show.ts';
import { overallOf, standingsOf } from '../../bench/policies/standings.ts';
import { type Crew, type Order, runOrder, startCrew } from '../../lab/backtest/crew.ts';
import type { Bound, Figures } from '../../lab/backtest/result.ts';
import type { Run } from '../../lab/backtest/run.ts';
import { SMALL_TEAM } from '../../lab/scenarios/special.ts';

const WAIT = { jobs: 1, meanS: 0, p50S: 0, p95S: 0, p99S: 0, maxS: 0, over10s: 0, over60s: 0, over5min: 0 };

type Sketch = { readonly total: number; readonly hours: number; readonly p95S: number };

function figures({ total, hours, p95S }: Sketch): Figures {
  const wait = { ...WAIT, p95S, meanS: p95S / 2 };
  return {
    jobs: { submitted: 4, succeeded: 1, reaped: 1, killed: 1, unserved: 1 },
    ...{ wait: WAIT, waitOfPeople: wait, waitByPool: {}, waitByGroup: {}, waitByKind: {} },
    executor: { due: 0, delayed: 0 },
    tasks: { hours, busyHours: 1, peak: 1, launches: 1, idleLaunches: 0 },
    dollars: { tasks: hours / 10, waiting: 0, failures: 0, total },
    calls: { ticks: 0, coderd: 0, ecs: 0 },
  };
}

const clairvoyant: Bound = {
  ...{ bound: 'clairvoyant', title: 'clairvoyant', meaning: '', hours: 10, dollars: 2 },
  ...{ launches: 1, meanWaitS: 0 },
};

/** Three traces; ours and one other: total dollars, task-hours, p95 wait. */
const contest = (scenario: string, other: number): Contest => ({
  ...{ scenario, days: 2 },
  contestants: [
    { name: 'autoscaler', settings: {} },
    { name: 'keda tuned', settings: { target: 1, minPercent: 5 } },
  ],
  rounds: [1, 2, 3].map((seed) => ({
    ...{ seed, jobs: 100 * seed, clairvoyant },
    figures: {
      autoscaler: figures({ total: 10 * seed, hours: 30, p95S: 40 }),
      // ratios of one trace: 1, 2, and 3 times `other`
      'keda tuned': figures({ total: 10 * seed * seed * other, hours: 20 * seed, p95S: 10 }),
    },
  })),
});

describe('standings', () => {
  test('are ratios within a trace, then the median and the range over traces', () => {
    const { jobs, standings } = standingsOf(contest('week', 0.25));
    expect(jobs).toEqual({ median: 200, least: 100, most: 300 });
    expect(standings).toMatchObject([
      { policy: 'autoscaler', totalToOurs: ONE, hoursToClairvoyant: { median: 3 } },
      {
        policy: 'keda tuned',
        totalToOurs: { median: 0.5, least: 0.25, most: 0.75 },
        hoursToClairvoyant: { median: 4, least: 2, most: 6 },
        // a tenth of a dollar an hour: 2, 4 and 6 dollars; the clairvoyant pays 2
        taskDollarsToClairvoyant: { median: 2, least: 1, most: 3 },
        p95WaitS: { median: 10 },
        meanWaitS: { median: 5 },
        killed: { median: 1 },
        lost: { median: 2 },
      },
    ]);
  });

  test('over scenarios they are geometric means, and say in which one is beaten', () => {
    const overall = overallOf([standingsOf(contest('won', 1)), standingsOf(contest('lost', 0.25))]);
    expect(overall).toMatchObject([
      { policy: 'autoscaler', totalToOurs: 1, betterIn: [] },
      { policy: 'keda tuned', betterIn: ['lost'] },
    ]);
    // of 2 and 0.5
    expect(overall[1]?.totalToOurs).toBeCloseTo(1, 12);
  });

  test('as text they say where ours loses, and to whom', () => {
    const scenarios = [standingsOf(contest('won', 1)), standingsOf(contest('lost', 0.25))];
    const given = { valueOfMinute: 1, region: 'us-east-1', seeds: 3 };
    const shown = standingsText({ ...given, scenarios, overall: overallOf(scenarios) }).split('\n');
    expect(shown).toContain('keda tuned: target 1, minPercent 5');
    expect(shown.slice(shown.indexOf('  all dollars, as a multiple of ours'))).toEqual([
      '  all dollars, as a multiple of ours',
      '    lost: autoscaler 1.00, keda tuned 0.50',
      "  dollars of tasks, as a multiple of the clairvoyant's: nowhere",
      '  p95 wait of people, seconds',
      '    won: autoscaler 40.00, keda tuned 10.00',
      '    lost: autoscaler 40.00, keda tuned 10.00',
      '  mean wait of people, seconds',
      '    won: autoscaler 20.00, keda tuned 5.00',
      '    lost: autoscaler 20.00, keda tuned 5.00',
    ]);
  });
});

describe('a contest', () => {
  const options = { seeds: [1, 2], days: 1, valueOfMinute: 1, region: 'us-east-1', onProgress: () => {} };

  test('tunes the others on the training trace alone, and runs them on the others', async () => {
    const orders: Order[] = [];
    const { contestants, rounds } = await holdContest(SMALL_TEAM, { ...options, crew: fakeCrew(orders) });
    const names = contestants.map(({ name }) => name);
    expect(names).toEqual(['autoscaler', 'static', 'static tuned', 'keda tuned', 'agent-scaler tuned']);
    expect(rounds.map(({ seed, figures }) => [seed, Object.keys(figures).sort()])).toEqual([
      [1, names.toSorted()],
      [2, names.toSorted()],
    ]);
    // the fake crew makes half a fleet the best of all on the training trace, and the worst on the others
    expect(contestants[2]).toEqual({ name: 'static tuned', settings: { share: 0.5 } });
    const run = orders.filter(({ seed, driver }) => seed !== TRAINING_SEED && driver.policy === 'static');
    const shares = run.map(({ driver }) => ('settings' in driver ? driver.settings.share : undefined));
    expect(shares.toSorted()).toEqual([0.5, 0.5, 1, 1]);
  });

  test('runs worlds: the same on one thread as in this one', async () => {
    const crew = startCrew(1);
    const [threaded, here] = await Promise.all([
      holdContest(SMALL_TEAM, { ...options, seeds: [1], crew }),
      holdContest(SMALL_TEAM, { ...options, seeds: [1], crew: { run: runHere, close: async () => {} } }),
    ]);
    await crew.close();
    expect(threaded).toEqual(here);
    expect(threaded.rounds[0]?.figures.autoscaler?.jobs.submitted).toBe(threaded.rounds[0]?.jobs);
  });
});

const ONE = { median: 1, least: 1, most: 1 };

const runHere: Crew['run'] = (order) => runOrder(order, () => {});

/** Remembers its orders, and answers with what the settings are worth to it. */
function fakeCrew(orders: Order[]): Crew {
  return {
    run: async (order) => {
      orders.push(order);
      const { driver, seed } = order;
      const isHalf = 'settings' in driver && driver.settings.share === 0.5;
      const total = isHalf === (seed === TRAINING_SEED) ? 1 : 2;
      const run: Run = {
        figures: figures({ total, hours: 1, p95S: 1 }),
        ...{ waitCounts: [], hoursOfWeek: { jobs: [], meanWaitS: [] }, pools: [] },
      };
      return run;
    },
    close: async () => {},
  };
}
