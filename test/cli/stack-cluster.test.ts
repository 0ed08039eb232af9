/** How commands find the ECS cluster: as a person names it, or in the outputs of the stack. */
import { expect, it, vi } from 'vitest';
import { ACCESS_KEY_OF_A_PERSON } from '../../lab/world/aws-http.ts';
import { commandLabs } from '../support/command-lab.ts';

const pools = [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 }];
const CLUSTER = 'Stack-Cluster-AbC123';
const STACK = 'CoderProvisionerAutoscaler';
const { start } = commandLabs();

async function deployed(settings: object = {}) {
  vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY_OF_A_PERSON);
  const lab = await start({ pools }, settings);
  const pause = (environment = {}, ...more: readonly string[]) =>
    lab.callIn({ environment }, 'pause', 'cpu', '--why', 'a test', ...more);
  return { ...lab, pause };
}

it.each([STACK, 'Other'])('finds it in the outputs of the stack %s', async (stack) => {
  const { world, pause } = await deployed({ aws: { stack } });
  world.account.stacks.clear();
  world.account.stacks.set(stack, { status: 'UPDATE_COMPLETE', cluster: CLUSTER });
  expect(await pause()).toMatchObject({ code: 0, err: '', out: expect.stringContaining('paused') });
});

it.each([
  { by: '--cluster', environment: { AUTOSCALER_CLUSTER: 'other' }, more: ['--cluster', CLUSTER] },
  { by: 'AUTOSCALER_CLUSTER', environment: { AUTOSCALER_CLUSTER: CLUSTER }, more: [] },
])('takes that of $by, and does not read the stack', async ({ environment, more }) => {
  const { world, pause } = await deployed();
  world.account.stacks.clear();
  expect(await pause(environment, ...more)).toMatchObject({ code: 0, err: '' });
});

it.each([
  { is: 'no stack', stacks: [], says: 'finding the ECS cluster: this Region has no stack' },
  {
    is: 'a stack without the output',
    stacks: [[STACK, { status: 'CREATE_COMPLETE' }]] as const,
    says: `finding the ECS cluster: stack "${STACK}" has no output ClusterName`,
  },
])('says that there is $is', async ({ stacks, says }) => {
  const { world, pause } = await deployed();
  world.account.stacks.clear();
  for (const [name, stack] of stacks) world.account.stacks.set(name, stack);
  const { code, out, err } = await pause();
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(
    new RegExp(`^${says}.*Deploy it, or name the cluster with --cluster or AUTOSCALER_CLUSTER\\n$`),
  );
});

it('says what AWS said to a person who may not read the stack', async () => {
  const { pause } = await deployed();
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAGUEST');
  const { code, err } = await pause();
  expect(code).toBe(1);
  expect(err).toMatch(
    /^finding the ECS cluster in the outputs of stack "Coder.*: AccessDenied.*DescribeStacks/,
  );
});
