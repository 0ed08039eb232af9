/** Runs of policies on several threads: each is a world of its own. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Deployment } from '../../lambda/adapters/config/deployment.ts';
import type { Trace } from '../trace/trace.ts';
import { BASELINES } from './policies/index.ts';
import type { PolicySettings } from './policy.ts';
import { type Driver, type Run, run } from './run.ts';

/** What is to be run: plain data, which goes to another thread. */
export type Order = {
  readonly driver:
    | { readonly policy: string; readonly settings: PolicySettings }
    | { readonly policy: 'autoscaler' };
  readonly trace: Trace;
  readonly config: Deployment;
  readonly seed: number;
  readonly valueOfMinute: number;
  /** By pool. */
  readonly dollarsPerHour: Readonly<Record<string, number>>;
  readonly isPictured: boolean;
};

export type Crew = {
  /** Runs it as soon as a thread is free. */
  readonly run: (order: Order, onProgress?: (share: number) => void) => Promise<Run>;
  readonly close: () => Promise<void>;
};

/** What a thread says of its order. */
export type Report =
  | { readonly kind: 'progress'; readonly share: number }
  | { readonly kind: 'done'; readonly run: Run }
  | { readonly kind: 'failed'; readonly error: Error };

/** Runs an order in this thread. */
export function runOrder(order: Order, onProgress: (share: number) => void): Promise<Run> {
  const { dollarsPerHour } = order;
  return run(driverOf(order), {
    ...order,
    dollarsPerHour: (pool) => dollarsPerHour[pool] ?? 0,
    onProgress,
  });
}

function driverOf({ driver, config }: Order): Driver {
  if (!('settings' in driver)) return { kind: 'autoscaler', config };
  const policy = BASELINES.find(({ id }) => id === driver.policy);
  if (policy === undefined) throw new Error(`finding policy "${driver.policy}": there is none`);
  return { kind: 'policy', policy, settings: driver.settings };
}

/** Threads start with the first orders; `threads`: at the most. @default one a core */
export function startCrew(threads = availableParallelism()): Crew {
  const free: Worker[] = [];
  const all = new Set<Worker>();
  const waiting: ((worker: Worker) => void)[] = [];
  const take = async (): Promise<Worker> => {
    const worker = free.pop() ?? (all.size < threads ? newWorker(all) : undefined);
    return worker ?? new Promise((resolve) => waiting.push(resolve));
  };
  const giveBack = (worker: Worker): void => {
    const next = waiting.shift();
    if (next === undefined) free.push(worker);
    else next(worker);
  };
  return {
    run: async (order, onProgress = () => {}) => {
      const worker = await take();
      try {
        return await orderOf(worker, order, onProgress);
      } finally {
        giveBack(worker);
      }
    },
    close: async () => {
      await Promise.all([...all].map((worker) => worker.terminate()));
    },
  };
}

function newWorker(all: Set<Worker>): Worker {
  const worker = new Worker(new URL('./worker.ts', import.meta.url));
  all.add(worker);
  return worker;
}

function orderOf(worker: Worker, order: Order, onProgress: (share: number) => void): Promise<Run> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      worker.off('message', hear);
      worker.off('error', fail);
      settle();
    };
    const fail = (error: unknown): void => end(() => reject(error));
    const hear = (report: Report): void => {
      if (report.kind === 'progress') onProgress(report.share);
      else if (report.kind === 'failed') fail(report.error);
      else end(() => resolve(report.run));
    };
    worker.on('message', hear);
    worker.on('error', fail);
    worker.postMessage(order);
  });
}
