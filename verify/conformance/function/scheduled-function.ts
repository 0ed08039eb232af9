/**
 * A worker thread that invokes the bundled handler once a minute, as EventBridge does. The
 * function's log is the thread's standard output.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { loadFunction } from '../../../demo/deployed-function.ts';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import type { SynthesizedStack } from '../../../simulator/synthesized-stack.ts';

/** The data that the thread starts with. */
export type ScheduledFunction = {
  readonly stack: SynthesizedStack;
  readonly environment: Readonly<Record<string, string>>;
};
/** The message that the thread posts after each invocation. */
export type Invoked = { readonly error: string | undefined };

const SCHEDULE_MS = 60_000;

const { stack, environment } = workerData as ScheduledFunction;
const autoscaler = await loadFunction(stack, environment);
for (let dueAt = performance.now(); ; dueAt += SCHEDULE_MS) {
  await sleep(Math.max(0, dueAt - performance.now()));
  const error = await autoscaler.look().then(() => undefined, messageOf);
  parentPort?.postMessage({ error } satisfies Invoked);
}
