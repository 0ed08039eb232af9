import { describe, expect, it } from 'vitest';
import type { Backtest } from '../../../what-if/replay/result.ts';
import {
  type LabelPlace,
  type NamedPoint,
  placeLabels,
} from '../../../what-if/report/charts/label-places.ts';
import { type ParetoAxes, paretoOption } from '../../../what-if/report/charts/pareto.ts';
import { drawPicture } from '../../../what-if/report/charts/picture.ts';
import { desiredCounts, poolSeriesOption } from '../../../what-if/report/charts/pool-series.ts';
import { costTicks, LEAST_COST, logShare, waitTicks } from '../../../what-if/report/charts/ticks.ts';
import { shareScale } from '../../../what-if/report/charts/wait-shares.ts';
import {
  busiestDay,
  busiestPool,
  daysOf,
  lengthLabel,
  periodLabel,
  withoutZone,
  zoneLabel,
} from '../../../what-if/report/parts/times.ts';
import { Random } from '../../../world/base/random.ts';
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

  /** One policy for each cost, all with the same p95 wait. */
  function backtestOf(costs: readonly number[], waitS: number): Backtest {
    const runs = [ours, ...others].slice(0, costs.length).flatMap((run, at) => {
      if (run === undefined) return [];
      const { figures } = run;
      const dollars = { ...figures.dollars, tasks: costs[at] ?? 0 };
      return {
        ...run,
        figures: { ...figures, dollars, waitOfPeople: { ...figures.waitOfPeople, p95S: waitS } },
      };
    });
    return { ...BASE, runs, prices: [] };
  }

  const pictureOf = (backtest: Backtest, axes: ParetoAxes = { cost: 'dollars', wait: 'p95' }): string =>
    drawPicture('pareto', (size) => paretoOption(backtest, axes, size), { width: 520, height: 380 }).text;

  /** All texts of the chart. */
  const textsOf = (backtest: Backtest, axes?: ParetoAxes): readonly string[] =>
    [...pictureOf(backtest, axes).matchAll(/<text[^>]*>([^<]*)</g)].flatMap(([, text]) => text ?? []);

  it('names every policy when all policies are at the same point', () => {
    const same = backtestOf([3, 3, 3, 3, 3], 0);
    const texts = textsOf(same).join(' ');
    expect(same.runs.map(({ title }) => title).filter((title) => !texts.includes(title))).toEqual([]);
  });

  it('marks the first ticks with ≤ when costs and waits are below them', () => {
    const least = backtestOf([0, 40], 0);
    expect(textsOf(least)).toEqual(expect.arrayContaining(['≤ $0.01', '≤ 1 s']));
  });

  const NAMES = ['$0.01', '$0.05', '$0.20', '$1.10 now', '$2.00'];

  it.each(['p95', 'mean'] as const)('names each price of waiting beside its %s wait', (wait) => {
    expect(textsOf(BASE, { cost: 'dollars', wait })).toEqual(expect.arrayContaining(NAMES));
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

  /** The box of a label, with letters a little narrower than the code assumes. */
  function boxOf({ x, y }: NamedPoint, { text, dx, dy, align }: LabelPlace) {
    const lines = text.split('\n');
    const width = Math.max(...lines.map(({ length }) => length)) * 6.5;
    const left = x + dx - { left: 0, center: width / 2, right: width }[align];
    return { left, right: left + width, top: y + dy - lines.length * 7, bottom: y + dy + lines.length * 7 };
  }
  type Edges = ReturnType<typeof boxOf>;
  const covers = (one: Edges, other: Edges): boolean =>
    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

  it('covers no point and no other label in 100 random charts', () => {
    const seed = 20261;
    const random = new Random(seed);
    for (let chart = 0; chart < 100; chart++) {
      const points = Array.from(
        { length: random.whole(1, 8) },
        (_, at): NamedPoint => ({
          name: 'p'.repeat(random.whole(3, 26)) + at,
          x: random.between(0, area.width),
          y: random.between(0, area.height),
        }),
      );
      const places = placeLabels(points, { area });
      const boxes = points.flatMap((point, at) => (places[at] ? [boxOf(point, places[at])] : []));
      const dots = points.map(({ x, y }) => ({ left: x - 7, right: x + 7, top: y - 7, bottom: y + 7 }));
      const clashes = boxes.flatMap((box, at) =>
        [...boxes.slice(at + 1), ...dots].filter((other) => covers(box, other)),
      );
      expect(clashes, `seed ${seed}, chart ${chart}`).toEqual([]);
    }
  });

  it('puts the label of a lone point beside it, on its right', () => {
    expect(placeLabels([{ name: 'from zero', x: 200, y: 100 }], { area })).toMatchObject([
      { text: 'from zero', align: 'left', dx: 12, dy: 0 },
    ]);
  });

  it('puts the label above a point at the right edge, and on its left if another point takes that place', () => {
    const point = { name: 'from zero', x: 380, y: 100 };
    expect(placeLabels([point], { area })).toMatchObject([{ align: 'center', dy: -20 }]);
    const above = { name: '', x: 380, y: 80 };
    expect(placeLabels([point, above], { area })[0]).toMatchObject({ align: 'right', dx: -12 });
  });

  it('avoids a line where another place is as near', () => {
    const line = [
      { x: 200, y: 100 },
      { x: 430, y: 100 },
    ];
    const point = { name: 'from zero', x: 200, y: 100 };
    expect(placeLabels([point], { area, lines: [line] })).toMatchObject([{ align: 'center', dy: -20 }]);
  });

  it('breaks a long name into two lines in a narrow chart', () => {
    const point = { name: 'static fleet of 180', x: 60, y: 10 };
    const [place] = placeLabels([point], { area: { width: 120, height: 60 } });
    expect(place?.text).toBe('static fleet\nof 180');
  });

  it('moves a label that leaves another one no room', () => {
    const names = ['autoscaler', 'static fleet of 1', 'from zero', "Buildkite's agent scaler"];
    const spots = [
      [149, 30],
      [189, 29],
      [189, 57],
      [152, 35],
    ];
    const points = names.map((name, at) => ({ name, x: spots[at]?.[0] ?? 0, y: spots[at]?.[1] ?? 0 }));
    const places = placeLabels(points, { area: { width: 294, height: 278 } });
    expect(places.filter((place) => place === undefined)).toEqual([]);
  });
});

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

  it('name the period of the trace and the time zone of its people', () => {
    expect(periodLabel(backtest)).toBe('1 March 2026 23:00 to 8 March 2026 23:00');
    expect(lengthLabel(backtest)).toBe('7 days');
    expect(zoneLabel(backtest)).toBe('Europe/Berlin (GMT+01:00 at the start)');
  });

  it('of a trace of whole days have dates only', () => {
    const [from, to] = [Date.UTC(2026, 2, 2), Date.UTC(2026, 2, 9)] as (typeof backtest.trace.from)[];
    if (from === undefined || to === undefined) throw new Error('making a period: it has no end');
    const whole = { ...backtest, trace: { ...backtest.trace, from, to } };
    expect(periodLabel(whole)).toBe('2 March 2026 to 9 March 2026');
  });

  it('in reasons do not repeat the time zone', () => {
    expect(withoutZone('needs a daemon for 1 autostart at 6 April 2026 06:30:00 UTC; UTC')).toBe(
      'needs a daemon for 1 autostart at 6 April 2026 06:30:00; UTC',
    );
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
    { day: 4, pool: 2 },
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

it('draws tasks and pending jobs of a pool on one time scale for a single day', () => {
  const backtest = plausibleBacktest(1);
  const [series] = backtest.runs[0]?.pools ?? [];
  const [, day] = daysOf(backtest);
  if (series === undefined || day === undefined)
    throw new Error('drawing a pool: the fixture has no pool or day');
  const picture = drawPicture('pool', (size) => poolSeriesOption(backtest, series, day, size), {
    width: 1072,
    height: 440,
  }).text;
  // grid lines go from one end of each chart to the other
  const lines = [...picture.matchAll(/d="M([\d.]+) ([\d.]+)L([\d.]+) \2"/g)];
  expect(lines.length).toBeGreaterThan(5);
  expect(new Set(lines.map(([, from, , to]) => `${from} to ${to}`)).size).toBe(1);
});
