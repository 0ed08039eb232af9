import { startWorkerPool, type WorkerPool, WorkerPoolError } from '../../backtest/search/worker-pool.ts';
import { type CliEnvironment, InputError } from '../shared/cli-environment.ts';
import { type ProgressBar, showProgress } from './progress.ts';

export type Threads = { readonly workerPool: WorkerPool; readonly onProgress: ProgressBar['show'] };

/** Runs `work` with threads, and shows its progress. Throws InputError if a thread fails. */
export async function onThreads<T>(
  workers: number,
  cliEnvironment: CliEnvironment,
  work: (threads: Threads) => Promise<T>,
): Promise<T> {
  const workerPool = startWorkerPool(workers);
  const progress = showProgress(cliEnvironment);
  try {
    return await work({ workerPool, onProgress: progress.show });
  } catch (error) {
    throw error instanceof WorkerPoolError ? new InputError(error.message, { cause: error }) : error;
  } finally {
    progress.end();
    await workerPool.close();
  }
}
