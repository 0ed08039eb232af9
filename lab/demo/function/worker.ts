/** The process of the function: the bundle in a thread of its own. Each message is one invocation. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';

export type WorkerInput = { readonly module: string; readonly timeoutMs: number };

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const { module, timeoutMs } = workerData as WorkerInput;
const { handler }: { readonly handler: Handler } = await import(module);
let invocations = 0;

/** Answers with what Lambda would report for a failed invocation, or undefined. */
parentPort?.on('message', async (answer: MessagePort) => {
  answer.postMessage(await invoke().then(() => undefined, messageOf));
});

async function invoke(): Promise<unknown> {
  const deadline = performance.now() + timeoutMs;
  return handler(
    { tick: true },
    {
      functionName: 'autoscaler',
      awsRequestId: `invocation-${++invocations}`,
      getRemainingTimeInMillis: () => deadline - performance.now(),
    },
  );
}
