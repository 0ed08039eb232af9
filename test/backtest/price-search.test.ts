import { describe, expect, it } from 'vitest';
import { type PricePoint, USUAL_PRICES } from '../../backtest/search/price-point.ts';
import { findPrice, type Target } from '../../backtest/search/price-search.ts';

const point = (price: number, dollarsPerMonth: number, meanWaitS: number): PricePoint => ({
  ...{ price, isConfigured: false, dollarsPerMonth, meanWaitS, p95WaitS: 5 * meanWaitS },
  ...{ over10s: 0, launches: 0, idleLaunches: 0, lostJobs: 0 },
});

/** A model without noise: with the price, cost grows and the wait falls. */
const smooth = (price: number): PricePoint => point(price, 100 * Math.sqrt(price), 1 / Math.sqrt(price));

const find = (target: Target, model: (price: number) => PricePoint) =>
  findPrice(target, USUAL_PRICES, (price) => Promise.resolve(model(price)));

describe('findPrice', () => {
  it.each([
    { target: { kind: 'budget', dollarsPerMonth: 55 } as const, ideal: 0.3025 },
    { target: { kind: 'mean-wait', seconds: 2.5 } as const, ideal: 0.16 },
    { target: { kind: 'p95-wait', seconds: 8 } as const, ideal: 0.390625 },
  ])(
    'finds a price within a fifth of the ideal one for the $target.kind target',
    async ({ target, ideal }) => {
      const { best } = await find(target, smooth);
      expect(best?.price).toBeGreaterThan(ideal / 1.2);
      expect(best?.price).toBeLessThan(ideal * 1.2);
    },
  );

  it('runs each price once', async () => {
    const { points } = await find({ kind: 'budget', dollarsPerMonth: 55 }, smooth);
    const prices = points.map(({ price }) => price);
    expect(new Set(prices).size).toBe(prices.length);
    expect(prices).toEqual(prices.toSorted((a, b) => a - b));
    expect(prices.length).toBe(USUAL_PRICES.length + 3);
  });

  it('never exceeds the budget when cost does not rise steadily', async () => {
    const noisy = (price: number): PricePoint => {
      const { dollarsPerMonth, meanWaitS } = smooth(price);
      return point(price, dollarsPerMonth * (price === 0.2 ? 1.4 : 1), meanWaitS);
    };
    const { best, points } = await find({ kind: 'budget', dollarsPerMonth: 60 }, noisy);
    expect(best?.dollarsPerMonth).toBeLessThanOrEqual(60);
    const shortest = points.filter((each) => each.dollarsPerMonth <= 60).map(({ meanWaitS }) => meanWaitS);
    expect(best?.meanWaitS).toBe(Math.min(...shortest));
  });

  it.each([
    { target: { kind: 'budget', dollarsPerMonth: 1_000 } as const, price: 2 },
    { target: { kind: 'mean-wait', seconds: 1_000 } as const, price: 0.01 },
  ])(
    'takes $price, an end of the prices, when every price meets the $target.kind target',
    async ({ target, price }) => {
      const { best, points } = await find(target, smooth);
      expect(best?.price).toBe(price);
      expect(points).toHaveLength(USUAL_PRICES.length);
    },
  );

  it.each([
    { target: { kind: 'budget', dollarsPerMonth: 1 } as const },
    { target: { kind: 'mean-wait', seconds: 0.1 } as const },
    { target: { kind: 'p95-wait', seconds: 0.1 } as const },
  ])('finds no price when none meets the $target.kind target', async ({ target }) => {
    expect(await find(target, smooth)).toMatchObject({ best: undefined });
  });
});
