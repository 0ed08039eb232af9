/** The Lambda function of the demo: bundled as it is deployed, run on a schedule against the served world. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleFunction } from '../../infra/bundle.ts';
import type { Plan } from '../../lambda/core/plan.ts';

const OUT_DIR = 'dist/demo/function';
const CONFIG_FILE = 'dist/demo/autoscaler.yaml';
/** What the CDK stack gives the real function. */
const TIMEOUT_MS = 55_000;

export type DeployedFunction = {
  /** Invokes it with the schedule's payload. Rejects as Lambda would report a failed invocation. */
  readonly tick: () => Promise<unknown>;
  readonly dryRun: () => Promise<Plan>;
};

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

/** Bundles the function with this configuration and loads it in this environment. */
export async function deployFunction(
  configText: string,
  environment: Readonly<Record<string, string>>,
): Promise<DeployedFunction> {
  mkdirSync(dirname(CONFIG_FILE), { recursive: true });
  writeFileSync(CONFIG_FILE, configText);
  bundleFunction({ configFile: CONFIG_FILE, outDir: OUT_DIR });
  Object.assign(process.env, environment);
  const module: { readonly handler: Handler } = await import(pathToFileURL(`${OUT_DIR}/index.mjs`).href);
  let invocations = 0;
  const invoke = (event: unknown): Promise<unknown> => {
    const deadline = performance.now() + TIMEOUT_MS;
    return module.handler(event, {
      functionName: 'demo',
      awsRequestId: `demo-${++invocations}`,
      getRemainingTimeInMillis: () => deadline - performance.now(),
    });
  };
  return {
    tick: () => invoke({ tick: true }),
    dryRun: async () => (await invoke({ dryRun: true })) as Plan,
  };
}
