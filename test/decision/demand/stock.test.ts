/**
 * The stock: chances computed by hand, and how the stock of a plan changes with prices, arrivals
 * and running builds.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeLaunchLimits } from '../../../lambda/decision/assignment/launch-limits.ts';
import { deriveStock } from '../../../lambda/decision/assignment/stock-groups.ts';
import { deliberate } from '../../../lambda/decision/decide.ts';
import { chanceToEnd } from '../../../lambda/decision/demand/record.ts';
import { chancesOf, shortfallOf, sumOf } from '../../../lambda/decision/demand/stock.ts';
import { derivePoolForecasts } from '../../../lambda/decision/forecast/pool-forecast.ts';
import type { Job } from '../../../lambda/decision/model/snapshot.ts';
import { deriveSupply } from '../../../lambda/decision/supply/supply.ts';
import { ago, aJob, MINUTE } from '../../support/parts.ts';
import { runs } from '../../support/runs.ts';
import {
  buildAt,
  comingEvery,
  inMs,
  type Stocked,
  stocked,
  stockIn,
  stockOfOne,
} from '../../support/stocked.ts';

const chances = (mean: number, dispersion = 1): readonly number[] => chancesOf({ mean, dispersion });
const total = (list: readonly number[]): number => list.reduce((sum, chance) => sum + chance, 0);
const meanOf = (list: readonly number[]): number =>
  list.reduce((sum, chance, count) => sum + chance * count, 0);
const varianceOf = (list: readonly number[]): number =>
  list.reduce((sum, chance, count) => sum + chance * (count - meanOf(list)) ** 2, 0);

describe('independent builds', () => {
  it.each([
    { mean: 1, daemons: 1, expected: 0.632121, because: '1 - 1/e' },
    { mean: 1, daemons: 2, expected: 0.264241, because: '1 - 2/e' },
    { mean: 1, daemons: 3, expected: 0.080301, because: '1 - 2.5/e' },
    { mean: 0.5, daemons: 1, expected: 0.393469, because: '1 - e^-0.5' },
    { mean: 2, daemons: 4, expected: 0.142877, because: '1 - (1 + 2 + 2 + 4/3) / e²' },
    { mean: 3, daemons: 0, expected: 1, because: 'none is always enough' },
  ])('come at least $daemons times with a chance of $expected for a mean of $mean: $because', (row) => {
    expect(shortfallOf(chances(row.mean), []).atLeast(row.daemons)).toBeCloseTo(row.expected, 5);
  });

  it('have a variance that equals the mean', () => {
    for (const mean of [0.1, 1, 7, 60]) {
      expect(total(chances(mean))).toBeCloseTo(1, 5);
      expect(meanOf(chances(mean)) / mean).toBeCloseTo(1, 3);
      expect(varianceOf(chances(mean)) / mean).toBeCloseTo(1, 2);
    }
  });
});

describe('builds in batches', () => {
  it.each([
    { mean: 1, dispersion: 2, none: 0.5, because: 'r = 1, p = 1/2: a geometric number' },
    { mean: 2, dispersion: 2, none: 0.25, because: 'the sum of two of these' },
    { mean: 1, dispersion: 3, none: 0.57735, because: '3^-0.5' },
  ])(
    'have a chance of $none to be none for a mean of $mean and a dispersion of $dispersion: $because',
    (row) => {
      expect(chances(row.mean, row.dispersion)[0]).toBeCloseTo(row.none, 5);
    },
  );

  it('have the given mean, and the variance given by the dispersion', () => {
    for (const mean of [0.2, 1, 12])
      for (const dispersion of [1.5, 3, 9]) {
        const list = chances(mean, dispersion);
        expect(total(list)).toBeCloseTo(1, 4);
        expect(meanOf(list) / mean).toBeCloseTo(1, 2);
        expect(varianceOf(list) / mean / dispersion).toBeCloseTo(1, 2);
      }
  });

  it('add up means and variances', () => {
    const both = sumOf(chances(2, 3), chances(0.5));
    expect(meanOf(both)).toBeCloseTo(2.5, 3);
    expect(varianceOf(both)).toBeCloseTo(6.5, 2);
  });
});

describe('running builds that are about to end', () => {
  it('lower the chance: one that surely ends leaves the chance of one more build', () => {
    const arrivals = chances(1);
    expect(shortfallOf(arrivals, [1]).atLeast(1)).toBeCloseTo(shortfallOf(arrivals, []).atLeast(2), 9);
    expect(shortfallOf(arrivals, [0.5]).atLeast(1)).toBeCloseTo((0.632121 + 0.264241) / 2, 5);
    expect(shortfallOf(arrivals, [0, 0]).atLeast(1)).toBeCloseTo(0.632121, 5);
  });

  it('end with the share of longer builds that end in that time', () => {
    const durations = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
    expect(chanceToEnd(durations, { ageMs: 0, withinMs: 30 })).toBeCloseTo(0.3);
    // five are longer than 50, and two of them end by 70
    expect(chanceToEnd(durations, { ageMs: 50, withinMs: 20 })).toBeCloseTo(0.4);
  });

  it.each([
    { scenario: 'no durations', durations: [], ageMs: 10 },
    { scenario: 'an age above the 95th percentile', durations: [10, 20, 30, 40, 50], ageMs: 51 },
    { scenario: 'an age at the 95th percentile', durations: [10, 20, 30, 40, 50], ageMs: 50 },
  ])('count 0 with $scenario', ({ durations, ageMs }) => {
    expect(chanceToEnd(durations, { ageMs, withinMs: 1e9 })).toBe(0);
  });
});

it('shortfallOf never rises with the daemons, never falls with the mean, and stays within 0 and 1', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 40, noNaN: true }),
      fc.double({ min: 0, max: 40, noNaN: true }),
      fc.double({ min: 1, max: 8, noNaN: true }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
      (a, b, dispersion, ends) => {
        const few = shortfallOf(chances(Math.min(a, b), dispersion), ends);
        const many = shortfallOf(chances(Math.max(a, b), dispersion), ends);
        const without = shortfallOf(chances(Math.max(a, b), dispersion), ends.slice(1));
        for (let daemons = 0; daemons < 60; daemons++) {
          const chance = many.atLeast(daemons);
          expect(chance).toBeGreaterThanOrEqual(0);
          expect(chance).toBeLessThanOrEqual(1 + 1e-9);
          expect(many.atLeast(daemons + 1)).toBeLessThanOrEqual(chance + 1e-12);
          expect(few.atLeast(daemons)).toBeLessThanOrEqual(chance + 1e-5);
          expect(chance).toBeLessThanOrEqual(without.atLeast(daemons) + 1e-12);
        }
      },
    ),
    runs(300),
  );
});

it.each([
  ['a huge mean', 1e12, 1],
  ['an infinite mean', Number.POSITIVE_INFINITY, 1],
  ['a mean that is no number', Number.NaN, 1],
  ['a negative mean', -5, 1],
  ['a huge dispersion', 3, 1e9],
  ['a dispersion below 1', 3, 0.2],
  ['a tiny mean', 1e-300, 4],
])('shortfallOf keeps all chances finite with %s', (_, mean, dispersion) => {
  const list = chances(mean, dispersion);
  expect(list.length).toBeLessThanOrEqual(2000);
  for (const chance of list) expect(chance).toBeGreaterThanOrEqual(0);
  const { atLeast } = shortfallOf(list, [0.5, 1]);
  for (const daemons of [0, 1, 5, 5000]) expect(Number.isFinite(atLeast(daemons))).toBe(true);
});

const busyDay = comingEvery({ everyMinutes: 4, forHours: 72 });
const oftenWithLongBuilds = comingEvery({ everyMinutes: 1, forHours: 48, tookSeconds: 1200 });
const person = (dollars: number) => ({
  waiting: { person: dollars, autostart: 0.1, prebuild: 0.005, stop: 0.001 },
});

/** Checks that the numbers never fall, and that the last is larger than the first. */
function expectRising(numbers: readonly number[]): void {
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  expect(numbers.at(-1)).toBeGreaterThan(numbers[0] ?? 0);
}

describe('the stock of a plan', () => {
  it('never falls when the price of waiting rises', () => {
    expectRising(
      [0, 0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 100].map((dollars) =>
        stockOfOne({ recent: busyDay, pool: { config: person(dollars) } }),
      ),
    );
  });

  it('never falls when tasks cost less', () => {
    expectRising(
      [16_384, 8192, 4096, 2048, 1024, 512, 256].map((cpu) =>
        stockOfOne({ recent: busyDay, pool: { config: { cpu, memory: 2 * cpu } } }),
      ),
    );
  });

  it('never falls when a launch costs more and the daemons exist', () => {
    const kept = [0, 0.001, 0.01, 0.1].map((dollarsPerLaunch) =>
      stockOfOne({
        recent: busyDay,
        pool: { idle: [MINUTE, MINUTE, MINUTE, MINUTE, MINUTE], config: { dollarsPerLaunch } },
      }),
    );
    expect(kept).toEqual([...kept].sort((a, b) => a - b));
  });

  it('never falls when builds come more often', () => {
    expectRising(
      [600, 120, 30, 10, 4, 2, 1].map((everyMinutes) =>
        stockOfOne({ recent: comingEvery({ everyMinutes, forHours: 72 }) }),
      ),
    );
  });

  it('never falls when a start takes longer', () => {
    expectRising(
      [10, 60, 300, 1800].map((seconds) =>
        stockOfOne({ recent: oftenWithLongBuilds, pool: { config: { startTimeMs: seconds * 1000 } } }),
      ),
    );
  });

  it('is lower while running builds are about to end', () => {
    const recent = comingEvery({ everyMinutes: 1, forHours: 48, tookSeconds: 90 });
    const stockWith = (busy: readonly number[]): number => stockOfOne({ recent, pool: { busy } });
    expect(stockWith([60_000, 60_000, 60_000])).toBeLessThan(stockWith([]));
  });

  it('is the same for running builds that are older than almost all others', () => {
    const recent = comingEvery({ everyMinutes: 1, forHours: 48, tookSeconds: 90 });
    expect(stockOfOne({ recent, pool: { busy: [600_000, 600_000] } })).toBe(stockOfOne({ recent }));
  });

  it('is the same for running builds of unknown duration', () => {
    const recent = comingEvery({ everyMinutes: 1, forHours: 48 }).map((job) => ({
      ...job,
      started_at: null,
    }));
    expect(stockOfOne({ recent, pool: { busy: [60_000, 60_000] } })).toBe(stockOfOne({ recent }));
  });

  it('is empty without a record', () => {
    expect(stockOfOne({})).toBe(0);
    expect(stockOfOne({ recent: [] })).toBe(0);
  });

  it('is empty if warm is 0, and exact if warm is a number', () => {
    expect(stockOfOne({ recent: busyDay, pool: { config: { warm: 0 } } })).toBe(0);
    expect(stockOfOne({ recent: busyDay, pool: { config: { warm: 3 } } })).toBe(0);
  });

  it('is empty in a pool that is retiring, has max 0, or lacks a service', () => {
    expect(stockOfOne({ recent: busyDay, pool: { config: { retiring: true } } })).toBe(0);
    expect(stockOfOne({ recent: busyDay, pool: { config: { max: 0 } } })).toBe(0);
    const withoutService: Stocked['change'] = (snapshot) => ({
      ...snapshot,
      ecs: { ...snapshot.ecs, services: { ...snapshot.ecs.services, items: [] } },
    });
    expect(stockOfOne({ recent: busyDay, change: withoutService })).toBe(0);
  });

  it('never exceeds max', () => {
    const recent = comingEvery({ everyMinutes: 0.1, forHours: 24 });
    expect(stockOfOne({ recent, pool: { config: { max: 3, ...person(100) } } })).toBe(3);
  });

  it('explains in numbers why it has not one more daemon', () => {
    const { snapshot, config } = stocked({ recent: busyDay, pools: { cpu: {} } });
    const [pool] = deliberate(snapshot, config).plan.pools;
    const reason = pool?.why.find(({ code }) => code === 'stock');
    expect(reason).toMatchObject({ daemons: pool?.floor.count, replaceSeconds: expect.any(Number) });
    if (reason?.code !== 'stock') throw new Error('no reason');
    expect(reason.perMinute).toBeGreaterThan(0);
    expect(reason.next.savesPerHour).toBeLessThan(2.1 * reason.next.costsPerHour);
    expect(pool?.floor.from).toBe('stock');
  });
});

const gpu = { cluster: 'gpu' };
const gpuEu = { cluster: 'gpu', region: 'eu' };

describe('pools that overlap', () => {
  const pools = { eu: { config: { tags: gpuEu } }, gpu: { config: { tags: gpu } } };

  it('share the stock for builds that both can run', () => {
    const recent = comingEvery({ everyMinutes: 4, forHours: 72, job: { tags: gpu } });
    const alone = stockIn({ recent, pools: { gpu: pools.gpu } }).gpu;
    const shared = stockIn({ recent, pools });
    expect((shared.eu ?? 0) + (shared.gpu ?? 0)).toBe(alone);
    expect(alone).toBeGreaterThan(0);
  });

  it('keep the stock where it costs least', () => {
    const recent = comingEvery({ everyMinutes: 4, forHours: 72, job: { tags: gpu } });
    const dear = { eu: pools.eu, gpu: { config: { tags: gpu, cpu: 4096, memory: 8192 } } };
    const { eu, gpu: kept } = stockIn({ recent, pools: dear });
    expect(eu).toBeGreaterThan(0);
    expect(kept).toBe(0);
  });

  it('keep the stock where idle daemons exist', () => {
    const recent = comingEvery({ everyMinutes: 15, forHours: 72, job: { tags: gpu } });
    const idle = { eu: pools.eu, gpu: { ...pools.gpu, idle: [MINUTE] } };
    expect(stockIn({ recent, pools: idle })).toEqual({ eu: 0, gpu: 1 });
  });

  it('count no running build twice', () => {
    const recent = [
      ...comingEvery({ everyMinutes: 2, forHours: 48, tookSeconds: 90, job: { tags: gpu } }),
      ...comingEvery({ everyMinutes: 2, forHours: 48, tookSeconds: 90, job: { tags: gpuEu } }),
    ];
    const busy = [60_000, 60_000];
    const firstValues = (eu: object): Readonly<Record<string, number | undefined>> => {
      const { snapshot, config } = stocked({ recent, pools: { eu: { ...pools.eu, ...eu }, gpu: pools.gpu } });
      const { poolForecasts } = derivePoolForecasts(snapshot, deriveSupply(snapshot, config));
      const groups = deriveStock(
        computeLaunchLimits(poolForecasts, { config, doubtsOf: () => [] }),
        snapshot,
      );
      return Object.fromEntries(groups.map((group) => [[...group.pools].join(' '), group.values[2]]));
    };
    const without = firstValues({});
    // the end of a build that both pools can run frees a daemon for builds of both
    const shared = firstValues({ busy, buildTags: gpu });
    expect(shared['eu gpu']).toBeLessThan(without['eu gpu'] ?? 0);
    expect(shared.eu).toBe(without.eu);
    // the end of a build with the narrow tags frees a daemon for such builds
    const narrow = firstValues({ busy, buildTags: gpuEu });
    expect(narrow.eu).toBeLessThan(without.eu ?? 0);
    expect(narrow['eu gpu']).toBe(without['eu gpu']);
  });
});

it('gives the last task of maxTasks to the same pool for every order of the record', () => {
  const plain = comingEvery({ everyMinutes: 4, forHours: 48 });
  const gpu = comingEvery({ everyMinutes: 12, forHours: 48, job: { tags: { cluster: 'gpu' } } });
  const pools = { b: {}, a: { config: { tags: { cluster: 'gpu', region: 'eu' } } } };
  const stockFrom = (recent: readonly Job[]) => stockIn({ pools, recent, limits: { maxTasks: 1 } });
  expect(stockFrom([...plain, ...gpu])).toEqual({ a: 0, b: 1 });
  expect(stockFrom([...gpu, ...plain])).toEqual({ a: 0, b: 1 });
});

it('reports the same builds for every order of the record', () => {
  const busy = (everyMinutes: number, tags: Job['tags']) =>
    comingEvery({ everyMinutes, forHours: 10, job: { tags } });
  const both = { cluster: 'gpu', region: 'eu' };
  const [one, other] = [busy(0.5, { cluster: 'gpu' }), busy(0.2, both)];
  const pools = {
    a: { config: { tags: both, max: 1, startTimeMs: 600_000 } },
    b: { config: { tags: { cluster: 'gpu' }, warm: 0 } },
  };
  const whyOf = (recent: readonly Job[]) => {
    const { snapshot, config } = stocked({ pools, recent });
    return deliberate(snapshot, config).plan.pools[0]?.why;
  };
  expect(whyOf([...one, ...other])).toEqual(whyOf([...other, ...one]));
});

it('reports what one more daemon would save if max allows no more', () => {
  const { snapshot, config } = stocked({
    pools: { cpu: { config: { max: 1 } } },
    recent: comingEvery({ everyMinutes: 0.5, forHours: 48 }),
  });
  const [pool] = deliberate(snapshot, config).plan.pools;
  const stock = pool?.why.find(({ code }) => code === 'stock');
  expect(stock).toMatchObject({ daemons: 1, next: { usedEveryHours: expect.any(Number) } });
});

it('keeps the stock finite and within max with future times, huge counts and odd durations', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          at: fc.constantFrom(-8e15, -1e12, -3_600_000, -60_000, -1, 0, 1, 60_000, 1e12),
          took: fc.constantFrom(-1e9, 0, 1, 60, 1e9),
          copies: fc.constantFrom(1, 2, 200),
        }),
        { maxLength: 8 },
      ),
      fc.constantFrom(0, 1e-9, 0.1, 1e9),
      (rows, dollars) => {
        const recent = rows.flatMap(({ at, took, copies }) =>
          Array.from({ length: copies }, () => buildAt(inMs(at), took)),
        );
        const stock = stockOfOne({ recent, pool: { busy: [0, 60_000], config: person(dollars) } });
        expect(stock).toBeGreaterThanOrEqual(0);
        expect(stock).toBeLessThanOrEqual(20);
      },
    ),
    runs(100),
  );
});

it('counts a pending job in the record as one arrival, not as a running build', () => {
  const pending = aJob({ created_at: ago(10_000) });
  const recent = [pending, ...busyDay];
  expect(stockOfOne({ recent, pending: [pending] })).toBeGreaterThanOrEqual(
    stockOfOne({ recent: busyDay }) - 1,
  );
});
