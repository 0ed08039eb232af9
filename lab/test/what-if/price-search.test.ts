import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { DAY_MS } from '../../../lambda/decision/model/units.ts';
import type { Estimate } from '../../what-if/estimate/estimate.ts';
import {
  findPrice,
  heldBack,
  type PricePoint,
  type Target,
  USUAL_PRICES,
} from '../../what-if/search/price-search.ts';

const CONFIGURED = 0.1;

/** The range is a quarter of the level to both sides. */
const estimate = (value: number): Estimate => ({ value, range: [value * 0.75, value * 1.25] });

function point(price: number, dollarsPerMonth: number, meanWaitS: number): PricePoint {
  const estimates = {
    dollarsPerMonth: estimate(dollarsPerMonth),
    meanWaitS: estimate(meanWaitS),
    p95WaitS: estimate(5 * meanWaitS),
  };
  return {
    ...{ price, isConfigured: price === CONFIGURED, seeds: 8, estimates, seen: estimates },
    ...{ heldOut: undefined, launches: 0, idleLaunches: 0, peaks: { all: 0, byPool: {} } },
  };
}

/** Without chance: with the price, cost grows and the wait falls. */
const smooth = (price: number): PricePoint => point(price, 100 * Math.sqrt(price), 1 / Math.sqrt(price));

const find = (target: Target | undefined) => findPrice(target, USUAL_PRICES.map(smooth));

describe('findPrice', () => {
  it.each([
    { target: { kind: 'budget', dollarsPerMonth: 56 } as const, price: 0.2, because: '$45 may be $55.9' },
    { target: { kind: 'budget', dollarsPerMonth: 55 } as const, price: 0.1, because: '$45 may be $55.9' },
    { target: { kind: 'mean-wait', seconds: 4 } as const, price: 0.1, because: '3.2 s may be 3.95 s' },
    { target: { kind: 'mean-wait', seconds: 3.9 } as const, price: 0.2, because: '3.2 s may be 3.95 s' },
    { target: { kind: 'p95-wait', seconds: 20 } as const, price: 0.1, because: '15.8 s may be 19.8 s' },
  ])('chooses $price for $target: $because', ({ target, price }) => {
    expect(find(target).best?.price).toBe(price);
  });

  it('says which prices are worth choosing: the best one, or else the configured one, and its neighbours', () => {
    expect(find({ kind: 'mean-wait', seconds: 1.3 }).worth.map(({ price }) => price)).toEqual([0.5, 1, 2]);
    expect(find(undefined)).toMatchObject({
      best: undefined,
      worth: [{ price: 0.05 }, { price: 0.1 }, { price: 0.2 }],
    });
  });

  it.each<Target>([
    { kind: 'budget', dollarsPerMonth: 1 },
    { kind: 'mean-wait', seconds: 0.1 },
    { kind: 'p95-wait', seconds: 0.1 },
    // met on average only
    { kind: 'mean-wait', seconds: 0.75 },
  ])('finds no price for %o', (target) => {
    expect(find(target)).toMatchObject({ best: undefined, worth: [] });
  });
});

describe('heldBack', () => {
  const held = (days: number, busy = Array.from({ length: days }, (_, day) => day)): string =>
    heldBack({
      ...{ from: 0 as EpochMs, to: (days * DAY_MS) as EpochMs },
      jobs: busy.map((day) => ({ at: (day * DAY_MS) as EpochMs })),
    })
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

  it.each([
    { busy: [6], because: 'all jobs are of one day' },
    { busy: [2, 5], because: 'no other day has jobs' },
    { busy: [0, 1, 3], because: 'the days held back have none' },
  ])('is nothing if $because', ({ busy }) => {
    expect(held(7, busy)).toBe('.......');
  });

  it('is a part of a week of five working days', () => {
    expect(held(7, [0, 1, 2, 3, 4])).toBe('..x..x.');
  });
});
