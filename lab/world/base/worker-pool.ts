/**
 * Runs requests on threads, one at a time on each. A single one is the calling thread: it has all
 * modules.
 */
import { availableParallelism } from 'node:os';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';

type OnProgress = (share: number) => void;

export type Handle<Request, Result> = (request: Request, onProgress: OnProgress) => Result | Promise<Result>;

export type WorkerPool<Request, Result> = {
  /** Rejects with what the handler threw, or WorkerPoolError if the thread ends first. `share`: 0 to 1. */
  readonly run: (request: Request, onProgress?: OnProgress) => Promise<Result>;
  /** Ends all threads, whatever they do. */
  readonly close: () => Promise<void>;
};

export type WorkerPoolOptions<Request, Result> = {
  /** The URL of the module that each thread loads: it calls `serveRequests` with `handle`. */
  readonly module: string;
  /** Answers a request in this thread, if it is the only one. */
  readonly handle: Handle<Request, Result>;
  /** The most threads. @default one per core */
  readonly threads?: number;
  readonly describe: (request: Request) => string;
};

/** A thread ended before its request was done. */
export class WorkerPoolError extends Error {
  override readonly name = 'WorkerPoolError';
}

type Message<Result> =
  | { readonly kind: 'progress'; readonly share: number }
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Starts a pool. It starts each thread when a request needs it. */
export function startWorkerPool<Request, Result>(
  options: WorkerPoolOptions<Request, Result>,
): WorkerPool<Request, Result> {
  const { threads = availableParallelism(), handle } = options;
  if (threads === 1) return inThisThread(handle);
  const free: Worker[] = [];
  const alive = new Set<Worker>();
  const waiting: ((worker: Worker) => void)[] = [];
  const start = (): Worker => startWorker(options.module, alive);
  const take = async (): Promise<Worker> => {
    const worker = free.pop() ?? (alive.size < threads ? start() : undefined);
    return worker ?? new Promise((resolve) => waiting.push(resolve));
  };
  const giveBack = (worker: Worker): void => {
    const next = waiting.shift();
    if (next !== undefined) next(alive.has(worker) ? worker : start());
    else if (alive.has(worker)) free.push(worker);
  };
  return {
    run: async (request, onProgress = () => {}) => {
      const worker = await take();
      try {
        return await runOnWorker<Request, Result>({ worker, request, onProgress, ...options });
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

function inThisThread<Request, Result>(handle: Handle<Request, Result>): WorkerPool<Request, Result> {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run: (request, onProgress = () => {}) => {
      const result = last.then(() => handle(request, onProgress));
      last = result.catch(() => {});
      return result;
    },
    close: async () => {},
  };
}

/** In a thread that a pool of this module has started: answers each request with what `handle` makes of it. */
export function serveRequests<Request, Result>(module: string, handle: Handle<Request, Result>): void {
  const port = parentPort;
  if (port === null || workerData?.module !== module) return;
  const send = (message: Message<Result>): void => port.postMessage(message);
  const answer = async (request: Request): Promise<Result> =>
    handle(request, (share) => send({ kind: 'progress', share }));
  port.on('message', (request: Request) => {
    answer(request).then(
      (result) => send({ kind: 'done', result }),
      (error) => send({ kind: 'failed', error }),
    );
  });
}

function startWorker(module: string, alive: Set<Worker>): Worker {
  const worker = new Worker(new URL(module), { workerData: { module } });
  alive.add(worker);
  for (const event of ['error', 'exit']) worker.once(event, () => alive.delete(worker));
  return worker;
}

type Run<Request> = {
  readonly describe: (request: Request) => string;
  readonly worker: Worker;
  readonly request: Request;
  readonly onProgress: OnProgress;
};

function runOnWorker<Request, Result>(given: Run<Request>): Promise<Result> {
  const { worker, request, onProgress, describe } = given;
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      worker.off('message', onMessage);
      worker.off('error', onFailure);
      worker.off('exit', onFailure);
      settle();
    };
    const onFailure = (cause: unknown): void => end(() => reject(failureOf(describe(request), cause)));
    const onMessage = (message: Message<Result>): void => {
      if (message.kind === 'progress') onProgress(message.share);
      else if (message.kind === 'failed') end(() => reject(message.error));
      else end(() => resolve(message.result));
    };
    worker.on('message', onMessage);
    worker.on('error', onFailure);
    worker.on('exit', onFailure);
    worker.postMessage(request);
  });
}

function failureOf(description: string, cause: unknown): WorkerPoolError {
  const seen = cause instanceof Error ? messageOf(cause) : `exit code ${cause}`;
  return new WorkerPoolError(
    `running ${description}: its thread ended early (${seen}); if memory is short, use fewer threads`,
    { cause },
  );
}
