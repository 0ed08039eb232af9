/** Runs policies on several threads. Each run has its own simulated world. */

import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { BASELINES } from '../policies/index.ts';
import type { PolicySettings } from '../policies/policy.ts';
import { type Driver, type Run, run } from '../replay/run.ts';
import { BacktestError } from '../trace/backtest-error.ts';
import type { Trace } from '../trace/trace.ts';

/** The order of one run: plain data, as it goes to another thread. */
export type Order = {
  readonly driver:
    | { readonly policy: string; readonly settings: PolicySettings }
    | { readonly policy: 'autoscaler' };
  readonly trace: Trace;
  readonly config: Deployment;
  readonly seed: number;
  readonly valueOfMinute: number;
  /** Price of one task, by pool. */
  readonly dollarsPerHour: Readonly<Record<string, number>>;
  readonly isPictured: boolean;
};

export type WorkerPool = {
  /** Runs the order when a thread is free. Rejects with WorkerPoolError if the thread ends first. */
  readonly run: (order: Order, onProgress?: (share: number) => void) => Promise<Run>;
  readonly close: () => Promise<void>;
};

/** A message from a thread about its order. */
export type Report =
  | { readonly kind: 'progress'; readonly share: number }
  | { readonly kind: 'done'; readonly run: Run }
  | { readonly kind: 'failed'; readonly error: Error };

/** Runs an order in this thread. Throws BacktestError if its policy is unknown. */
export function runOrder(order: Order, onProgress: (share: number) => void): Promise<Run> {
  const { dollarsPerHour } = order;
  return run(driverOf(order), {
    ...order,
    dollarsPerHour: (pool) => dollarsPerHour[pool] ?? 0,
    onProgress,
  });
}

function driverOf({ driver }: Order): Driver {
  if (!('settings' in driver)) return { kind: 'autoscaler' };
  const policy = BASELINES.find(({ id }) => id === driver.policy);
  if (policy === undefined)
    throw new BacktestError(
      `finding policy "${driver.policy}": the backtest has only ${BASELINES.map(({ id }) => id).join(', ')}; correct the name`,
    );
  return { kind: 'policy', policy, settings: driver.settings };
}

/** A thread ended before its order was done. */
export class WorkerPoolError extends Error {
  override readonly name = 'WorkerPoolError';
}

/** Starts each thread when an order needs it. `threads`: the most threads. @default one per core */
export function startWorkerPool(threads = availableParallelism()): WorkerPool {
  const free: Worker[] = [];
  const alive = new Set<Worker>();
  const waiting: ((worker: Worker) => void)[] = [];
  const take = async (): Promise<Worker> => {
    const worker = free.pop() ?? (alive.size < threads ? newWorker(alive) : undefined);
    return worker ?? new Promise((resolve) => waiting.push(resolve));
  };
  const giveBack = (worker: Worker): void => {
    const next = waiting.shift();
    if (next !== undefined) next(alive.has(worker) ? worker : newWorker(alive));
    else if (alive.has(worker)) free.push(worker);
  };
  return {
    run: async (order, onProgress = () => {}) => {
      const worker = await take();
      try {
        return await runOnWorker(worker, order, onProgress);
      } finally {
        giveBack(worker);
      }
    },
    close: async () => {
      waiting.length = 0;
      await Promise.all([...alive].map((worker) => worker.terminate()));
    },
  };
}

/** The published package is compiled: there this module and the worker end in `.js`. */
const WORKER = `./worker${extname(import.meta.url)}`;

function newWorker(alive: Set<Worker>): Worker {
  const worker = new Worker(new URL(WORKER, import.meta.url));
  alive.add(worker);
  for (const event of ['error', 'exit']) worker.once(event, () => alive.delete(worker));
  return worker;
}

function runOnWorker(worker: Worker, order: Order, onProgress: (share: number) => void): Promise<Run> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      worker.off('message', onMessage);
      worker.off('error', onFailure);
      worker.off('exit', onFailure);
      settle();
    };
    /** `cause`: the error that ended the thread, or its exit code. */
    const onFailure = (cause: unknown): void => end(() => reject(failureOf(order, cause)));
    const onMessage = (report: Report): void => {
      if (report.kind === 'progress') onProgress(report.share);
      else if (report.kind === 'failed') end(() => reject(report.error));
      else end(() => resolve(report.run));
    };
    worker.on('message', onMessage);
    worker.on('error', onFailure);
    worker.on('exit', onFailure);
    worker.postMessage(order);
  });
}

function failureOf({ driver }: Order, cause: unknown): WorkerPoolError {
  const seen = cause instanceof Error ? cause.message : `exit code ${cause}`;
  return new WorkerPoolError(
    `running policy "${driver.policy}": its thread ended early (${seen}); if memory is short, use fewer threads or a shorter trace`,
    { cause },
  );
}
