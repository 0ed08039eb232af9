/** Runs random worlds in this thread or in a worker thread. */
import { Worker } from 'node:worker_threads';
import { runWorld, type WorldResult } from './run-world.ts';
import { drawPlan } from './world/plan.ts';

/** The world to run. */
export type WorldRequest = { readonly seed: number; readonly isUnguarded: boolean };

/** Runs one world at a time. */
export type Runner = {
  readonly run: (request: WorldRequest) => Promise<WorldResult>;
  /** Rejects when the worker thread fails; never resolves. */
  readonly broken: Promise<never>;
  readonly close: () => Promise<unknown>;
};

export function runRequest({ seed, isUnguarded }: WorldRequest): Promise<WorldResult> {
  return runWorld(drawPlan(seed), { isUnguarded });
}

export function threadRunner(): Runner {
  return { run: runRequest, broken: new Promise(() => {}), close: async () => {} };
}

export function workerRunner(): Runner {
  const worker = new Worker(new URL('./worker.ts', import.meta.url));
  return {
    run: (request) =>
      new Promise((resolve) => {
        worker.once('message', resolve);
        worker.postMessage(request);
      }),
    broken: new Promise((_, reject) => {
      worker.once('error', reject);
    }),
    close: () => worker.terminate(),
  };
}
