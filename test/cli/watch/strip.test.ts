/** The strip of the last day: what looks saw, as bins, as numbers and as shapes. A gap is never a zero. */
import { describe, expect, it } from 'vitest';
import { addDay, dayQuery, rowWidthMs } from '../../../cli/watch/strip/day-query.ts';
import { areaOf, drawStrip, lineOf } from '../../../cli/watch/strip/drawing.ts';
import { History, type Sample } from '../../../cli/watch/strip/history.ts';
import { seriesOf } from '../../../cli/watch/strip/series.ts';
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';

const START = Date.parse('2026-03-02T09:00:00Z') as EpochMs;
const at = (seconds: number): EpochMs => plusMs(START, seconds * 1000);
const PRICES = new Map([
  ['cpu', 0.6],
  ['gpu', 2],
]);

const sample = (tasks: number, given: Partial<Sample> = {}): Sample => ({
  ...{ desired: tasks, busy: 0, tasks, most: tasks, waiting: 0, atMax: 0, marks: [] },
  ...given,
});

/** Looks of the pool "cpu", each at its second with so many tasks. */
function looked(...looks: readonly (readonly [second: number, tasks: number, given?: Partial<Sample>])[]) {
  const history = new History();
  for (const [second, tasks, given] of looks)
    history.look(at(second), new Map([['cpu', sample(tasks, given)]]), { waiting: 0, alarms: [] });
  return history;
}

/** As of that second. */
function seen(history: History, second: number) {
  history.advance(at(second));
  return seriesOf(history, at(second), PRICES);
}

/** Runs of equal values, as `3x2` for three bins of 2 and `4x-` for a gap of four. */
const runs = (values: readonly (number | null)[]): string =>
  values
    .reduce<{ value: string; count: number }[]>((found, each) => {
      const value = `${each ?? '-'}`;
      const last = found.at(-1);
      if (last?.value === value) last.count += 1;
      else found.push({ value, count: 1 });
      return found;
    }, [])
    .map(({ value, count }) => `${count}x${value}`)
    .join(' ');

describe('looks', () => {
  it('hold until the next one, and leave no gap in the rest of the first ten minutes', () => {
    const { all, widthSeconds, gaps, past } = seen(looked([0, 2], [60, 4]), 70);
    expect([widthSeconds, runs(all.desired), gaps]).toEqual([10, '6x2 1x4 53x-', []]);
    expect(past?.hours).toBeCloseTo(70 / 3600, 9);
    expect(past?.dollars).toBeCloseTo((0.6 * (2 * 60 + 4 * 10)) / 3600, 5);
    expect(past?.fixedFleet).toBeCloseTo((0.6 * 4 * 70) / 3600, 6);
  });

  it('leave a gap after two minutes without another, also at the end', () => {
    const { all, gaps } = seen(looked([0, 2], [300, 0]), 600);
    expect(runs(all.desired)).toBe('12x2 18x- 12x0 18x-');
    expect(gaps).toEqual([
      [12, 29],
      [42, 59],
    ]);
    expect(runs(all.waiting)).toBe('12x0 18x- 12x0 18x-');
    expect(runs(all.dollars.map((each) => (each === null ? null : 0)))).toBe('12x0 18x- 12x0 18x-');
  });

  it('are weighed by the time that they hold, in wider bins after half an hour too', () => {
    const history = looked([0, 1], [50, 9]);
    for (let second = 60; second <= 3600; second += 60)
      history.look(at(second), new Map([['cpu', sample(1)]]), { waiting: 0, alarms: [] });
    const { all, widthSeconds } = seen(history, 3600);
    expect(widthSeconds).toBe(30);
    // 20 s of one task and 10 s of nine
    expect(all.desired.slice(0, 3)).toEqual([1, 3.667, 1]);
  });

  it('of more than a day ago are forgotten', () => {
    const history = looked([0, 1]);
    for (let second = 0; second < 2 * 86_400; second += 100)
      history.look(at(second), new Map([['cpu', sample(1)]]), { waiting: 0, alarms: [] });
    const { bins, widthSeconds, from, past } = seen(history, 2 * 86_400);
    expect([bins, widthSeconds, Date.parse(from)]).toEqual([288, 300, START + DAY_MS]);
    expect(history.bins.size).toBeLessThanOrEqual(289);
    expect(past?.hours).toBeCloseTo(24, 1);
  });

  it('of many pools have wider bins', () => {
    const history = new History();
    const samples = new Map(Array.from({ length: 50 }, (_, pool) => [`team-${pool}`, sample(1)] as const));
    for (let second = 0; second < 86_400; second += 100)
      history.look(at(second), samples, { waiting: 0, alarms: [] });
    expect(seen(history, 86_400).bins).toBe(96);
  });
});

describe('waits', () => {
  it('have the p95 of the pool whose jobs waited longest, and no value where no job started', () => {
    const history = looked([0, 1], [60, 1]);
    for (let wait = 1; wait <= 100; wait++) history.wait(at(3), 'cpu', wait * 1000);
    history.wait(at(4), 'gpu', 20_000);
    const { all, slowest, pools } = seen(history, 60);
    expect([runs(all.p95), slowest[0]]).toEqual(['1x95 59x-', 'cpu']);
    expect(pools.map(({ p95 }) => p95[0])).toEqual([95, 20]);
  });

  it('of a pool that the page does not show count nowhere', () => {
    const history = looked([0, 1], [60, 1]);
    history.wait(at(3), 'removed', 500_000);
    expect(runs(seen(history, 60).all.p95)).toBe('60x-');
  });
});

it('marks deployments, overrides and limits of alarms as runs of bins', () => {
  const history = looked([0, 1, { marks: ['deployment', 'pin'] }], [60, 1, { marks: ['pin'] }], [120, 1]);
  history.look(at(180), new Map([['cpu', sample(1, { marks: ['pin'], atMax: 1 })]]), {
    waiting: 7,
    alarms: ['job-waits'],
  });
  const { marks, pools, all } = seen(history, 200);
  expect(marks.map(({ kind, from, to, text }) => `${kind} ${from}-${to} ${text}`)).toEqual([
    'alarm 18-19 limit of alarm job-waits',
    'deployment 0-5 cpu: deployment',
    'override 0-11 cpu: pinned',
    'override 18-19 cpu: pinned',
  ]);
  expect([pools[0]?.atMaxSeconds, all.waiting[19]]).toEqual([20, 7]);
});

describe('the rows of the query', () => {
  const row = (minutes: number, given: Readonly<Record<string, string>> = {}) => ({
    since: new Date(START - DAY_MS + minutes * MINUTE_MS).toISOString().replace('T', ' ').replace('Z', ''),
    ...{ name: 'cpu', marks: '-', alarms: '-', looks: '5', desired: '3', busy: '1', tasks: '3', most: '4' },
    ...{ waiting: '2', atMax: '0', pending: '2', unserved: '1', ...given },
  });
  const day = (rows: readonly Readonly<Record<string, string>>[], history = new History()) => {
    addDay(history, rows, { now: START, widthMs: 5 * MINUTE_MS });
    return seen(history, 0);
  };

  it('fill their bins; a bin without a row is a gap, and the rest of the day too', () => {
    const { all, bins, widthSeconds } = day([row(0), row(5), row(20, { desired: '0', tasks: '0' })]);
    expect([bins, widthSeconds, runs(all.desired)]).toEqual([288, 300, '2x3 2x- 1x0 283x-']);
    expect(all.waiting[0]).toBe(3);
  });

  it('of one minute are no gap if the look of a minute came late', () => {
    const history = new History();
    const minutes = [row(1430), row(1432), row(1435), row(1436)];
    addDay(history, minutes, { now: START, widthMs: MINUTE_MS });
    expect(runs(seen(history, 0).all.desired)).toBe('18x3 12x- 12x3 18x-');
  });

  it('with different marks in one bin share it, and the p95 of a row without looks counts', () => {
    const { all, marks } = day([
      row(0, { looks: '4', desired: '5' }),
      row(0, { looks: '1', desired: '0', marks: 'pin pause' }),
      row(0, { looks: '0', desired: '', p95Ms: '41200' }),
    ]);
    expect([all.desired[0], all.p95[0]]).toEqual([4, 41.2]);
    expect(marks.map(({ text }) => text)).toEqual(['cpu: paused', 'cpu: pinned']);
  });

  it('end where looks are known one by one, which are not counted twice', () => {
    const history = looked([-90, 8], [-30, 8]);
    const { all, past } = day([row(1430), row(1435)], history);
    expect(runs(all.desired.slice(-30))).toBe('21x3 9x8');
    expect(past?.hours).toBeCloseTo(600 / 3600, 6);
  });

  it('of an unknown form are left out', () => {
    expect(day([{ name: 'cpu' }, row(0, { since: 'yesterday' }), row(0, { name: '' })]).past).toBe(null);
  });

  it.each([
    { pools: 3, minutes: 1 },
    { pools: 5, minutes: 5 },
    { pools: 17, minutes: 5 },
    { pools: 50, minutes: 15 },
    { pools: 400, minutes: 30 },
  ])('are $minutes min wide for $pools pools, so that one answer holds them', ({ pools, minutes }) => {
    expect(rowWidthMs(pools)).toBe(minutes * MINUTE_MS);
    expect(dayQuery({ group: 'log', service: 'mine' }, START, rowWidthMs(pools)).query).toContain(
      `bin(${minutes}m)`,
    );
  });
});

describe('the shapes', () => {
  it('begin anew after a gap, at the bottom or as a new line, and join equal neighbours', () => {
    const values = [1, 1, null, 0, 2];
    expect(lineOf(values, 2)).toBe('M0 50H2M3 100H4V0H5');
    expect(areaOf(values, 2)).toBe('M0 100V50H2V100ZM3 100V100H4V0H5V100Z');
    expect([lineOf([null, null], 1), areaOf([], 1)]).toEqual(['', '']);
  });

  it('stay within their panel, whose top is a round number above all values', () => {
    const strip = drawStrip(seen(looked([0, 13, { busy: 11, waiting: 3 }], [60, 0]), 120));
    expect(strip.panels.map(({ top }) => top)).toEqual(['15', '1', '1 s', '$7.80']);
    for (const [, y] of strip.panels.flatMap(({ shapes }) =>
      shapes.flatMap(({ d }) =>
        [...d.matchAll(/[V ]([\d.]+)/g)].map((found) => [d, Number(found[1])] as const),
      ),
    ))
      expect(y).toBeLessThanOrEqual(100);
  });

  it('have the same scale of time for all pools, with ticks at full minutes or hours', () => {
    const strip = drawStrip(seen(looked([0, 1]), 65));
    expect(strip.ticks.map(({ text }) => text)).toEqual([
      ...['09:00', '09:02', '09:04', '09:06', '09:08', '09:10'],
    ]);
    expect([strip.title, strip.known, strip.bins]).toEqual(['the last 70 s', 7, 60]);
    expect(strip.pools.map(({ name, values }) => [name, values.busy.length])).toEqual([
      ['cpu', strip.bins],
      ['gpu', strip.bins],
    ]);
  });

  it('say in words what a person sees', () => {
    const history = looked([0, 2, { waiting: 4, atMax: 1 }], [60, 1]);
    history.wait(at(5), 'cpu', 150_000);
    expect(drawStrip(seen(history, 60)).pools[0]?.label).toBe(
      'the last 60 s: 2 desired tasks at most, 4 jobs waited at most, p95 of waits 3 min at most, $0.02, jobs waited at a limit for 60 s',
    );
  });
});

it('takes an hour of looks of 50 pools without growing', () => {
  const history = new History();
  const samples = new Map(Array.from({ length: 50 }, (_, pool) => [`team-${pool}`, sample(1)] as const));
  for (let second = 0; second < 3 * HOUR_MS; second += 10_000)
    history.look(plusMs(START, second), samples, { waiting: 0, alarms: [] });
  expect(history.bins.size).toBeLessThanOrEqual(180);
});
