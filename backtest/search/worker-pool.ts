/** Runs of policies on several threads: each is a world of its own. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { BASELINES } from '../policies/index.ts';
import type { PolicySettings } from '../policies/policy.ts';
import { type Driver, type Run, run } from '../replay/run.ts';
import type { Trace } from '../trace/trace.ts';

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

export type WorkerPool = {
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

function driverOf({ driver }: Order): Driver {
  if (!('settings' in driver)) return { kind: 'autoscaler' };
  const policy = BASELINES.find(({ id }) => id === driver.policy);
  if (policy === undefined) throw new Error(`finding policy "${driver.policy}": there is none`);
  return { kind: 'policy', policy, settings: driver.settings };
}

/** A thread has ended before its order was done. */
export class CrewError extends Error {
  override readonly name = 'CrewError';
}

/** Threads start with the first orders; `threads`: at the most. @default one a core */
export function startCrew(threads = availableParallelism()): WorkerPool {
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
        return await orderOf(worker, order, onProgress);
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

function newWorker(alive: Set<Worker>): Worker {
  const worker = new Worker(new URL('./worker.ts', import.meta.url));
  alive.add(worker);
  for (const event of ['error', 'exit']) worker.once(event, () => alive.delete(worker));
  return worker;
}

function orderOf(worker: Worker, order: Order, onProgress: (share: number) => void): Promise<Run> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      worker.off('message', hear);
      worker.off('error', die);
      worker.off('exit', die);
      settle();
    };
    /** With what it died of, or its exit code. */
    const die = (cause: unknown): void => end(() => reject(deathOf(order, cause)));
    const hear = (report: Report): void => {
      if (report.kind === 'progress') onProgress(report.share);
      else if (report.kind === 'failed') end(() => reject(report.error));
      else end(() => resolve(report.run));
    };
    worker.on('message', hear);
    worker.on('error', die);
    worker.on('exit', die);
    worker.postMessage(order);
  });
}

function deathOf({ driver }: Order, cause: unknown): CrewError {
  const seen = cause instanceof Error ? cause.message : `it ended with code ${cause}`;
  return new CrewError(
    `running policy "${driver.policy}": its thread died (${seen}); if memory is short, use fewer threads or a shorter trace`,
    { cause },
  );
}
