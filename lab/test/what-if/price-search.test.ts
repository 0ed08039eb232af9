import { describe, expect, it } from 'vitest';
import type { PolicyRun, PricePoint } from '../../what-if/replay/result.ts';
import { findPrice, type Target } from '../../what-if/search/price-search.ts';
import { runBaseline } from './support.ts';

const { figures } = await runBaseline('static');

/** Without chance, cost grows and the wait falls with the price. The range is a quarter of the level to both sides. */
export function pointAt(price: number, level = price): PricePoint {
  const about = (value: number) => ({ value, range: [value * 0.75, value * 1.25] as const });
  const estimates: PolicyRun['estimates'] = {
    dollarsPerMonth: about(100 * Math.sqrt(level)),
    meanWaitS: about(1 / Math.sqrt(level)),
    p95WaitS: about(5 / Math.sqrt(level)),
  };
  return { price, isConfigured: price === 0.1, figures, estimates };
}

async function search(target: Target | undefined, configured = 0.1, levelOf = (price: number) => price) {
  const played: number[] = [];
  const play = async (price: number) => {
    played.push(price);
    return pointAt(price, levelOf(price));
  };
  const present = { ...pointAt(configured, levelOf(configured)), isConfigured: true };
  return { ...(await findPrice(target, { present, play })), played };
}

describe('findPrice', () => {
  it.each([
    { target: { kind: 'budget', dollarsPerMonth: 56 } as const, price: 0.2, because: '$45 may be $55.9' },
    { target: { kind: 'budget', dollarsPerMonth: 55 } as const, price: 0.1, because: '$45 may be $55.9' },
    { target: { kind: 'budget', dollarsPerMonth: 13 } as const, price: 0.01, because: '$10 may be $12.5' },
    { target: { kind: 'mean-wait', seconds: 4 } as const, price: 0.1, because: '3.2 s may be 3.95 s' },
    { target: { kind: 'mean-wait', seconds: 3.9 } as const, price: 0.2, because: '3.2 s may be 3.95 s' },
    { target: { kind: 'mean-wait', seconds: 0.9 } as const, price: 2, because: '0.7 s may be 0.88 s' },
    { target: { kind: 'p95-wait', seconds: 20 } as const, price: 0.1, because: '15.8 s may be 19.8 s' },
  ])('chooses $price for $target with at most three replays: $because', async ({ target, price }) => {
    const { best, points, played } = await search(target);
    expect(best?.price).toBe(price);
    expect(played.length).toBeLessThanOrEqual(3);
    expect(points.map((point) => point.price)).toEqual([...played, 0.1].toSorted((a, b) => a - b));
  });

  it.each([
    { configured: 0.1, prices: [0.05, 0.1, 0.2] },
    { configured: 0.01, prices: [0.01, 0.02] },
    { configured: 3, prices: [2, 3] },
  ])('plays the neighbours of $configured without a target', async ({ configured, prices }) => {
    const { best, points } = await search(undefined, configured);
    expect([best, points.map(({ price }) => price)]).toEqual([undefined, prices]);
  });

  it.each<Target>([
    { kind: 'budget', dollarsPerMonth: 1 },
    { kind: 'mean-wait', seconds: 0.1 },
    // met on average only
    { kind: 'mean-wait', seconds: 0.75 },
  ])('finds no price for %o, and has played the last of them', async (target) => {
    const { best, played } = await search(target);
    expect(best).toBeUndefined();
    expect(played).toContain(target.kind === 'budget' ? 0.01 : 2);
  });

  it('chooses a price that meets the target where chance lets a dearer one miss it', async () => {
    const { best } = await search({ kind: 'mean-wait', seconds: 2 }, 0.1, (price) =>
      price === 1 ? 0.01 : price,
    );
    expect(best?.price).toBe(0.5);
  });
});
