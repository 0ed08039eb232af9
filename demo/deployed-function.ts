/**
 * The Lambda function of a stack in this process: the bundle that `cdk deploy` would upload, against
 * the simulated coderd and ECS. The demo runs it in a thread (demo/function).
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plan } from '../lambda/decision/model/plan.ts';
import type { SynthesizedStack } from '../simulator/synthesized-stack.ts';

export type DeployedFunction = {
  /** Invokes the function like the schedule. Rejects if Lambda would report a failed invocation. */
  readonly look: () => Promise<unknown>;
  readonly dryRun: () => Promise<Plan>;
};

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

/** Loads the function in this process, with the variables of its stack and `environment`. */
export async function loadFunction(
  { function: { dir, timeoutMs, environment: known } }: SynthesizedStack,
  environment: Readonly<Record<string, string>>,
): Promise<DeployedFunction> {
  Object.assign(process.env, known, environment);
  const module: { readonly handler: Handler } = await import(pathToFileURL(join(dir, 'index.mjs')).href);
  let invocations = 0;
  const invoke = (event: unknown): Promise<unknown> => {
    const deadline = performance.now() + timeoutMs;
    return module.handler(event, {
      functionName: 'demo',
      awsRequestId: `demo-${++invocations}`,
      getRemainingTimeInMillis: () => deadline - performance.now(),
    });
  };
  return {
    look: () => invoke({ tick: true }),
    dryRun: async () => (await invoke({ dryRun: true })) as Plan,
  };
}
