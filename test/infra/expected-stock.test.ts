/**
 * Compares the daemons that an estimate keeps free with chances from a table of the Poisson
 * distribution.
 */
import { describe, expect, it } from 'vitest';
import type { Settings } from '../../infra/constructs/settings.ts';
import { estimatePools, loadOf, USUAL } from '../../infra/cost.ts';
import { expectedStock } from '../../infra/expected-stock.ts';
import { taskHours, WORK_HOURS } from '../../infra/task-hours.ts';
import { checkConfig } from '../../lambda/config/check.ts';

type Pool = Partial<Settings['pools'][number]>;

const POOL = { name: 'a', organization: 'default' };

const deploymentOf = (pools: readonly Pool[], limits: Settings['limits'] = {}) =>
  checkConfig({
    coder: { url: 'https://coder.example.com', token: { secret: 'coder/token' } },
    limits,
    pools: pools.map((pool, index) => ({ ...POOL, key: { secret: `k${index}` }, ...pool })),
  }).config;

function poolOf(pool: Pool) {
  const [found] = deploymentOf([pool]).pools;
  if (found === undefined) throw new Error('the configuration has no pool');
  return found;
}

describe('the stock of a pool', () => {
  const minute = { startTime: '60s', max: 20 } as const;

  // a task costs $0.0395 an hour, $0.000658 a minute: at $0.10, a chance of 0.66 % is worth its price
  it.each([
    { pool: minute, perMinute: 0, stock: 0, because: 'there are no builds' },
    { pool: minute, perMinute: 0.006, stock: 0, because: 'a chance of 0.6 % is not worth a daemon' },
    { pool: minute, perMinute: 0.007, stock: 1, because: 'a chance of 0.7 % is worth a daemon' },
    { pool: minute, perMinute: 1, stock: 4, because: '1.9 % need a fourth daemon, 0.4 % a fifth' },
    {
      pool: { ...minute, startTime: '30s' },
      perMinute: 2,
      stock: 4,
      because: 'as many builds come during a start',
    },
    {
      pool: { ...minute, waiting: { person: 1 } },
      perMinute: 1,
      stock: 5,
      because: 'a chance of 0.06 % is below the limit of 0.066 %',
    },
    { pool: { ...minute, waiting: { person: 0 } }, perMinute: 9, stock: 0, because: 'waiting costs nothing' },
    { pool: { ...minute, max: 3 }, perMinute: 1, stock: 3, because: 'max limits the stock' },
    {
      pool: { ...minute, spot: true },
      perMinute: 1,
      stock: 5,
      because: 'a cheap task is worth keeping for a smaller chance',
    },
  ])('is $stock at $perMinute builds a minute: $because', ({ pool, perMinute, stock }) => {
    expect(expectedStock(poolOf(pool), { perMinute, ending: 0 })).toBe(stock);
  });

  it('is smaller by the builds that end while a task starts', () => {
    expect(expectedStock(poolOf(minute), { perMinute: 1, ending: 3 })).toBe(1);
  });
});

describe('the task-hours of a pool with a price of waiting', () => {
  it.each([
    { pool: { max: 50 }, share: 0.0001, hours: 0, because: 'fewer than two builds a day keep no daemon' },
    { pool: { max: 50 }, share: 0.001, hours: 730, because: '30 builds a day keep one around the clock' },
    {
      pool: { max: 50, waiting: { person: 1 } },
      share: 0.001,
      hours: 730 + WORK_HOURS,
      because: 'at $1.00 they keep two in working hours',
    },
    { pool: { max: 50, warm: 0 }, share: 0.001, hours: 0, because: 'warm: 0 keeps none' },
    { pool: { max: 50, warm: 3 }, share: 0.001, hours: 3 * 730, because: 'a number is kept exactly' },
    {
      pool: { max: 50, tags: { is_prebuild: 'true' } },
      share: 0.001,
      hours: 0,
      because: 'coderd starts all builds of a pool for prebuilds',
    },
    {
      pool: { max: 50, wake: { autostop: false }, warm: 0 },
      share: 0,
      hours: 730,
      because: 'min is 1 if wake is off',
    },
  ])('are about $hours: $because', ({ pool, share, hours }) => {
    const busy = share * 50 * WORK_HOURS;
    const { onDemand } = taskHours(poolOf(pool), { share });
    expect(Math.abs(onDemand - hours)).toBeLessThanOrEqual(busy + 1e-6);
  });
});

describe('the estimate of each pool', () => {
  it('is higher at one dollar, and the same if that is the setting', () => {
    const cheap = deploymentOf([{ max: 60 }]);
    const [estimate] = estimatePools(cheap, USUAL);
    expect(estimate?.dollars).toBeLessThan(estimate?.atOneDollar ?? 0);
    const [dear] = estimatePools(deploymentOf([{ max: 60, waiting: { person: 1 } }]), USUAL);
    expect(dear?.dollars).toBe(estimate?.atOneDollar);
    expect(dear?.atOneDollar).toBe(estimate?.atOneDollar);
  });

  it('divides the given builds a day over the pools by their max', () => {
    const pools = [{ max: 30 }, { name: 'b', organization: 'data', max: 10 }];
    for (const maxTasks of [100, 20]) {
      const deployment = deploymentOf(pools, { maxTasks });
      const builds = estimatePools(deployment, loadOf(deployment, 200)).map(
        ({ buildsPerDay }) => buildsPerDay,
      );
      expect(builds).toEqual([expect.closeTo(150, 6), expect.closeTo(50, 6)]);
    }
  });

  it('is zero for a retiring pool', () => {
    const deployment = deploymentOf([{ retiring: true }, { name: 'b', max: 10 }]);
    const [retiring, other] = estimatePools(deployment, loadOf(deployment, 60));
    expect(retiring).toMatchObject({ buildsPerDay: 0, dollars: 0, atOneDollar: 0 });
    expect(other?.buildsPerDay).toBeCloseTo(60, 6);
  });
});
