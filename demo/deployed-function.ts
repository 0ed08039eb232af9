/**
 * The Lambda function of the demo: what `cdk deploy` would upload, run on a schedule against the
 * served world.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plan } from '../lambda/decision/model/plan.ts';
import { type SynthesizedStack, synthesizeStack } from '../simulator/synthesized-stack.ts';

const OUT_DIR = 'dist/demo/cdk.out';

export type DeployedFunction = {
  /** Invokes it with the schedule's payload. Rejects as Lambda would report a failed invocation. */
  readonly look: () => Promise<unknown>;
  readonly dryRun: () => Promise<Plan>;
};

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

/**
 * Synthesizes the stack of this configuration and loads its function; `environment` is what only a
 * deployment can know.
 */
export async function deployFunction(
  configText: string,
  environment: Readonly<Record<string, string>>,
): Promise<DeployedFunction> {
  return loadFunction(synthesizeStack(configText, OUT_DIR), environment);
}

/** Loads the function in this process, in the environment of its stack and this one. */
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
