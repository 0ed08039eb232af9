/** Looks at leaving tasks in the second in which coderd starts to list their daemons as offline. */
import { expect, it } from 'vitest';
import type { Guard } from '../../../lab/world/task/guard.ts';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import { cleanLook, startLongLab } from '../../support/lab.ts';

it('launches for builds beside five of five tasks that have just left, and returns to max', async () => {
  const own = await startLongLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 5, max: 5 }],
  });
  const { coderd, ecs } = own.world;
  const { tasks } = own.world.service('cpu');
  own.pass(120);
  for (let looks = 0; [...tasks].some(({ isProtected }) => isProtected) && looks < 30; looks++)
    await own.run(10);
  const submit = () => coderd.submitJob({ organization: 'default', tags: {}, durationMs: 12_000 });
  for (let jobs = 0; jobs < 10; jobs++) submit();
  const counts: number[] = [];
  for (let looks = 0; looks < 60; looks++) {
    await own.run(5, own.ports(), 5);
    const { desiredCount } = own.world.service('cpu').state;
    if (counts.at(-1) !== desiredCount) counts.push(desiredCount);
  }
  const waits = coderd.jobs().map(({ createdAt, startedAt = createdAt + 1e9 }) => startedAt - createdAt);
  expect(counts).toEqual([10, 5, 0]);
  // a start takes 56 s
  expect(Math.max(...waits)).toBeLessThan(90_000);
  expect(ecs.counts().peak).toBeLessThanOrEqual(10);
});

// Tasks that drain but do not leave, with real looks and clients.

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;

/** One task with a spare daemon. The fault comes before the autoscaler asks the task to leave. */
async function drainAfter(fault: (guard: Guard) => void) {
  const own = await startLongLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 1 }],
  });
  own.pass(2 * MINUTE_S);
  const [task] = own.world.service('cpu').tasks;
  const guard = task && own.world.guard(task.identity.id);
  if (guard === undefined) throw new Error('no guard');
  fault(guard);
  await own.run(2 * MINUTE_S);
  const look = async (): Promise<readonly Finding[]> =>
    (await cleanLook(own.ports(), own.config)).plan.findings;
  return { own, look, arn: task?.identity.arn };
}

it('reports a task that has drained for 30 minutes without a live daemon', async () => {
  const { own, look, arn } = await drainAfter((guard) => {
    guard.hang();
    guard.daemon?.crash(1);
  });
  own.pass(25 * MINUTE_S);
  expect(await look()).toEqual([]);
  own.pass(8 * MINUTE_S);
  expect(await look()).toEqual([{ code: 'tasks-draining-without-daemon', pool: 'cpu', tasks: [arn] }]);
});

it('reports a task that has drained for 6 hours', async () => {
  const { own, look, arn } = await drainAfter((guard) => guard.daemon?.hang());
  own.pass(5 * HOUR_S);
  expect(await look()).toEqual([]);
  own.pass(HOUR_S);
  expect(await look()).toEqual([{ code: 'tasks-draining-for-long', pool: 'cpu', tasks: [arn] }]);
});

it('reports a guard that has not renewed its lease for an hour although its daemon works', async () => {
  const own = await startLongLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 1, min: 1 }],
  });
  own.pass(2 * MINUTE_S);
  const [task] = own.world.service('cpu').tasks;
  own.world.guard(task?.identity.id ?? '')?.hang();
  own.pass(55 * MINUTE_S);
  expect((await cleanLook(own.ports(), own.config)).plan.findings).toEqual([]);
  own.pass(8 * MINUTE_S);
  const { plan } = await cleanLook(own.ports(), own.config);
  expect(plan.findings).toEqual([{ code: 'tasks-lease-late', pool: 'cpu', tasks: [task?.identity.arn] }]);
});

it('reports a task that runs for five minutes while its guard reaches no agent', async () => {
  const own = await startLongLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 1, min: 1 }],
  });
  own.world.ecs.agentsDown = true;
  own.pass(3 * MINUTE_S);
  expect((await cleanLook(own.ports(), own.config)).plan.findings).toEqual([]);
  own.pass(4 * MINUTE_S);
  const { plan } = await cleanLook(own.ports(), own.config);
  expect(plan.findings.map(({ code }) => code)).toEqual(['tasks-lease-late']);
});
