/**
 * Checks of the bundled function under AWS's runtime client, one after the other in one warm
 * process.
 */
import assert from 'node:assert/strict';
import type { RuntimeDeployment } from './deployment.ts';
import type { Answer, FunctionError } from './runtime-api.ts';

type Given = {
  readonly deployment: RuntimeDeployment;
  readonly invoke: (event: unknown, timeoutMs: number) => Promise<Answer>;
};

export type Check = { readonly claim: string; readonly run: (given: Given) => Promise<void> };

/** Enough for several looks: one a second until 5 s are left. */
const TIMEOUT_MS = 9_000;

export const CHECKS: readonly Check[] = [
  {
    claim: 'a dry run answers the plan as data and as text, and changes nothing',
    run: async ({ deployment, invoke }) => {
      deployment.submitJobs('default', 2);
      const { body } = succeeded(await invoke({ dryRun: true }, TIMEOUT_MS));
      const { actions, text } = body as { readonly actions: readonly unknown[]; readonly text: string };
      assert.equal(actions.length, 1);
      assert.match(text, /cpu +0 -> 2/);
      assert.equal(desiredOf(deployment, 'cpu'), 0);
    },
  },
  {
    claim: 'a wrong payload is an error that names what was sent and what to send',
    run: async ({ invoke }) => {
      const error = failed(await invoke({ Records: [] }, TIMEOUT_MS));
      assert.equal(error.errorType, 'PayloadError');
      assert.equal(
        error.errorMessage,
        'reading the payload: saw {"Records":[]}. Send {"tick":true} for a look, or {"dryRun":true} for a plan that changes nothing',
      );
    },
  },
  {
    claim: 'when time runs out because coderd does not answer, the error says so before the deadline',
    run: async ({ deployment, invoke }) => {
      deployment.setSilent(true);
      const answer = await invoke({ tick: true }, 3_000);
      deployment.setSilent(false);
      assert.match(failed(answer).errorMessage, /^running out of time: coderd or ECS did not answer/);
    },
  },
  {
    claim: 'the next invocation of the same process looks again as if nothing had been',
    run: async ({ deployment, invoke }) => {
      deployment.submitJobs('data', 1);
      succeeded(await invoke({ tick: true }, TIMEOUT_MS));
      assert.equal(desiredOf(deployment, 'data'), 1);
    },
  },
];

function desiredOf({ world }: RuntimeDeployment, pool: string): number {
  return world.service(pool).state.desiredCount;
}

function succeeded(answer: Answer): Extract<Answer, { kind: 'response' }> {
  if (answer.kind === 'response') return answer;
  assert.fail(`expected a response, saw ${JSON.stringify(answer)}`);
}

function failed(answer: Answer): FunctionError {
  if (answer.kind === 'error') return answer.error;
  assert.fail(`expected an error, saw ${JSON.stringify(answer)}`);
}
