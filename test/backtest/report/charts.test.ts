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
    { values: [1.3, 45], ticks: [1, 2, 5, 10, 20, 30, 45, 60], because: 'the last tick is above all values' },
    { values: [54, 55], ticks: [45, 60], because: 'values that are close together need a short axis' },
    {
      values: [0, 0.4],
      ticks: [1, 2],
      because: 'zero has no logarithm, so the axis begins at one second',
    },
    { values: [90_000], ticks: [3600, 7200], because: 'an axis has at least two ticks' },
  ])('chooses $ticks for waits of $values: $because', ({ values, ticks }) => {
    expect(waitTicks(values)).toEqual(ticks);
  });

  it.each([
    { costs: [30, 450], ticks: [20, 50, 100, 200, 500], because: 'the ticks enclose all costs' },
    { costs: [0, 0.07], ticks: [0.01, 0.02, 0.05, 0.1], because: 'a cost of zero is at the first tick' },
  ])('chooses $ticks for costs of $costs: $because', ({ costs, ticks }) => {
    expect(costTicks(costs, LEAST_COST.dollars)).toEqual(ticks);
  });

  it('places a value by its logarithm', () => {
    expect([1, 10, 100, 1000].map((value) => logShare([1, 100], value))).toEqual([0, 0.5, 1, 1]);
  });
});

describe('the chart of costs and waits', () => {
  const BASE = plausibleBacktest(1);
  const [ours, ...others] = BASE.runs;

  /** One policy for each cost, all with the same p95 wait; `limits` are the costs of the bounds. */
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

  /** All texts of the chart. */
  function textsOf(backtest: Backtest): readonly string[] {
    const picture = drawPicture(
      'pareto-p95',
      (size) => paretoOption(backtest, { cost: 'dollars', wait: 'p95' }, size),
      { width: 520, height: 380 },
    );
    return [...picture.text.matchAll(/<text[^>]*>([^<]*)</g)].flatMap(([, text]) => text ?? []);
  }

  it('names every policy when all policies are at the same point', () => {
    const same = backtestOf([3, 3, 3, 3, 3], 0, [0.1, 0.12]);
    expect(textsOf(same)).toEqual(expect.arrayContaining(same.runs.map(({ title }) => title)));
  });

  it('marks the first ticks with ≤ when costs and waits are below them', () => {
    const least = backtestOf([0, 40], 0, [0.0001, 0.0002]);
    expect(textsOf(least)).toEqual(expect.arrayContaining(['≤ $0.01', '≤ 1 s']));
  });

  it('begins one tick lower when the name of a bound would cover the axis', () => {
    const begin = (limit: number): boolean => textsOf(backtestOf([47, 380], 14, [limit, 13])).includes('$5');
    expect([12, 10.2].map(begin)).toEqual([false, true]);
  });
});

describe('shareScale', () => {
  it.each([
    { least: 1, from: 0.95, because: 'no share is lower' },
    { least: 0.942, from: 0.9, because: 'it is the next round number below' },
    { least: 0.9, from: 0.75, because: 'no line may begin on the axis' },
    { least: 0.6, from: 0.5, because: 'it is the next round number below' },
    { least: 0.2, from: 0, because: 'a share below one half needs the whole scale' },
  ])('begins at $from when a share of $least had a daemon at once: $because', ({ least, from }) => {
    const base = plausibleBacktest(1);
    const within = (count: number) =>
      base.runs.slice(0, 1).map((run) => ({ ...run, waitCounts: [count, 1000 - count] }));
    const runs = [...within(1000), ...within(least * 1000)];
    expect(shareScale({ ...base, runs }).from).toBe(from);
  });
});

describe('placeLabels', () => {
  const area = { width: 430, height: 318 };
  const width = (name: string) => name.length * 6;

  it('covers no other label in 300 random charts', () => {
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

  it('puts the label of a lone point on its right', () => {
    expect(placeLabels([{ name: 'KEDA', x: 200, y: 100 }], area, [])).toEqual([{ side: 'right', dy: 11 }]);
  });

  it('puts the label on the left of a point at the right edge, away from occupied boxes', () => {
    const point = { name: 'KEDA', x: 425, y: 100 };
    expect(placeLabels([point], area, [])).toEqual([{ side: 'left', dy: 11 }]);
    const below = { x: 380, y: 102, width: 40, height: 40 };
    expect(placeLabels([point], area, [below])).toEqual([{ side: 'left', dy: -11 }]);
  });
});

describe('local time', () => {
  it('follows the clock change in spring', () => {
    const wall = wallClock('Europe/Berlin');
    const shown = ['2026-03-29T00:59:00Z', '2026-03-29T01:00:00Z'].map((at) =>
      new Date(wall(Date.parse(at))).toISOString(),
    );
    expect(shown).toEqual(['2026-03-29T01:59:00.000Z', '2026-03-29T03:00:00.000Z']);
  });

  it('divides a week into seven days', () => {
    const days = daysOf(plausibleBacktest(1));
    expect(days.map(({ from }) => new Date(from).toISOString().slice(0, 10))).toEqual([
      ...['2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05', '2026-03-06', '2026-03-07', '2026-03-08'],
    ]);
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

it('draws tasks and pending jobs of a pool on one time scale for a single day', () => {
  const backtest = plausibleBacktest(1);
  const [series] = backtest.runs[0]?.pools ?? [];
  const [, day] = daysOf(backtest);
  if (series === undefined || day === undefined)
    throw new Error('drawing a pool: the fixture has no pool or day');
  const picture = drawPicture('pool', () => poolSeriesOption(backtest, series, day), {
    width: 1072,
    height: 440,
  }).text;
  // grid lines go from one end of each chart to the other
  const lines = [...picture.matchAll(/d="M([\d.]+) ([\d.]+)L([\d.]+) \2"/g)];
  expect(lines.length).toBeGreaterThan(5);
  expect(new Set(lines.map(([, from, , to]) => `${from} to ${to}`)).size).toBe(1);
});
