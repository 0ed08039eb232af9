/** Tasks that drain but do not leave, with real looks and clients. */
import { afterEach, expect, it } from 'vitest';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import type { Guard } from '../../../simulator/task/guard.ts';
import { cleanLook, type Lab, startLongLab } from '../../support/lab.ts';

let lab: Lab | undefined;
afterEach(() => lab?.close());

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;

/** One task with a spare daemon. The fault comes before the autoscaler asks the task to leave. */
async function drainAfter(fault: (guard: Guard) => void) {
  const own = await startLongLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 1 }],
  });
  lab = own;
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
