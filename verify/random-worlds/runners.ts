/** Runs random worlds in this thread or in worker threads. */
import { startWorkerPool, type WorkerPool } from '../../simulator/base/worker-pool.ts';
import { runWorld, type WorldResult } from './run-world.ts';
import { drawPlan } from './world/plan.ts';

/** The world to run. */
export type WorldRequest = { readonly seed: number; readonly isUnguarded: boolean };

export type WorldRunner = WorkerPool<WorldRequest, WorldResult>;

export function runRequest({ seed, isUnguarded }: WorldRequest): Promise<WorldResult> {
  return runWorld(drawPlan(seed), { isUnguarded });
}

/** `threads`: 1 runs all worlds in this thread. */
export function worldRunner(threads: number): WorldRunner {
  return startWorkerPool({
    script: new URL('./worker.ts', import.meta.url),
    handle: runRequest,
    threads,
    describe: ({ seed }) => `the world of seed ${seed}`,
  });
}
