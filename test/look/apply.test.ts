import { expect, it } from 'vitest';
import type { PoolName, ServiceArn, TaskArn } from '../../lambda/decision/model/brands.ts';
import type { Action } from '../../lambda/decision/model/plan.ts';
import { apply } from '../../lambda/look/apply.ts';
import type { Ecs, Refusal } from '../../lambda/look/ports.ts';

const count = (pool: string, from: number, to: number): Action => ({
  kind: 'set-desired',
  pool: pool as PoolName,
  service: `arn:${pool}` as ServiceArn,
  from,
  to,
  why: 'pending-jobs',
});
const protect = (pool: string, task: string): Action => ({
  kind: 'protect',
  pool: pool as PoolName,
  task: task as TaskArn,
  why: 'may-hold-a-job',
});
const ask = (pool: string, task: string): Action => ({
  kind: 'ask-to-leave',
  pool: pool as PoolName,
  task: task as TaskArn,
  why: 'idle-long-enough',
});

/** An ECS that records its calls, and fails for one service. */
function recorder(
  failing?: string,
  refusals: readonly Refusal[] = [],
): { readonly ecs: Ecs; readonly calls: string[] } {
  const calls: string[] = [];
  const reading = async () => ({ status: 'ok', items: [] }) as const;
  const ecs: Ecs = {
    cluster: 'c',
    services: reading,
    tasks: reading,
    protections: reading,
    setDesired: async (service, to) => {
      if (service === failing) throw new Error('ECS says no');
      calls.push(`${service}=${to}`);
    },
    requestDrain: async (tasks) => {
      calls.push(`ask ${tasks.join(' ')}`);
      return refusals;
    },
    protect: async (tasks) => {
      calls.push(`protect ${tasks.join(' ')}`);
      return [];
    },
  };
  return { ecs, calls };
}

it('raises counts before drain requests, and lowers counts last', async () => {
  const { ecs, calls } = recorder();
  await apply([count('a', 3, 1), ask('b', 't1'), count('c', 0, 2)], ecs);
  expect(calls).toEqual(['arn:c=2', 'ask t1', 'arn:a=1']);
});

it('sends drain requests for ten tasks per call, the limit of ECS', async () => {
  const { ecs, calls } = recorder();
  await apply(
    Array.from({ length: 23 }, (_, index) => ask('a', `t${index}`)),
    ecs,
  );
  expect(calls.map((call) => call.split(' ').length - 1)).toEqual([10, 10, 3]);
});

it('sends drain requests and protections of a pool in calls of their own', async () => {
  const { ecs, calls } = recorder();
  await apply([ask('a', 't1'), protect('a', 't2'), ask('a', 't3'), protect('a', 't4')], ecs);
  expect(calls).toEqual(['ask t1 t3', 'protect t2 t4']);
});

it('tells which count it will set before it does, also if ECS then fails', async () => {
  const { ecs, calls } = recorder('arn:b');
  const willSet = (service: ServiceArn, to: number): void => void calls.push(`will ${service}=${to}`);
  await apply([count('a', 0, 2), count('b', 3, 1)], ecs, { willSet });
  expect(calls).toEqual(['will arn:a=2', 'arn:a=2', 'will arn:b=1']);
});

it('skips the rest of a pool that fails and continues with the others', async () => {
  const { ecs, calls } = recorder('arn:a');
  const outcome = await apply([count('a', 0, 2), count('b', 0, 1), ask('a', 't1'), ask('b', 't2')], ecs);
  expect(calls).toEqual(['arn:b=1', 'ask t2']);
  expect(outcome.failures).toMatchObject([
    { message: 'setting the desired count of pool "a" from 0 to 2: ECS says no' },
  ]);
  expect(outcome.applied).toHaveLength(2);
});

it.each<{ readonly action: Action; readonly says: string }>([
  { action: ask('a', 't1'), says: 'requesting 1 task(s) of pool "a" to drain: ECS says no' },
  {
    action: protect('a', 't1'),
    says: 'protecting 1 task(s) of pool "a": ECS says no',
  },
])('reports which call failed: $says', async ({ action, says }) => {
  const no = () => Promise.reject(new Error('ECS says no'));
  const outcome = await apply([action], { ...recorder().ecs, requestDrain: no, protect: no });
  expect(outcome.failures).toMatchObject([{ message: says, pool: 'a' }]);
});

it('names the pool whose drain request ECS refused', async () => {
  const { ecs } = recorder(undefined, [{ task: 't1' as TaskArn, reason: 'DEPLOYMENT_BLOCKED' }]);
  expect((await apply([ask('a', 't1')], ecs)).refused).toMatchObject([
    { pool: 'a', task: 't1', reason: 'DEPLOYMENT_BLOCKED' },
  ]);
});

it('does nothing after the signal aborts', async () => {
  const { ecs, calls } = recorder();
  const outcome = await apply([count('a', 0, 2), ask('b', 't1')], ecs, { signal: AbortSignal.abort() });
  expect(calls).toEqual([]);
  expect(outcome).toEqual({ applied: [], refused: [], failures: [] });
});
