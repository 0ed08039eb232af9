/** Who runs worlds: this thread, or a worker. */
import { Worker } from 'node:worker_threads';
import { runWorld, type WorldResult } from './run-world.ts';
import { drawPlan } from './world/plan.ts';

/** Which world to run. */
export type Order = { readonly seed: number; readonly isUnguarded: boolean };

/** Runs one world at a time. */
export type Runner = {
  readonly run: (order: Order) => Promise<WorldResult>;
  /** Rejects when the runner can't go on; never resolves. */
  readonly broken: Promise<never>;
  readonly close: () => Promise<unknown>;
};

export function runOrder({ seed, isUnguarded }: Order): Promise<WorldResult> {
  return runWorld(drawPlan(seed), { isUnguarded });
}

export function threadRunner(): Runner {
  return { run: runOrder, broken: new Promise(() => {}), close: async () => {} };
}

export function workerRunner(): Runner {
  const worker = new Worker(new URL('./worker.ts', import.meta.url));
  return {
    run: (order) =>
      new Promise((resolve) => {
        worker.once('message', resolve);
        worker.postMessage(order);
      }),
    broken: new Promise((_, reject) => {
      worker.once('error', reject);
    }),
    close: () => worker.terminate(),
  };
}
