/** Runs the Lambda function of a synthesized stack in a thread, and passes on each line that it logs. */
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { SynthesizedStack } from '../../world/synthesized-stack.ts';
import type { WorkerInput } from './worker.ts';

export type FunctionOptions = {
  /** Variables that are only known after a deployment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onLine: (line: string) => void;
};

export class RunningFunction {
  readonly #worker: Worker;
  readonly #ended: Promise<never>;
  #running: Promise<void> | undefined;

  constructor({ function: { dir, timeoutMs, environment } }: SynthesizedStack, options: FunctionOptions) {
    const module = pathToFileURL(join(dir, 'index.mjs')).href;
    this.#worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: { module, timeoutMs } satisfies WorkerInput,
      env: { ...environment, ...options.environment },
      stdout: true,
      stderr: true,
    });
    // Lambda sends both to the log
    for (const input of [this.#worker.stdout, this.#worker.stderr])
      createInterface({ input }).on('line', options.onLine);
    this.#ended = once(this.#worker, 'exit').then(
      () => Promise.reject(new FunctionError('the process of the function has ended')),
      (cause) => Promise.reject(new FunctionError(`running the function: ${String(cause)}`, { cause })),
    );
    this.#ended.catch(() => {});
  }

  /** Invokes the function like the schedule. Throws FunctionError if the invocation fails. */
  async invoke(): Promise<void> {
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage(port2, [port2]);
    const [error] = await Promise.race([once(port1, 'message'), this.#ended]);
    port1.close();
    if (error !== undefined) throw new FunctionError(error);
  }

  /** Returns the running invocation, or starts one. */
  invokeUnlessRunning(onError: (error: unknown) => void): Promise<void> {
    this.#running ??= this.invoke()
      .catch(onError)
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** Ends the process, with any running invocation. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** An invocation of the function failed, or its process ended. */
class FunctionError extends Error {
  override readonly name = 'FunctionError';
}
