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

const point = (price: number, dollarsPerMonth: number, meanWaitS: number): PricePoint => ({
  price,
  isConfigured: price === CONFIGURED,
  isReplayed: false,
  seeds: 8,
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

/** Without chance: with the price, cost grows and the wait falls. */
const smooth = (price: number): PricePoint => point(price, 100 * Math.sqrt(price), 1 / Math.sqrt(price));

/** `slower`: by what factor people wait longer in the replays than in the sketch, by price. */
async function find(target: Target | undefined, slower: (price: number) => number = () => 1) {
  const replays: number[] = [];
  const found = await findPrice(target, {
    prices: USUAL_PRICES,
    configured: CONFIGURED,
    sketchAt: smooth,
    replayAt: async (price) => {
      replays.push(price);
      // long waits, so that the least wait that counts does not matter
      const sketched = { dollarsPerMonth: 1_000, meanWaitS: 1_000, p95WaitS: 5_000 };
      const replayed = { ...sketched, meanWaitS: sketched.meanWaitS * slower(price) };
      return { sketched, replayed, peaks: { all: 9, byPool: { a: 9 } }, lostJobs: 1 };
    },
  });
  return { ...found, replays };
}

describe('findPrice', () => {
  it.each([
    { target: { kind: 'budget', dollarsPerMonth: 62 } as const, price: 0.2, because: '$45 may be $61.3' },
    { target: { kind: 'budget', dollarsPerMonth: 61 } as const, price: 0.1, because: '$45 may be $61.3' },
    { target: { kind: 'mean-wait', seconds: 4.8 } as const, price: 0.1, because: '3.2 s may be 4.7 s' },
    { target: { kind: 'mean-wait', seconds: 4.6 } as const, price: 0.2, because: '3.2 s may be 4.7 s' },
    { target: { kind: 'p95-wait', seconds: 22 } as const, price: 0.1, because: '16 s may be 21.7 s' },
  ])('chooses $price for $target: $because', async ({ target, price }) => {
    const { best } = await find(target);
    expect(best).toMatchObject({ price, isReplayed: true });
  });

  it('tries the next price if a replay shows that the first one misses the target', async () => {
    const { best, replays } = await find({ kind: 'mean-wait', seconds: 4.6 }, () => 1.5);
    expect(replays).toEqual([0.1, 0.5]);
    expect(best?.price).toBe(0.5);
    expect(best?.seen.meanWaitS.value).toBeCloseTo(1.5 / Math.sqrt(0.5), 2);
  });

  it('corrects a price without a replay by those next to it', async () => {
    const { points } = await find({ kind: 'mean-wait', seconds: 2.3 }, (price) => (price === 0.1 ? 1 : 1.2));
    const factors = points.map(({ price, seen }) => seen.meanWaitS.value * Math.sqrt(price));
    const [first, , , configured, between, chosen] = factors;
    expect([first, configured]).toEqual([expect.closeTo(1, 2), expect.closeTo(1, 2)]);
    expect(between).toBeGreaterThan(1.02);
    expect(between).toBeLessThan(1.18);
    expect(chosen).toBeCloseTo(1.2, 2);
  });

  it('replays the configured price and the choice', async () => {
    const { points, worth, replays } = await find({ kind: 'mean-wait', seconds: 1.6 });
    expect(replays).toEqual([0.1, 1]);
    expect(points.map(({ price }) => price)).toEqual(USUAL_PRICES);
    expect(points.filter(({ isReplayed }) => isReplayed).map(({ price }) => price)).toEqual([0.1, 1]);
    expect(points.map(({ lostJobs }) => lostJobs)).toEqual([0, 0, 0, 1, 0, 0, 1, 0]);
    expect(worth.map(({ price }) => price)).toEqual([0.5, 1, 2]);
    expect(worth[0]?.peaks).toEqual({ all: 9, byPool: { a: 9 } });
  });

  it('needs no target', async () => {
    const { best, worth, replays } = await find(undefined);
    expect(best).toBeUndefined();
    expect(worth.map(({ price }) => price)).toEqual([0.05, 0.1, 0.2]);
    expect(replays).toEqual([0.1]);
  });

  it.each<Target>([
    { kind: 'budget', dollarsPerMonth: 1 },
    { kind: 'mean-wait', seconds: 0.1 },
    { kind: 'p95-wait', seconds: 0.1 },
  ])('knows without a replay that no price meets %o', async (target) => {
    const { best, replays } = await find(target);
    expect(best).toBeUndefined();
    expect(replays).toEqual([]);
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
