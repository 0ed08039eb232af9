/** Runs policies on several threads. Each run has its own simulated world. */
import { availableParallelism } from 'node:os';
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { ownValue, sum } from '../../../lambda/decision/model/collections.ts';
import * as base from '../../world/base/worker-pool.ts';
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
  readonly dollarsPerHour: Readonly<Record<string, number>>;
  readonly isPictured: boolean;
};

export type WorkerPool = base.WorkerPool<Order, Run>;
export { WorkerPoolError } from '../../world/base/worker-pool.ts';

/** Runs an order in this thread. Throws BacktestError if its policy is unknown. */
function runOrder(order: Order, onProgress: (share: number) => void): Promise<Run> {
  const { dollarsPerHour } = order;
  return run(driverOf(order), {
    ...order,
    dollarsPerHour: (pool) => ownValue(dollarsPerHour, pool) ?? 0,
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

/** Starts the threads of a backtest. `threads`: the most threads; 1 is this one. @default one per core */
export function startWorkerPool(threads = availableParallelism()): WorkerPool {
  return base.startWorkerPool({
    module: import.meta.url,
    handle: runOrder,
    threads,
    describe: ({ driver }) => `policy "${driver.policy}"`,
  });
}

base.serveRequests(import.meta.url, runOrder);

/** `onProgress`: takes the share of the work that is done, 0 to 1, and the name of the part that runs. */
type ProgressOptions = { readonly onProgress?: (share: number, doing: string) => void };

/** The weighted progress of several parts. `least`: the weight of all, as far as it is known before. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #least: number;
  readonly #parts: { readonly weight: number; share: number }[] = [];

  constructor(options: ProgressOptions, least = 0) {
    this.#options = options;
    this.#least = least;
  }

  add(doing: string, weight: number): (share: number) => void {
    const part = { weight, share: 0 };
    this.#parts.push(part);
    return (share) => {
      // two runs may report to the same part
      part.share = Math.max(part.share, share);
      const done = sum(this.#parts, (each) => each.weight * each.share);
      const all = sum(this.#parts, (each) => each.weight);
      this.#options.onProgress?.(done / Math.max(this.#least, all), doing);
    };
  }
}
