/** Runs the Lambda function of a synthesized stack in a thread, and passes on each line that it logs. */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { SynthesizedStack } from '../../simulator/synthesized-stack.ts';
import type { Invocation, InvocationEnd, WorkerInput } from './worker.ts';

export type FunctionOptions = {
  /** Variables that are only known after a deployment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onLine: (line: string) => void;
};

type PendingInvocation = { readonly resolve: () => void; readonly reject: (error: FunctionError) => void };

export class RunningFunction {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PendingInvocation>();
  #invocations = 0;

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
    this.#worker.on('message', (end: InvocationEnd) => this.#ended(end));
    this.#worker.on('error', (cause) => this.#failAll(`running the function: ${String(cause)}`, { cause }));
    this.#worker.on('exit', () => this.#failAll('the process of the function has ended'));
  }

  /** Invokes the function like the schedule. Throws FunctionError if the invocation fails. */
  invoke(): Promise<void> {
    const id = ++this.#invocations;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id } satisfies Invocation);
    });
  }

  /** Ends the process, with any running invocation. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #ended({ id, error }: InvocationEnd): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve();
    else waiting?.reject(new FunctionError(error));
  }

  #failAll(message: string, options?: ErrorOptions): void {
    for (const { reject } of this.#waiting.values()) reject(new FunctionError(message, options));
    this.#waiting.clear();
  }
}

/** An invocation of the function failed, or its process ended. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
}
