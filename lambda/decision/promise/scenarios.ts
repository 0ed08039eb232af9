/**
 * The scenarios: a fixed table of numbers between 0 and 1 in place of random ones. Each unknown has
 * a dimension, and over all scenarios its numbers cover 0 to 1 evenly (a Latin hypercube).
 */

/** More scenarios make the quantiles smoother, and the promise slower. */
export const SCENARIOS = 127;

const tables: Float64Array[] = [];

/** The number of one dimension in one scenario, above 0 and below 1. Always the same. */
export function numberOf(dimension: number, scenario: number): number {
  const found = tables[dimension];
  if (found !== undefined) return found[scenario] ?? 0;
  const made = shuffled(dimension);
  tables[dimension] = made;
  return made[scenario] ?? 0;
}

/** Fisher and Yates' shuffle of evenly spaced numbers, with a fixed mix of bits. */
function shuffled(dimension: number): Float64Array {
  const numbers = Float64Array.from({ length: SCENARIOS }, (_, index) => (index + 0.5) / SCENARIOS);
  for (let index = SCENARIOS - 1; index > 0; index--) {
    const other = mixed(dimension, index) % (index + 1);
    const kept = numbers[index] ?? 0;
    numbers[index] = numbers[other] ?? 0;
    numbers[other] = kept;
  }
  return numbers;
}

/** Mixes two whole numbers into one of 32 bits (the finalizer of MurmurHash3). */
function mixed(a: number, b: number): number {
  let bits = Math.imul(a + 1, 0x9e3779b1) ^ Math.imul(b + 1, 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
