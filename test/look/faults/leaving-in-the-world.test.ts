/** Looks at leaving tasks in the second in which coderd starts to list their daemons as offline. */
import { expect, it } from 'vitest';
import type { Guard } from '../../../lab/world/task/guard.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { unique } from '../../../lambda/decision/model/collections.ts';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import { cleanLook, startLongLab } from '../../support/lab.ts';

const STALE_MS = 90_000;

it('does not count a daemon that left as busy in the second in which it becomes stale', async () => {
  const own = await startLongLab({
    pools: [{ name: 'gpu', organization: 'default', tags: {}, desiredCount: 1 }],
  });
  const { world, config, ports } = own;
  own.pass(120);
  const [task] = world.service('gpu').tasks;
  for (let looks = 0; task?.isProtected && looks < 30; looks++) await own.run(10);
  expect(task?.isProtected).toBe(false);
  const [daemon] = world.coderd.daemons();
  // coderd's Date header has whole seconds, so a look at this time seems to be earlier
  const staleAt = (daemon?.lastSeenAt ?? 0) + STALE_MS;
  expect(staleAt % 1000).toBeGreaterThan(0);
  world.timeline.advanceTo((staleAt + 1) as EpochMs);
  const { plan } = await cleanLook(ports(), config);
  expect(plan.pools.map(({ daemons }) => daemons)).toMatchObject([{ busy: 0, leaving: 1, unguarded: 0 }]);
  expect(plan.findings).toEqual([]);
});

it('counts a task as leaving, and reports no finding, from its drain until coderd lists its daemon as offline', async () => {
  const own = await startLongLab({
    pools: [{ name: 'gpu', organization: 'default', tags: {}, desiredCount: 1, min: 1, warm: 0 }],
  });
  // idle for far longer than idleTimeout
  await own.rest(60);
  const config = { ...own.config, pools: own.config.pools.map((pool) => ({ ...pool, min: 0 })) };
  const seen: string[] = [];
  for (let looks = 0; looks < 30; looks++) {
    own.pass(10);
    const { plan } = await cleanLook(own.ports(), config);
    const counts = plan.pools.flatMap(({ daemons }) => Object.entries(daemons));
    seen.push(...counts.flatMap(([state, count]) => (count > 0 ? [state] : [])));
    expect(plan.findings).toEqual([]);
  }
  expect(unique(seen, (state) => state)).toEqual(['idle', 'leaving', 'left']);
  expect(own.world.service('gpu').state.desiredCount).toBe(0);
});

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

it('does not report a task that drains in time', async () => {
  const { own, look } = await drainAfter(() => {});
  for (let hour = 0; hour < 8; hour++) {
    own.pass(HOUR_S);
    expect(await look()).toEqual([]);
  }
  expect(own.world.service('cpu').tasks.size).toBe(0);
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
