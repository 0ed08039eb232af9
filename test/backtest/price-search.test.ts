import { describe, expect, it } from 'vitest';
import type { Estimate } from '../../backtest/estimate/estimate.ts';
import {
  findPrice,
  heldBack,
  isMet,
  type PricePoint,
  type Target,
  USUAL_PRICES,
} from '../../backtest/search/price-search.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { DAY_MS } from '../../lambda/decision/model/units.ts';

const CONFIGURED = 0.1;

/** The range is a quarter of the level to both sides. */
const estimate = (value: number): Estimate => ({ value, range: [value * 0.75, value * 1.25] });

const point = (price: number, dollarsPerMonth: number, meanWaitS: number, seeds: number): PricePoint => ({
  price,
  isConfigured: price === CONFIGURED,
  seeds,
  seen: {
    dollarsPerMonth: estimate(dollarsPerMonth),
    meanWaitS: estimate(meanWaitS),
    p95WaitS: estimate(5 * meanWaitS),
  },
  heldOut: undefined,
  launches: 0,
  idleLaunches: 0,
  lostJobs: 0,
  peaks: { all: 0, byPool: {} },
});

type Model = (price: number, seeds: number) => PricePoint;

/** Without chance: with the price, cost grows and the wait falls. */
const smooth: Model = (price, seeds) => point(price, 100 * Math.sqrt(price), 1 / Math.sqrt(price), seeds);

async function find(target: Target | undefined, model: Model = smooth) {
  const runs: string[] = [];
  const found = await findPrice(target, {
    prices: USUAL_PRICES,
    configured: CONFIGURED,
    runAt: async (price, which) => {
      runs.push(`${price} ${which}`);
      return model(price, which === 'one' ? 1 : 8);
    },
  });
  return { ...found, runs };
}

describe('findPrice', () => {
  it.each([
    { target: { kind: 'budget', dollarsPerMonth: 60 } as const, price: 0.2, because: '$45 may be $56' },
    { target: { kind: 'budget', dollarsPerMonth: 50 } as const, price: 0.1, because: '$45 may be $56' },
    { target: { kind: 'mean-wait', seconds: 4 } as const, price: 0.1, because: '3.2 s may be 4 s' },
    { target: { kind: 'mean-wait', seconds: 3.5 } as const, price: 0.2, because: '3.2 s may be 4 s' },
    { target: { kind: 'p95-wait', seconds: 20 } as const, price: 0.1, because: '16 s may be 20 s' },
  ])('chooses $price for $target: $because', async ({ target, price }) => {
    const { best } = await find(target);
    expect(best?.price).toBe(price);
    expect(best?.seeds).toBe(8);
  });

  it('tries the next price if more seeds show that the first one misses the target', async () => {
    const lucky: Model = (price, seeds) =>
      price === 0.05 && seeds === 1 ? point(price, 20, 2, seeds) : smooth(price, seeds);
    const { best, runs } = await find({ kind: 'mean-wait', seconds: 4 }, lucky);
    expect(best?.price).toBe(0.1);
    expect(runs).toContain('0.05 all');
  });

  it('replays the choice, its neighbours and the configured price with all seeds', async () => {
    const { points, worth } = await find({ kind: 'mean-wait', seconds: 1.3 });
    const thorough = points.filter(({ seeds }) => seeds === 8).map(({ price }) => price);
    expect(thorough).toEqual([0.1, 0.5, 1, 2]);
    expect(worth.map(({ price }) => price)).toEqual([0.5, 1, 2]);
    expect(points.map(({ price }) => price)).toEqual(USUAL_PRICES);
  });

  it('needs no target', async () => {
    const { best, worth } = await find(undefined);
    expect(best).toBeUndefined();
    expect(worth.map(({ price, seeds }) => ({ price, seeds }))).toEqual([
      { price: 0.05, seeds: 8 },
      { price: 0.1, seeds: 8 },
      { price: 0.2, seeds: 8 },
    ]);
  });

  it.each([
    { target: { kind: 'budget', dollarsPerMonth: 1 } as const, run: '0.01 one' },
    { target: { kind: 'mean-wait', seconds: 0.1 } as const, run: '2 one' },
    { target: { kind: 'p95-wait', seconds: 0.1 } as const, run: '2 one' },
  ])('knows after one replay that no price meets $target', async ({ target, run }) => {
    const { best, runs } = await find(target);
    expect(best).toBeUndefined();
    expect(runs).toEqual([run]);
  });

  it('finds no price if each one meets the target on average only', async () => {
    const { best, points } = await find({ kind: 'mean-wait', seconds: 0.75 });
    expect(best).toBeUndefined();
    expect(points.some((each) => isMet({ kind: 'mean-wait', seconds: 0.75 }, each))).toBe(false);
  });
});

describe('heldBack', () => {
  const held = (days: number): string =>
    heldBack({ from: 0 as EpochMs, to: (days * DAY_MS) as EpochMs })
      .map((isHeldBack) => (isHeldBack ? 'x' : '.'))
      .join('');

  it.each([
    { days: 0.1, picture: '.' },
    { days: 5, picture: '.....' },
    { days: 7.5, picture: '..x..x.' },
    { days: 14, picture: '.......xxxxxxx' },
    { days: 20, picture: '.............xxxxxxx' },
    { days: 43, picture: '.............................xxxxxxxxxxxxxx' },
  ])('of $days days is $picture', ({ days, picture }) => {
    expect(held(days)).toBe(picture);
  });
});
