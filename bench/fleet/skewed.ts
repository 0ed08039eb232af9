import type { Random } from '../../simulator/base/random.ts';

/**
 * Picks an item, the first ones more often. Power 1: uniform. Power 2: half of the picks are in the
 * first quarter.
 */
export function pickSkewed<T>(items: readonly T[], power: number, random: Random): T | undefined {
  return items[Math.floor(items.length * random.next() ** power)];
}
