/**
 * Simulates worlds until enough tasks have left. With several workers, worlds run in parallel; the
 * result is the same.
 */

import type { WorldResult } from './run-world.ts';
import { worldRunner } from './runners.ts';
import { worldSeeds } from './world/plan.ts';

export type WorldsOptions = {
  /** Stop after at least this many tasks have left. */
  readonly leaves: number;
  readonly seed: number;
  /** Number of threads. @default 1 */
  readonly workers?: number;
  /** Whether tasks run without a guard. @default false */
  readonly isUnguarded?: boolean;
  /** Called with the number of tasks that have left, each time a world ends. */
  readonly onProgress?: (leaves: number) => void;
};

/** Stop after this many worlds with problems: more of them add little. */
const ENOUGH_FAILURES = 5;

/**
 * The results in the order of the worlds: only as many worlds as needed, or fewer if too many have
 * problems.
 */
export async function runWorlds(options: WorldsOptions): Promise<readonly WorldResult[]> {
  const { leaves, seed, workers = 1, isUnguarded = false, onProgress = () => {} } = options;
  const seeds = worldSeeds(seed);
  const results: (WorldResult | undefined)[] = [];
  const enough = (): readonly WorldResult[] | undefined => takeEnough(results, leaves, onProgress);
  const runner = worldRunner(workers);
  const drive = async (): Promise<void> => {
    while (enough() === undefined) {
      const index = results.push(undefined) - 1;
      results[index] = await runner.run({ seed: seeds.next().value, isUnguarded });
    }
  };
  try {
    // The first to find enough results ends all threads: the worlds still in progress are not
    // needed
    await Promise.race(Array.from({ length: workers }, drive));
  } finally {
    await runner.close();
  }
  return enough() ?? [];
}

/** The first worlds, in order, that are enough; undefined while there are too few. */
function takeEnough(
  results: readonly (WorldResult | undefined)[],
  leaves: number,
  onProgress: (leaves: number) => void,
): readonly WorldResult[] | undefined {
  const taken: WorldResult[] = [];
  let left = 0;
  let failed = 0;
  const isEnough = (): boolean => left >= leaves || failed >= ENOUGH_FAILURES;
  for (const result of results) {
    if (isEnough() || result === undefined) break;
    taken.push(result);
    left += result.leaves;
    failed += result.problems.length > 0 ? 1 : 0;
  }
  onProgress(left);
  return isEnough() ? taken : undefined;
}
