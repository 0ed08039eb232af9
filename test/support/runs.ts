/**
 * How often a property is tried: fewer times, and the same each time, for every mutant of a
 * mutation test.
 */

/** Stryker sets this in the processes that run tests. */
const IS_MUTATING = process.env.STRYKER_MUTATOR_WORKER !== undefined;

/** Parameters of `fc.assert` for this many runs. */
export function runs(count: number): { readonly numRuns: number; readonly seed?: number } {
  return IS_MUTATING ? { numRuns: Math.min(count, 30), seed: 1 } : { numRuns: count };
}
