/** Runs world after world until enough tasks have left. With workers some run side by side; the result is the same. */

import type { WorldResult } from './run-world.ts';
import { type Runner, threadRunner, workerRunner } from './runners.ts';
import { worldSeeds } from './world/plan.ts';

export type WorldsOptions = {
  /** How many tasks are to leave, at least. */
  readonly leaves: number;
  readonly seed: number;
  /** Threads. @default 1 */
  readonly workers?: number;
  /** Tasks without a guard. @default false */
  readonly isUnguarded?: boolean;
  /** Told how many tasks have left, each time that this is known. */
  readonly onProgress?: (leaves: number) => void;
};

/** What goes wrong in so many worlds is known well enough. */
const ENOUGH_FAILURES = 5;

/** The results in the order of the worlds: as many worlds as it takes, and no more; fewer if too many of them fail. */
export async function runWorlds(options: WorldsOptions): Promise<readonly WorldResult[]> {
  const { leaves, seed, workers = 1, isUnguarded = false, onProgress = () => {} } = options;
  const seeds = worldSeeds(seed);
  const results: (WorldResult | undefined)[] = [];
  const enough = (): readonly WorldResult[] | undefined => takeEnough(results, leaves, onProgress);
  const drive = async (runner: Runner): Promise<void> => {
    while (enough() === undefined) {
      const place = results.push(undefined) - 1;
      results[place] = await runner.run({ seed: seeds.next().value, isUnguarded });
    }
  };
  const runners = workers === 1 ? [threadRunner()] : Array.from({ length: workers }, workerRunner);
  try {
    // who sees that it is enough ends all: others may be in the middle of a world that nobody needs
    await Promise.race([...runners.map(drive), ...runners.map(({ broken }) => broken)]);
  } finally {
    await Promise.all(runners.map((runner) => runner.close()));
  }
  return enough() ?? [];
}

/** The first worlds, in order, up to that with which it is enough; undefined while there are too few. */
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
