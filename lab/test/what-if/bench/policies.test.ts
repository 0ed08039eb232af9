import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownFolder } from '../../../../test/support/own-folder.ts';
import { benchText } from '../../../what-if/bench/policies-text.ts';
import {
  comparePolicies,
  type PolicyComparison,
  scenarioSubject,
  traceSubject,
} from '../../../what-if/bench/policy-comparison.ts';
import { matchesOf, overallOf } from '../../../what-if/bench/standings.ts';
import { BASELINES } from '../../../what-if/policies/index.ts';
import type { Figures } from '../../../what-if/replay/result.ts';
import type { Run } from '../../../what-if/replay/run.ts';
import { SMALL_TEAM } from '../../../what-if/scenarios/special.ts';
import { runsOf } from '../../../what-if/search/search.ts';
import type { Order, WorkerPool } from '../../../what-if/search/worker-pool.ts';
import { writeTrace } from '../../../what-if/trace/write.ts';

const WAIT = {
  jobs: 1,
  meanS: 0,
  p50S: 0,
  p90S: 0,
  p95S: 0,
  p99S: 0,
  maxS: 0,
  over10s: 0,
  over60s: 0,
  over5min: 0,
};

/** Dollars of tasks, and minutes of waiting people. */
type Sketch = { readonly tasks: number; readonly minutes: number };

function figures({ tasks, minutes }: Sketch): Figures {
  const wait = { ...WAIT, p95S: minutes * 2, meanS: minutes };
  return {
    jobs: { submitted: 4, succeeded: 1, reaped: 1, killed: 1, unserved: 1 },
    ...{ wait: WAIT, waitOfPeople: wait, waitByPool: {}, waitByKind: {} },
    ...{ waitByGroup: {}, waitOfPeopleByGroup: {} },
    failedPrebuilds: 0,
    executor: { due: 3, delayed: 2, tooLate: 1, longestStopDelayS: 240 },
    tasks: { hours: 10 * tasks, busyHours: 1, peak: 1, launches: 4, idleLaunches: 1, byPool: {} },
    peaks: { all: 1, byPool: {} },
    dollars: { tasks, waiting: minutes - 1, failures: 1, total: tasks + minutes },
    calls: { ticks: 0, coderd: 0, ecs: 0 },
  };
}

/** A comparison with two peers: one is cheap and slow, the other expensive and fast. */
const comparison = (scenario: string, minutes: number): PolicyComparison => ({
  ...{ scenario, days: 2 },
  traces: [
    {
      ...{ seed: 1, jobs: 100 },
      peers: [
        { policy: 'keda', settings: { target: 1 }, repeats: [figures({ tasks: 1, minutes: 40 })] },
        {
          policy: 'keda',
          settings: { target: 2 },
          repeats: [figures({ tasks: 1, minutes: 10 }), figures({ tasks: 3, minutes: 30 })],
        },
        { policy: 'static', settings: { share: 1 }, repeats: [figures({ tasks: 10, minutes: 2 })] },
      ],
      ours: new Map([0.1, 1].map((value) => [value, figures({ tasks: 1, minutes })])),
    },
  ],
});

describe('matchesOf', () => {
  it('takes the best settings of each peer at each price, and the mean of its runs', () => {
    const [low, high] = matchesOf(comparison('week', 10));
    expect(low?.peers).toMatchObject([
      // 2 + 0.1 x 20, while target 1 costs 1 + 0.1 x 40
      { policy: 'keda', settings: { target: 2 }, dollars: { tasks: 2, people: 2, total: 4 }, meanWaitS: 20 },
      { policy: 'static', dollars: { total: 10.2 } },
    ]);
    expect(high?.peers.map(({ policy, dollars }) => [policy, dollars.total])).toEqual([
      ['static', 12],
      ['keda', 22],
    ]);
  });

  it('divides the total dollars of the autoscaler by those of the cheapest peer', () => {
    const [low, high] = matchesOf(comparison('week', 10));
    expect([low?.value, low?.ours.dollars.total, low?.ratio]).toEqual([0.1, 2, 0.5]);
    expect([high?.value, high?.ours.dollars.total, high?.ratio]).toEqual([1, 11, 11 / 12]);
    expect(low?.ours).toMatchObject({
      policy: 'autoscaler',
      idleShare: 0.25,
      killed: 1,
      lost: 2,
      tooLate: 1,
    });
  });

  it('gives overallOf a worst and a median ratio over all scenarios', () => {
    const matches = [...matchesOf(comparison('won', 10)), ...matchesOf(comparison('lost', 35))];
    expect(overallOf(matches)).toEqual({
      worst: { scenario: 'lost', seed: 1, value: 1, ratio: 3 },
      // 0.5, 0.92, 1.125 and 3
      median: (11 / 12 + 4.5 / 4) / 2,
      ...{ lost: 2, matches: 4 },
    });
  });

  it('gives benchText the prices, the cheapest peer and its settings', () => {
    const matches = [...matchesOf(comparison('won', 10)), ...matchesOf(comparison('lost', 35))];
    const given = { region: 'us-east-1', values: [0.1, 1], matches, overall: overallOf(matches) };
    const shown = benchText(given).split('\n');
    expect(shown).toContain('won: 2 days, 100 jobs, seed 1');
    expect(shown).toContain('at $0.10: keda with target 2');
    expect(shown).toContain('at $1.00: static with share 1');
    expect(shown.slice(-7)).toEqual([
      'ratio to the cheapest peer  at $0.10  at $1.00',
      'won, seed 1                     0.50      0.92',
      'lost, seed 1                    1.13      3.00',
      '',
      'worst ratio   3.00 (lost, seed 1, at $1.00)',
      'median ratio  1.02',
      'the autoscaler costs more than the cheapest peer in 2 of 4 matches',
    ]);
  });
});

describe('comparePolicies', () => {
  const options = {
    ...{ seeds: [1, 2], values: [0.02, 1], region: 'us-east-1' },
  };
  const subject = scenarioSubject(SMALL_TEAM, 1);

  it('runs each point of each grid on the trace, and the autoscaler once for each price', async () => {
    const orders: Order[] = [];
    const { traces } = await comparePolicies(subject, { ...options, workerPool: fakeWorkerPool(orders) });
    expect(traces.map(({ seed }) => seed)).toEqual([1, 2]);
    const config = orders[0]?.config;
    if (config === undefined) throw new Error('nothing was run');
    const runs = BASELINES.reduce((sum, policy) => sum + runsOf(policy, policy.grid(config)), 0);
    expect(orders).toHaveLength(2 * (runs + 2));
    for (const { ours, peers } of traces) {
      expect([...ours.keys()]).toEqual([0.02, 1]);
      expect(new Set(peers.map(({ policy }) => policy))).toEqual(new Set(['static', 'keda', 'agent-scaler']));
    }
  });

  it('gives the autoscaler the price of waiting and changes nothing else', async () => {
    const orders: Order[] = [];
    await comparePolicies(subject, { ...options, seeds: [1], workerPool: fakeWorkerPool(orders) });
    const peer = orders.find(({ driver }) => driver.policy === 'static');
    const ours = orders.filter(({ driver }) => driver.policy === 'autoscaler');
    expect(ours.map(({ config }) => config.pools.map(({ waiting }) => waiting))).toEqual([
      [{ person: 0.02, autostart: 0.02, prebuild: 0.001, stop: expect.closeTo(0.0002, 12) }],
      [{ person: 1, autostart: 1, prebuild: expect.closeTo(0.05, 12), stop: expect.closeTo(0.01, 12) }],
    ]);
    for (const { config, seed, trace } of ours) {
      const pools = config.pools.map((pool, index) => ({
        ...pool,
        waiting: peer?.config.pools[index]?.waiting,
      }));
      expect({ ...config, pools }).toEqual(peer?.config);
      expect([seed, trace]).toEqual([peer?.seed, peer?.trace]);
    }
  });

  it('gives all policies the cost of a launch', async () => {
    const orders: Order[] = [];
    await comparePolicies(subject, { ...options, launch: 0.0135, workerPool: fakeWorkerPool(orders) });
    const costs = orders.flatMap(({ config }) => config.pools.map((pool) => pool.dollarsPerLaunch));
    expect(new Set(costs)).toEqual(new Set([0.0135]));
  });

  it('runs a trace file on one pool of up to 100 tasks', async () => {
    const file = join(ownFolder(), 'log.jsonl');
    writeFileSync(file, [...writeTrace({ ...subject.traceOf(1), name: 'log' })].join(''));
    const orders: Order[] = [];
    const { scenario, days, traces } = await comparePolicies(traceSubject(file), {
      ...{ ...options, workerPool: fakeWorkerPool(orders) },
    });
    expect({ scenario, days, seeds: traces.map(({ seed }) => seed) }).toEqual({
      ...{ scenario: 'log', days: 1, seeds: [1, 2] },
    });
    for (const { trace, config } of orders) {
      expect(trace.jobs).toEqual(subject.traceOf(1).jobs);
      expect(config.pools.map(({ max }) => max)).toEqual([100]);
    }
  });
});

/** Records its orders, and gives the same answer to all of them. */
function fakeWorkerPool(orders: Order[]): WorkerPool {
  return {
    run: async (order) => {
      orders.push(order);
      const run: Run = {
        figures: figures({ tasks: 1, minutes: 1 }),
        days: [],
        ...{ waitCounts: [], hoursOfWeek: { jobs: [], meanWaitS: [] }, pools: [] },
        hoursOfWeekUtc: { jobs: [], meanWaitS: [] },
      };
      return run;
    },
    close: async () => {},
  };
}

it('names the scenarios in the help', () => {
  const help = execFileSync(process.execPath, ['lab/what-if/bench/policies.ts', '--help'], {
    encoding: 'utf8',
  });
  expect(help.replaceAll(/\s+/g, ' ')).toContain('(default: small-team,1k-users,');
  expect(help).not.toContain('{');
});
