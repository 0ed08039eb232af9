/**
 * How much the long tests try: all of it in `.ci/nightly`, less in `npm run check` and `.ci/run`, least
 * for a mutant of a mutation test. Files named `*.full.test.ts` do not run in `npm run check`.
 */

/** `.ci/nightly` sets this. */
export const IS_FULL = process.env.TEST_EFFORT === 'full';
/** Whether `*.full.test.ts` run: `.ci/run` sets `long`, so that they try as much as a quick run would. */
export const HAS_LONG = IS_FULL || process.env.TEST_EFFORT === 'long';
/** Stryker sets this in the processes that run tests. */
export const IS_MUTATING = process.env.STRYKER_MUTATOR_WORKER !== undefined;

/** Globs of the tests that may notice a mutant of a room (test/mutation/rooms.ts); all tests without it. */
export const MUTATED_ROOM_TESTS = process.env.MUTATED_ROOM_TESTS?.split(' ');

/** `npm run check` tries a property this many times less often. */
const QUICK_SHARE = 20;
const FEWEST_RUNS = 20;
/** Rows of a long table that `npm run check` tries. */
const QUICK_ROWS = 3;

/** Parameters of `fc.assert` for a property that the full effort tries `count` times. */
export function runs(count: number): { readonly numRuns: number; readonly seed?: number } {
  if (IS_MUTATING) return { numRuns: Math.min(count, 30), seed: 1 };
  return { numRuns: IS_FULL ? count : Math.min(count, Math.max(FEWEST_RUNS, count / QUICK_SHARE)) };
}

/**
 * Rows of slow tests, such as seeds of a world: all at full effort, else a few, the first and the last
 * among them.
 */
export function rows<T>(all: readonly T[], quick = QUICK_ROWS): readonly T[] {
  return IS_FULL ? all : sample(all, quick);
}

/** So many rows, the first and the last among them, for what another part of CI tries in full. */
export function sample<T>(all: readonly T[], count: number): readonly T[] {
  if (all.length <= count) return all;
  const step = count === 1 ? 0 : (all.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, index) => all[Math.round(index * step)] as T);
}
