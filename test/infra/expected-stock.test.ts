/** The daemons that an estimate expects to be free: how they follow builds, prices and limits. */
import { describe, expect, it } from 'vitest';
import { expectedStock } from '../../cli/cost/expected-stock.ts';
import { taskHours, WORK_HOURS } from '../../cli/cost/task-hours.ts';
import type { Settings } from '../../infra/constructs/settings.ts';
import { checkConfig } from '../../lambda/config/check.ts';

type Pool = Partial<Settings['pools'][number]>;

const POOL = { name: 'a', organization: 'default' };

function poolOf(pool: Pool) {
  const { config } = checkConfig({
    coder: { url: 'https://coder.example.com', token: { secret: 'coder/token' } },
    pools: [{ ...POOL, key: { secret: 'k' }, ...pool }],
  });
  const [found] = config.pools;
  if (found === undefined) throw new Error('the configuration has no pool');
  return found;
}

describe('the stock of a pool', () => {
  const minute = { startTime: '60s', max: 20 } as const;
  const expected = (pool: Pool, perMinute: number) =>
    expectedStock(poolOf({ ...minute, ...pool }), { perMinute, workMinutes: 600, tookMs: 60_000 });

  it.each([
    {
      pool: {},
      perMinute: 0.004,
      atWork: [0, 0.3],
      because: 'two builds a day keep one free for an hour or two after each',
    },
    { pool: {}, perMinute: 0.05, atWork: [0.8, 1.2], because: 'a build every 20 minutes keeps one free' },
    { pool: {}, perMinute: 1, atWork: [3, 4], because: 'builds every minute keep some free' },
    { pool: {}, perMinute: 5, atWork: [7, 14], because: 'more builds keep more free' },
    { pool: { max: 3 }, perMinute: 1, atWork: [1.5, 3], because: 'max limits the stock' },
    { pool: { spot: true }, perMinute: 1, atWork: [3.5, 5], because: 'a cheap task is worth more idle time' },
    {
      ...{ pool: { waiting: { person: 0 }, dollarsPerLaunch: 0 }, perMinute: 0.05, atWork: [0, 0.2] },
      because: 'nothing is kept if waiting and launches cost nothing',
    },
  ])('is $atWork.0 to $atWork.1 at $perMinute builds a minute: $because', ({ pool, perMinute, atWork }) => {
    const [least = 0, most = 0] = atWork;
    const stock = expected(pool, perMinute);
    expect(stock.atWork).toBeGreaterThanOrEqual(least);
    expect(stock.atWork).toBeLessThanOrEqual(most);
  });

  it('is small at night, and larger if waiting costs a dollar a minute', () => {
    expect(expected({}, 1).else).toBeLessThan(0.2);
    expect(expected({ waiting: { person: 1 } }, 1).else).toBeGreaterThan(0.6);
  });
});

describe('the task-hours of a pool with a price of waiting', () => {
  it.each([
    { pool: { max: 50 }, share: 0.0001, hours: 0, because: 'fewer than two builds a day keep no daemon' },
    {
      ...{ pool: { max: 50 }, share: 0.001, hours: 1.25 * WORK_HOURS },
      because: '18 unforeseen builds a day keep one free, and it drains some time after work',
    },
    {
      pool: { max: 50, waiting: { person: 1 } },
      share: 0.001,
      hours: 800,
      because: 'at $1.00 they keep one around the clock, and more in working hours',
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
      pool: { max: 50, wake: false, warm: 0 },
      share: 0,
      hours: 730,
      because: 'min is 1 if wake is off',
    },
  ])('are about $hours: $because', ({ pool, share, hours }) => {
    const busy = share * 50 * WORK_HOURS;
    expect(Math.abs(taskHours(poolOf(pool), { share }) - hours)).toBeLessThanOrEqual(
      busy + hours / 20 + 1e-6,
    );
  });
});
