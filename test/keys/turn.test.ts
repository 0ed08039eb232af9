import { expect, it } from 'vitest';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { inTurn } from '../../lambda/keys/steps/pools.ts';
import { START } from '../support/lab.ts';

/** The sweeps until each of `count` pools had its turn, if a sweep takes `most` of them. */
function sweepsUntilAll(count: number, most: number, start: EpochMs): number {
  const pools = Array.from({ length: count }, (_, index) => index);
  const seen = new Set<number>();
  let sweeps = 0;
  for (; seen.size < count; sweeps += 1)
    for (const pool of inTurn(pools, plusMs(start, sweeps * 900_000)).slice(0, most)) seen.add(pool);
  return sweeps;
}

it.each([1, 2, 7, 42, 100])('takes each of %i pools within three times the fewest sweeps', (count) => {
  for (let most = 1; most <= count; most += 1)
    for (let day = 0; day < 10; day += 1) {
      const sweeps = sweepsUntilAll(count, most, plusMs(START, day * 86_400_000));
      expect(sweeps, `${most} a sweep, day ${day}`).toBeLessThanOrEqual(3 * Math.ceil(count / most));
    }
});
