/** Simulates worlds until enough tasks have left. The result is the same with any number of workers. */
import { serveRequests, startWorkerPool } from '../../world/base/worker-pool.ts';
import type { WorldResult } from './figures.ts';
import { type RunOptions, runWorld } from './run-world.ts';
import { costOf } from './twins.ts';
import { type WorldPlan, worldSeeds } from './world/plan.ts';
import { planOf, sightPlanOf } from './world/quiet.ts';

export type WorldsOptions = {
  readonly leaves: number;
  /** Stop after this many worlds instead. */
  readonly worlds?: number | undefined;
  readonly seed: number;
  /** @default false */
  readonly isQuiet?: boolean;
  /** Number of threads; 1 runs all worlds in this thread. @default 1 */
  readonly workers?: number;
  /** Whether tasks run without a guard. @default false */
  readonly isUnguarded?: boolean;
  /** Whether looks cannot see all and nothing else fails, and each world is played a second time. @default false */
  readonly hasTwins?: boolean;
  readonly onProgress?: (progress: { readonly leaves: number; readonly worlds: number }) => void;
};

type WorldRequest = {
  readonly seed: number;
  readonly isUnguarded: boolean;
  readonly isQuiet: boolean;
  readonly hasTwin: boolean;
};

/** Stop after this many worlds with problems: more of them add little. */
const ENOUGH_FAILURES = 5;

export const planOfRequest = ({ seed, isQuiet, hasTwin }: Omit<WorldRequest, 'isUnguarded'>): WorldPlan =>
  hasTwin ? sightPlanOf(seed) : planOf(seed, isQuiet);

export async function runRequest(
  request: WorldRequest,
  { print }: Pick<RunOptions, 'print'> = {},
): Promise<WorldResult> {
  const plan = planOfRequest(request);
  const { isUnguarded } = request;
  const result = await runWorld(plan, { isUnguarded, ...(print && { print }) });
  if (!request.hasTwin) return result;
  const whole = await runWorld({ ...plan, hasWholeSight: true }, { isUnguarded });
  const problems = [...result.problems, ...whole.problems.map((problem) => `if looks see all: ${problem}`)];
  return { ...result, problems, twin: { ...costOf(whole), isBrief: plan.outages === 'brief' } };
}

/** In the order of the worlds: only as many as needed, or fewer if too many have problems. */
export async function runWorlds(options: WorldsOptions): Promise<readonly WorldResult[]> {
  const { seed, workers = 1, isUnguarded = false, isQuiet = false, hasTwins = false } = options;
  const seeds = worldSeeds(seed);
  const results: (WorldResult | undefined)[] = [];
  const enough = (): readonly WorldResult[] | undefined => takeEnough(results, options);
  const pool = startWorkerPool({
    module: import.meta.url,
    handle: (request) => runRequest(request),
    threads: workers,
    describe: (request: WorldRequest) => `the world of seed ${request.seed}`,
  });
  const drive = async (): Promise<void> => {
    while (enough() === undefined) {
      const index = results.push(undefined) - 1;
      results[index] = await pool.run({
        ...{ seed: seeds.next().value, isUnguarded, isQuiet },
        hasTwin: hasTwins,
      });
    }
  };
  try {
    // Worlds in progress are not needed, but end by themselves: Node aborts the process if a thread is
    // terminated while it makes a zlib stream, as the function's record does in each look
    await Promise.all(Array.from({ length: workers }, drive));
  } finally {
    await pool.close();
  }
  return enough() ?? [];
}

/** The first worlds, in order, that are enough; undefined while there are too few. */
function takeEnough(
  results: readonly (WorldResult | undefined)[],
  { leaves: wanted, worlds, onProgress = () => {} }: WorldsOptions,
): readonly WorldResult[] | undefined {
  const taken: WorldResult[] = [];
  let leaves = 0;
  let failed = 0;
  const isEnough = (): boolean =>
    (worlds === undefined ? leaves >= wanted : taken.length >= worlds) || failed >= ENOUGH_FAILURES;
  for (const result of results) {
    if (isEnough() || result === undefined) break;
    taken.push(result);
    leaves += result.leaves;
    failed += result.problems.length > 0 ? 1 : 0;
  }
  onProgress({ leaves, worlds: taken.length });
  return isEnough() ? taken : undefined;
}

serveRequests(import.meta.url, (request: WorldRequest) => runRequest(request));
