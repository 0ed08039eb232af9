/** The process of the function: the bundle in a thread of its own. Each message is one invocation. */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../lambda/decision/model/message-of.ts';

export type WorkerInput = { readonly module: string; readonly timeoutMs: number };
export type Invocation = { readonly id: number };
/** `error`: what Lambda would report for a failed invocation. */
export type InvocationEnd = { readonly id: number; readonly error?: string };

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const { module, timeoutMs } = workerData as WorkerInput;
const { handler }: { readonly handler: Handler } = await import(module);

parentPort?.on('message', ({ id }: Invocation) => {
  invoke(id).then(
    () => end({ id }),
    (error: unknown) => end({ id, error: messageOf(error) }),
  );
});

function invoke(id: number): Promise<unknown> {
  const deadline = performance.now() + timeoutMs;
  return handler(
    { tick: true },
    {
      functionName: 'autoscaler',
      awsRequestId: `invocation-${id}`,
      getRemainingTimeInMillis: () => deadline - performance.now(),
    },
  );
}

function end(result: InvocationEnd): void {
  parentPort?.postMessage(result);
}
