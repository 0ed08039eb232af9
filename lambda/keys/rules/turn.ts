/** The order of the pools in a sweep. */
import type { EpochMs } from '../../decision/model/brands.ts';

const SWEEP_MS = 900_000;
/** Multiples of the golden ratio, less their whole parts, are spread evenly, however many there are. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/**
 * Starts each sweep elsewhere, so that every item soon has its turn, even if coderd is so slow that a
 * sweep takes only a few.
 */
export function inTurn<T>(items: readonly T[], now: EpochMs): readonly T[] {
  const first = Math.floor(((Math.floor(now / SWEEP_MS) * GOLDEN) % 1) * items.length);
  return [...items.slice(first), ...items.slice(0, first)];
}
