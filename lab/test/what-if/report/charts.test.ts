import { describe, expect, it } from 'vitest';
import type { Backtest } from '../../../what-if/replay/result.ts';
import { desiredCounts } from '../../../what-if/report/charts/pool-series.ts';
import {
  busiestDay,
  busiestPool,
  daysOf,
  lengthLabel,
  periodLabel,
} from '../../../what-if/report/parts/times.ts';
import { plausibleBacktest } from './fixture.ts';

describe('times', () => {
  const backtest = plausibleBacktest(1);

  it('are in UTC: a week from Monday 0:00 in Berlin has parts of eight days', () => {
    const days = daysOf(backtest).map(({ from }) => new Date(from).toISOString());
    expect([days.length, days[0], days.at(-1)]).toEqual([
      8,
      '2026-03-01T00:00:00.000Z',
      '2026-03-08T00:00:00.000Z',
    ]);
  });

  it('name the period of the trace', () => {
    expect(periodLabel(backtest)).toBe('1 March 2026 23:00 to 8 March 2026 23:00');
    expect(lengthLabel(backtest)).toBe('7 days');
  });

  it('of a trace of whole days have dates only', () => {
    const [from, to] = [Date.UTC(2026, 2, 2), Date.UTC(2026, 2, 9)] as (typeof backtest.trace.from)[];
    if (from === undefined || to === undefined) throw new Error('making a period: it has no end');
    const whole = { ...backtest, trace: { ...backtest.trace, from, to } };
    expect(periodLabel(whole)).toBe('2 March 2026 to 9 March 2026');
  });
});

describe('the busiest day', () => {
  /** The same week, with all work of `pool` in one hour of `day`, and none elsewhere. */
  function workOn(day: number, pool: number): Backtest {
    const base = plausibleBacktest(1);
    const start = (daysOf(base)[day]?.from ?? 0) + 12 * 3_600_000;
    const at = (start - base.trace.from) / (base.stepS * 1000);
    const runs = base.runs.map((run) => ({
      ...run,
      pools: run.pools.map((series, index) => ({
        ...series,
        busy: series.busy.map((_, step) => (index === pool && step >= at && step < at + 5 ? 3 : 0)),
      })),
    }));
    return { ...base, runs };
  }

  it.each([
    { day: 1, pool: 0 },
    { day: 7, pool: 1 },
  ])('is day $day when pool $pool has all its work on it', ({ day, pool }) => {
    const backtest = workOn(day, pool);
    expect([busiestDay(backtest), busiestPool(backtest)]).toEqual([day, pool]);
  });

  it('is the first day of a backtest without runs', () => {
    expect(busiestDay({ ...plausibleBacktest(1), runs: [], pools: [] })).toBe(0);
  });
});

it('takes the desired count at the end of each step', () => {
  const backtest = plausibleBacktest(1);
  const { from } = backtest.trace;
  const step = backtest.stepS * 1000;
  const change = (at: number, before: number, to: number) => ({
    at: (from + at) as typeof from,
    from: before,
    to,
    why: [],
  });
  const none = [0, 0, 0, 0];
  const series = { pool: 'p', queue: none, busy: none, idle: none, starting: none, leaving: none };
  const changes = [change(step, 2, 5), change(2 * step - 1, 5, 4), change(3 * step, 4, 0)];
  expect(desiredCounts(backtest, { ...series, changes })).toEqual([2, 4, 4, 0]);
});
