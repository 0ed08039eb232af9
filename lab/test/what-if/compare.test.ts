import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { AGENT_SCALER } from '../../what-if/policies/by-queue.ts';
import { STATIC_FLEET } from '../../what-if/policies/static-fleet.ts';
import { dollarsPerHour } from '../../what-if/replay/prices.ts';
import type { Run } from '../../what-if/replay/run.ts';
import { type CompareOptions, compare } from '../../what-if/search/compare.ts';
import { cheapestOf } from '../../what-if/search/search.ts';
import type { Order, WorkerPool } from '../../what-if/search/worker-pool.ts';
import { aDeployment, aTrace, aTraceJob, atSecond, runBaseline } from './support.ts';

const CONFIG = aDeployment();
const JOBS = [
  aTraceJob({ at: atSecond(100) }),
  aTraceJob({ at: atSecond(150), kind: 'autostart' }),
  aTraceJob({ at: atSecond(200) }),
];
const EMPTY = await runBaseline('static');

/** A worker pool with one thread that runs no world: `dollarsOf` gives the total of each order. */
function fakeWorkerPool(dollarsOf: (order: Order) => number): WorkerPool & { readonly orders: Order[] } {
  const orders: Order[] = [];
  let free: Promise<unknown> = Promise.resolve();
  return {
    orders,
    run: (order, onProgress = () => {}) => {
      orders.push(order);
      const run = free.then(() => {
        for (const share of [0.25, 1]) onProgress(share);
        return runThatCosts(dollarsOf(order));
      });
      free = run;
      return run;
    },
    close: async () => {},
  };
}

function runThatCosts(total: number): Run {
  const { figures } = EMPTY;
  return { ...EMPTY, figures: { ...figures, dollars: { ...figures.dollars, total } } };
}

function given(options: Partial<CompareOptions>): CompareOptions {
  return {
    ...{ trace: aTrace({ jobs: JOBS }), config: CONFIG, against: [], seed: 1, skipped: 0 },
    ...{ valueOfMinute: 1, region: 'us-east-1', workerPool: fakeWorkerPool(() => 1) },
    ...options,
  };
}

/** The share of a static fleet, or `others` for all other policies. */
function shareOf({ driver }: Order, others: number): number {
  return 'settings' in driver && driver.policy === 'static' ? Number(driver.settings.share) : others;
}

describe('cheapestOf', () => {
  it.each([
    { costs: [3, 1, 2], place: 1, because: 'it costs the least' },
    { costs: [1, 2, 3], place: 0, because: 'the first point counts too' },
    { costs: [3, 2, 1], place: 2, because: 'the last point counts too' },
    { costs: [2, 1, 1, 1], place: 1, because: 'it is the first of several equal points' },
  ])('takes point $place of $costs: $because', ({ costs, place }) => {
    const tried = costs.map((cost, at) => ({ settings: { place: at }, ...runThatCosts(cost) }));
    expect(cheapestOf(tried).settings).toEqual({ place });
  });
});

describe('compare', () => {
  it('shows the static fleet with the size that the search finds', async () => {
    // the third point of the grid, 0.5, is the nearest to 0.52
    const workerPool = fakeWorkerPool((order) => Math.abs(shareOf(order, 0) - 0.52));
    const { runs } = await compare(given({ against: ['static'], workerPool }));
    expect(
      runs.map(({ policy, title, settings, isTuned }) => ({ policy, title, settings, isTuned })),
    ).toEqual([
      { policy: 'autoscaler', title: 'autoscaler', settings: {}, isTuned: false },
      { policy: 'static', title: 'static fleet of 5', settings: { share: 0.5 }, isTuned: true },
    ]);
    const shown = runs.map(({ figures }) => figures.dollars.total);
    expect(shown).toEqual([0.52, expect.closeTo(0.02, 9)]);
  });

  it('leaves out and counts jobs that no pool can run, and leaves out retiring pools', async () => {
    const unfit = aTraceJob({ tags: { nobody: 'has this' } });
    const leaving = { ...CONFIG.pools[0], name: 'old', tags: { nobody: 'has this' }, retiring: true };
    const workerPool = fakeWorkerPool(() => 1);
    const config = { ...CONFIG, pools: [...CONFIG.pools, leaving] } as Deployment;
    const { trace, pools } = await compare(
      given({ trace: aTrace({ jobs: [...JOBS, unfit] }), config, workerPool, against: ['static'] }),
    );
    expect(trace).toMatchObject({ jobs: JOBS.length, unfit: 1 });
    expect(pools.length).toBe(1);
    for (const order of workerPool.orders)
      expect([order.trace.jobs.length, order.config.pools.length]).toEqual([JOBS.length, 1]);
  });

  it('shows other policies with the settings that the search finds', async () => {
    const [, , , best] = AGENT_SCALER.grid;
    const workerPool = fakeWorkerPool(({ driver }) =>
      'settings' in driver && JSON.stringify(driver.settings) === JSON.stringify(best) ? 1 : 2,
    );
    const { runs } = await compare(given({ against: ['agent-scaler'], workerPool }));
    expect(runs.slice(1)).toMatchObject([{ policy: 'agent-scaler', settings: best, isTuned: true }]);
    expect(runs[1]?.source?.url).toMatch(/^https:/);
  });

  it.each([
    { against: [], expected: ['autoscaler'] },
    { against: ['agent-scaler'], expected: ['autoscaler', 'agent-scaler'] },
    { against: ['from-zero', 'static'], expected: ['autoscaler', 'static', 'from-zero'] },
  ])('runs $expected when the policies to compare are $against', async ({ against, expected }) => {
    const workerPool = fakeWorkerPool((order) => 1 - shareOf(order, 0));
    const { runs } = await compare(given({ against, workerPool }));
    expect(runs.map(({ policy }) => policy)).toEqual(expected);
    expect([...new Set(workerPool.orders.map(({ driver }) => driver.policy))].sort()).toEqual(
      expected.toSorted(),
    );
  });

  it('gives all runs the same trace, seed and prices, and records series of the autoscaler', async () => {
    const workerPool = fakeWorkerPool((order) => shareOf(order, 0));
    const options = given({ against: ['static'], workerPool, seed: 7, region: 'eu-central-1' });
    await compare(options);
    const [pool] = CONFIG.pools;
    const price = pool === undefined ? 0 : dollarsPerHour(pool, 'eu-central-1');
    for (const { trace, seed, dollarsPerHour: prices } of workerPool.orders) {
      expect([trace, seed]).toEqual([options.trace, 7]);
      expect(prices).toEqual({ default: price });
    }
    const pictured = workerPool.orders.filter(({ isPictured }) => isPictured);
    expect(pictured.map(({ driver }) => driver.policy)).toEqual(['autoscaler']);
    expect(workerPool.orders.length).toBe(1 + STATIC_FLEET.grid.length);
  });

  it('reports progress that never falls and ends at 1', async () => {
    const shares: number[] = [];
    const workerPool = fakeWorkerPool((order) => shareOf(order, 0));
    const against = ['static', 'from-zero', 'agent-scaler'];
    await compare(given({ against, workerPool, onProgress: (share) => shares.push(share) }));
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares[0]).toBeGreaterThan(0);
    expect(shares.filter((share) => share > 1)).toEqual([]);
    expect(shares.at(-1)).toBeCloseTo(1, 12);
  });

  it('describes trace, settings and pools', async () => {
    const { runs, ...document } = await compare(given({ skipped: 3 }));
    expect(document).toMatchObject({
      version: 1,
      trace: { name: 'morning', timezone: 'UTC', jobs: 3, kinds: { user: 2, autostart: 1 }, skipped: 3 },
      seed: 1,
      settings: { valueOfMinute: 1, region: 'us-east-1' },
      pools: [{ name: 'default', organization: 'default', min: 1, max: 10 }],
      stepS: 60,
    });
  });
});
