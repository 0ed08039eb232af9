import { describe, expect, it } from 'vitest';
import type { Backtest } from '../../../backtest/replay/result.ts';
import { type NamedPoint, placeLabels } from '../../../backtest/report/charts/label-places.ts';
import { paretoOption } from '../../../backtest/report/charts/pareto.ts';
import { drawPicture } from '../../../backtest/report/charts/picture.ts';
import { desiredCounts, poolSeriesOption } from '../../../backtest/report/charts/pool-series.ts';
import { costTicks, LEAST_COST, logShare, waitTicks } from '../../../backtest/report/charts/ticks.ts';
import { shareScale } from '../../../backtest/report/charts/wait-shares.ts';
import { daysOf, wallClock } from '../../../backtest/report/parts/wall-clock.ts';
import { Random } from '../../../simulator/base/random.ts';
import { plausibleBacktest } from './fixture.ts';

describe('ticks', () => {
  it.each([
    { values: [1.3, 45], ticks: [1, 2, 5, 10, 20, 30, 45, 60], because: 'the last is above all' },
    { values: [54, 55], ticks: [45, 60], because: 'what lies close together is shown close up' },
    {
      values: [0, 0.4],
      ticks: [1, 2],
      because: 'a logarithm knows no zero, and nobody feels less than a second',
    },
    { values: [90_000], ticks: [3600, 7200], because: 'there are always two' },
  ])('$ticks for waits of $values', ({ values, ticks }) => {
    expect(waitTicks(values)).toEqual(ticks);
  });

  it.each([
    { costs: [30, 450], ticks: [20, 50, 100, 200, 500], because: 'they are around all' },
    { costs: [0, 0.07], ticks: [0.01, 0.02, 0.05, 0.1], because: 'what costs nothing is at the least' },
  ])('$ticks for costs of $costs', ({ costs, ticks }) => {
    expect(costTicks(costs, LEAST_COST.dollars)).toEqual(ticks);
  });

  it('a value is as far along as its logarithm', () => {
    expect([1, 10, 100, 1000].map((value) => logShare([1, 100], value))).toEqual([0, 0.5, 1, 1]);
  });
});

describe('the chart of costs and waits', () => {
  const BASE = plausibleBacktest(1);
  const [ours, ...others] = BASE.runs;

  /** Its first two policies cost and wait so much, the bounds so much. */
  function backtestOf(costs: readonly number[], waitS: number, limits: readonly number[]): Backtest {
    const runs = [ours, ...others].slice(0, costs.length).flatMap((run, at) => {
      if (run === undefined) return [];
      const { figures } = run;
      const dollars = { ...figures.dollars, tasks: costs[at] ?? 0 };
      return {
        ...run,
        figures: { ...figures, dollars, waitOfPeople: { ...figures.waitOfPeople, p95S: waitS } },
      };
    });
    const bounds = BASE.bounds.map((bound, at) => ({ ...bound, dollars: limits[at] ?? 0 }));
    return { ...BASE, runs, bounds };
  }

  /** What is written in it. */
  function textsOf(backtest: Backtest): readonly string[] {
    const picture = drawPicture(
      'pareto-p95',
      (size) => paretoOption(backtest, { cost: 'dollars', wait: 'p95' }, size),
      { width: 520, height: 380 },
    );
    return [...picture.text.matchAll(/<text[^>]*>([^<]*)</g)].flatMap(([, text]) => text ?? []);
  }

  it('names every policy where all are at the same place', () => {
    const same = backtestOf([3, 3, 3, 3, 3], 0, [0.1, 0.12]);
    expect(textsOf(same)).toEqual(expect.arrayContaining(same.runs.map(({ title }) => title)));
  });

  it('says of what costs and waits next to nothing that it is at the least', () => {
    const least = backtestOf([0, 40], 0, [0.0001, 0.0002]);
    expect(textsOf(least)).toEqual(expect.arrayContaining(['≤ $0.01', '≤ 1 s']));
  });

  it('begins a tick lower where a bound would be named over the axis', () => {
    const begin = (limit: number): boolean => textsOf(backtestOf([47, 380], 14, [limit, 13])).includes('$5');
    expect([12, 10.2].map(begin)).toEqual([false, true]);
  });
});

describe('the shares that waited no longer', () => {
  it.each([
    { least: 1, from: 0.95, because: 'there is nothing below' },
    { least: 0.942, from: 0.9, because: 'it is the next round number below' },
    { least: 0.9, from: 0.75, because: 'no line begins on the axis' },
    { least: 0.6, from: 0.5, because: 'it is the next round number below' },
    { least: 0.2, from: 0, because: 'less than half is shown whole' },
  ])('begin at $from where $least had a daemon at once', ({ least, from }) => {
    const base = plausibleBacktest(1);
    const within = (count: number) =>
      base.runs.slice(0, 1).map((run) => ({ ...run, waitCounts: [count, 1000 - count] }));
    const runs = [...within(1000), ...within(least * 1000)];
    expect(shareScale({ ...base, runs }).from).toBe(from);
  });
});

describe('labels', () => {
  const area = { width: 430, height: 318 };
  const width = (name: string) => name.length * 6;

  it('never cover each other or a point, over 300 random charts', () => {
    const seed = 20261;
    const random = new Random(seed);
    for (let chart = 0; chart < 300; chart++) {
      const points = Array.from(
        { length: random.whole(1, 8) },
        (_, at): NamedPoint => ({
          name: 'p'.repeat(random.whole(3, 26)) + at,
          x: random.between(0, area.width),
          y: random.between(0, area.height),
        }),
      );
      const boxes = placeLabels(points, area, []).flatMap((place, at) => {
        const { name, x, y } = points[at] ?? { name: '', x: 0, y: 0 };
        if (place === undefined) return [];
        return [
          {
            left: place.side === 'right' ? x + 14 : x - 14 - width(name),
            width: width(name),
            middle: y + place.dy,
          },
        ];
      });
      const clashes = boxes.flatMap((one, at) =>
        boxes.slice(at + 1).filter((other) => {
          const isBeside = one.left + one.width <= other.left || other.left + other.width <= one.left;
          return !isBeside && Math.abs(one.middle - other.middle) < 14;
        }),
      );
      expect(clashes, `seed ${seed}, chart ${chart}`).toEqual([]);
    }
  });

  it('a lone point has its name at the right', () => {
    expect(placeLabels([{ name: 'KEDA', x: 200, y: 100 }], area, [])).toEqual([{ side: 'right', dy: 11 }]);
  });

  it('at the right edge it is at the left, in what is taken elsewhere', () => {
    const point = { name: 'KEDA', x: 425, y: 100 };
    expect(placeLabels([point], area, [])).toEqual([{ side: 'left', dy: 11 }]);
    const below = { x: 380, y: 102, width: 40, height: 40 };
    expect(placeLabels([point], area, [below])).toEqual([{ side: 'left', dy: -11 }]);
  });
});

describe('time', () => {
  it('is that of the clock on the wall, also where clocks go forward', () => {
    const wall = wallClock('Europe/Berlin');
    const shown = ['2026-03-29T00:59:00Z', '2026-03-29T01:00:00Z'].map((at) =>
      new Date(wall(Date.parse(at))).toISOString(),
    );
    expect(shown).toEqual(['2026-03-29T01:59:00.000Z', '2026-03-29T03:00:00.000Z']);
  });

  it('has the seven days of a week', () => {
    const days = daysOf(plausibleBacktest(1));
    expect(days.map(({ from }) => new Date(from).toISOString().slice(0, 10))).toEqual([
      ...['2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05', '2026-03-06', '2026-03-07', '2026-03-08'],
    ]);
  });
});

it('the desired count of a step is that at its end', () => {
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

it('the tasks and the queue of a pool are drawn on one scale of time, also of a single day', () => {
  const backtest = plausibleBacktest(1);
  const [series] = backtest.runs[0]?.pools ?? [];
  const [, day] = daysOf(backtest);
  if (series === undefined || day === undefined) throw new Error('drawing: the fixture has pools and days');
  const picture = drawPicture('pool', () => poolSeriesOption(backtest, series, day), {
    width: 1072,
    height: 440,
  }).text;
  // the lines behind the values go from one end of each chart to the other
  const lines = [...picture.matchAll(/d="M([\d.]+) ([\d.]+)L([\d.]+) \2"/g)];
  expect(lines.length).toBeGreaterThan(5);
  expect(new Set(lines.map(([, from, , to]) => `${from} to ${to}`)).size).toBe(1);
});
