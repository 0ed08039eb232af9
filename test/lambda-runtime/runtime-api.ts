/**
 * A Lambda Runtime API (2018-06-01) on loopback. It gives invocations to one runtime client, one
 * after the other, and receives the answers. Like Lambda, it lets an invocation without an answer
 * time out at its deadline.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

/** The body of an error, as Lambda returns it to the caller. */
export type FunctionError = {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace: readonly string[];
};

export type Answer =
  | { readonly kind: 'response'; readonly body: unknown; readonly tookMs: number }
  | { readonly kind: 'error'; readonly error: FunctionError; readonly tookMs: number }
  | { readonly kind: 'timed-out' };

export type RuntimeApi = {
  /** Host and port: the value of AWS_LAMBDA_RUNTIME_API. */
  readonly address: string;
  /** Invokes the function. Its deadline is `timeoutMs` from now. */
  readonly invoke: (event: unknown, timeoutMs: number) => Promise<Answer>;
  /** The error of a function that could not start. */
  readonly initError: Promise<FunctionError>;
  readonly close: () => void;
};

type Invocation = {
  readonly id: string;
  readonly event: unknown;
  readonly startedAt: number;
  readonly deadlineAt: number;
  readonly settle: (answer: Answer) => void;
};

const BASE = '/2018-06-01/runtime';

/** Serves the API on a free port. */
export async function serveRuntimeApi(): Promise<RuntimeApi> {
  const queue = new Queue();
  const open = new Map<string, Invocation>();
  const initError = Promise.withResolvers<FunctionError>();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.replace(BASE, '') ?? '';
    if (path === '/invocation/next') return sendNext(response, await queue.take());
    const body: unknown = await json(request);
    if (path === '/init/error') initError.resolve(body as FunctionError);
    else finish(open, path, body);
    response.writeHead(202).end('{"status":"OK"}');
  };
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('serving the Runtime API: no port was given');
  return {
    address: `127.0.0.1:${address.port}`,
    invoke: (event, timeoutMs) => {
      const { promise, resolve: settle } = Promise.withResolvers<Answer>();
      const startedAt = Date.now();
      const invocation = { id: randomUUID(), event, startedAt, deadlineAt: startedAt + timeoutMs, settle };
      const timer = setTimeout(() => settle({ kind: 'timed-out' }), timeoutMs);
      open.set(invocation.id, invocation);
      queue.put(invocation);
      return promise.finally(() => clearTimeout(timer));
    },
    initError: initError.promise,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function sendNext(response: ServerResponse, { id, event, deadlineAt }: Invocation): void {
  response.writeHead(200, {
    'content-type': 'application/json',
    'lambda-runtime-aws-request-id': id,
    'lambda-runtime-deadline-ms': deadlineAt,
    'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-central-1:123456789012:function:autoscaler',
    'lambda-runtime-trace-id': 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0',
  });
  response.end(JSON.stringify(event));
}

function finish(open: Map<string, Invocation>, path: string, body: unknown): void {
  const [, id = '', end] = /^\/invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
  const invocation = open.get(id);
  if (invocation === undefined) throw new Error(`answering an invocation: saw ${path}, which is not open`);
  open.delete(id);
  const tookMs = Date.now() - invocation.startedAt;
  if (end === 'response') invocation.settle({ kind: 'response', body, tookMs });
  else invocation.settle({ kind: 'error', error: body as FunctionError, tookMs });
}

/** `take` waits until there is an item. */
class Queue {
  readonly #waiting: ((invocation: Invocation) => void)[] = [];
  readonly #stock: Invocation[] = [];

  put(invocation: Invocation): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#stock.push(invocation);
    else next(invocation);
  }

  take(): Promise<Invocation> {
    const first = this.#stock.shift();
    return first === undefined
      ? new Promise((resolve) => this.#waiting.push(resolve))
      : Promise.resolve(first);
  }
}
