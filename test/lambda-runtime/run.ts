/**
 * Runs the bundled function under aws-lambda-ric, the runtime client of Lambda. Run
 * `node test/lambda-runtime/run.ts`, after `npm ci` here and in the root. It prints one line for each
 * check. The exit code is 1 if a check failed.
 */
import assert from 'node:assert/strict';
import { CHECKS } from './checks.ts';
import { deploy, type RuntimeDeployment } from './deployment.ts';
import { serveRuntimeApi } from './runtime-api.ts';
import { startClient } from './runtime-client.ts';

const results = { passed: 0, failed: 0 };

async function check(claim: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
    results.passed += 1;
    console.log(`ok      ${claim}`);
  } catch (error) {
    results.failed += 1;
    console.log(`FAILED  ${claim}\n        ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Runs all checks in one process, like a warm function. */
async function checkInvocations(deployment: RuntimeDeployment): Promise<void> {
  const api = await serveRuntimeApi();
  const client = startClient({ ...deployment, runtimeApi: api.address });
  for (const { claim, run } of CHECKS)
    await check(claim, () =>
      run({
        deployment,
        invoke: (event, timeoutMs) => Promise.race([api.invoke(event, timeoutMs), client.died]),
      }),
    );
  if (results.failed > 0) console.log(`\nthe function's log:\n${client.output()}`);
  client.stop();
  api.close();
}

/** Checks that a function that cannot start reports the reason to Lambda. */
async function checkStart({ taskRoot, environment }: RuntimeDeployment): Promise<void> {
  const api = await serveRuntimeApi();
  const { AUTOSCALER_CLUSTER: _, ...incomplete } = environment;
  const client = startClient({ taskRoot, runtimeApi: api.address, environment: incomplete });
  await check(
    'a function without its cluster does not start, and says which variable is missing',
    async () => {
      const { errorMessage } = await Promise.race([api.initError, client.died]);
      assert.equal(
        errorMessage,
        'reading the environment: AUTOSCALER_CLUSTER is not set; name the ECS cluster',
      );
    },
  );
  client.stop();
  api.close();
}

console.log(`aws-lambda-ric on Node ${process.version}`);
const deployment = await deploy();
await checkInvocations(deployment);
await checkStart(deployment);
await deployment.close();
console.log(`${results.passed} passed, ${results.failed} failed`);
process.exitCode = results.failed === 0 ? 0 : 1;
