/** The ECS adapter with the simulated ECS, through the real SDK client. */

import { ECSClient } from '@aws-sdk/client-ecs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { connect } from '../../lambda/connect.ts';
import type { EpochMs, TaskArn } from '../../lambda/decision/model/brands.ts';
import type { Service } from '../../lambda/decision/model/snapshot.ts';
import { startLab } from '../support/lab.ts';

/** How often the SDK makes a call that ECS does not accept. */
const TRIES = 3;

const pool = (name: string, desiredCount: number) => ({
  name,
  organization: 'default',
  tags: { pool: name },
  desiredCount,
});

describe('readings', () => {
  it('have the tasks of all pages of one service', async () => {
    // more than the 300 stopped tasks that are read
    const lab = await startLab({ pools: [pool('big', 430)] });
    lab.pass(600);
    const { ecs } = lab.ports();
    const tasks = await ecs.tasks((await ecs.services()).items);
    expect(tasks.items).toHaveLength(430);
  });

  it('have the services of all pages, and the tasks of every service', async () => {
    const pools = Array.from({ length: 105 }, (_, index) => pool(`p${index}`, 1));
    const lab = await startLab({ pools });
    lab.pass(120);
    const { ecs } = lab.ports();
    const services = await ecs.services();
    expect(services.items).toHaveLength(105);
    const { items } = await ecs.tasks(services.items);
    expect(new Set(items.map(({ group }) => group)).size).toBe(105);
  });

  it('list the services again after the list failed', async () => {
    const lab = await startLab({ pools: [pool('cpu', 0)] });
    const { ecs } = lab.ports();
    lab.world.ecs.throttleNext('ListServices', TRIES);
    expect(await ecs.services()).toMatchObject({ status: 'failed' });
    expect(await ecs.services()).toMatchObject({ status: 'ok', items: [{}] });
  });

  it('have the tagged services, their tasks and protections, with as few calls as the limits allow', async () => {
    const calls: string[] = [];
    const lab = await startLab({
      pools: Array.from({ length: 12 }, (_, index) => pool(`p${index}`, 11)),
      onRequest: ({ service, operation }) => service === 'ecs' && calls.push(operation),
    });
    lab.world.ecs.createService({
      name: 'somebody-elses',
      definition: lab.world.ecs.registerTaskDefinition('x', () => ({
        isBusy: () => false,
        terminate: () => {},
        kill: () => {},
      })),
    });
    lab.pass(120);
    calls.length = 0;
    const { ecs } = lab.ports();
    const services = await ecs.services();
    expect(services).toMatchObject({ status: 'ok' });
    expect(services.items).toHaveLength(12);
    const tasks = await ecs.tasks(services.items);
    expect(tasks.items).toHaveLength(132);
    const protections = await ecs.protections(tasks.items.map(({ taskArn }) => taskArn));
    expect(protections.items).toHaveLength(132);
    expect(
      Object.fromEntries(
        Map.groupBy(calls, (call) => call)
          .entries()
          .map(([call, { length }]) => [call, length]),
      ),
    ).toEqual({
      ListServices: 1,
      DescribeServices: 2,
      ListTasks: 24,
      DescribeTasks: 2,
      GetTaskProtection: 2,
    });
    // a later look of the same invocation does not list services
    await ecs.services();
    expect(calls.filter((call) => call === 'ListServices')).toHaveLength(1);
  });

  describe('of a cluster of the stack', () => {
    async function owned(pools: readonly ReturnType<typeof pool>[]) {
      const calls: string[] = [];
      const lab = await startLab({
        pools,
        onRequest: ({ service, operation }) => service === 'ecs' && calls.push(operation),
      });
      lab.pass(600);
      const connection = connect(lab.config, lab.world.ecs.clusterName, undefined, { ownsCluster: true });
      onTestFinished(connection.close);
      const { ecs } = connection.ports();
      const read = async () => {
        const services = await ecs.services();
        calls.length = 0;
        return (await ecs.tasks(services.items)).items;
      };
      const stop = (name: string) => {
        for (const { identity } of lab.world.ecs.tasks())
          if (identity.serviceName === lab.world.service(name).identity.name)
            lab.world.ecs.stopTask(identity.id);
      };
      return { lab, ecs, calls, read, stop };
    }

    it('take two lists for the tasks of all pools', async () => {
      const { calls, read } = await owned([pool('a', 2), pool('b', 3), pool('c', 0)]);
      expect(await read()).toHaveLength(5);
      expect(calls.filter((call) => call === 'ListTasks')).toHaveLength(2);
    });

    it('list stopped tasks again after a minute, or once a task of the last look is gone', async () => {
      const { lab, ecs, calls } = await owned([pool('a', 2), pool('b', 3)]);
      const lists = async (passS: number, isLook = true) => {
        lab.pass(passS);
        const services = await ecs.services(undefined, isLook ? lab.world.timeline.now() : undefined);
        calls.length = 0;
        const { items } = await ecs.tasks(services.items);
        const stopped = items.filter(({ lastStatus }) => lastStatus === 'STOPPED').length;
        return [calls.filter((call) => call === 'ListTasks').length, stopped];
      };
      expect(await lists(0)).toEqual([2, 0]);
      expect(await lists(10)).toEqual([1, 0]);
      const [first] = lab.world.ecs.tasks();
      lab.world.ecs.stopTask(first?.identity.id ?? '');
      expect(await lists(40)).toEqual([2, 1]);
      expect(await lists(10)).toEqual([1, 1]);
      expect(await lists(49)).toEqual([1, 1]);
      expect(await lists(1)).toEqual([2, 1]);
      expect(await lists(1, false)).toEqual([2, 1]);
      expect(await lists(1, false)).toEqual([2, 1]);
    });

    it('list stopped tasks until a task that is gone is one of them', async () => {
      const arns = (status: string): readonly string[] => (status === 'RUNNING' ? running : stopped);
      let [running, stopped] = [['one', 'two'], [] as string[]];
      const asked: string[] = [];
      const send = async ({ input }: { input: { desiredStatus?: string; services?: string[] } }) => {
        const { desiredStatus } = input;
        if (desiredStatus === undefined) return { services: [], serviceArns: [], tasks: [] };
        asked.push(desiredStatus);
        return { taskArns: arns(desiredStatus) };
      };
      const client = Object.assign(new ECSClient({ region: 'eu-central-1' }), { send });
      const ecs = new EcsAdapter(client, 'cluster', { ownsCluster: true });
      const look = async (second: number) => {
        await ecs.services(undefined, (second * 1000) as EpochMs);
        asked.length = 0;
        await ecs.tasks([{ serviceName: 'a' } as Service]);
        return asked.join();
      };
      expect(await look(0)).toBe('RUNNING,STOPPED');
      expect(await look(5)).toBe('RUNNING');
      running = ['two'];
      expect(await look(10)).toBe('RUNNING,STOPPED');
      // ECS is eventually consistent: a task may be in neither list
      expect(await look(15)).toBe('RUNNING,STOPPED');
      stopped = ['one'];
      expect(await look(20)).toBe('RUNNING,STOPPED');
      expect(await look(25)).toBe('RUNNING');
      // the clock may step back
      expect(await look(-40)).toBe('RUNNING,STOPPED');
    });

    it.each(['RUNNING', 'STOPPED'])(
      'are truncated in each look while the list of %s ones is',
      async (cut) => {
        const send = async ({ input }: { input: Sent }) => {
          const { desiredStatus, tasks: described } = input;
          if (described !== undefined) return { tasks: described.map(stoppedTask) };
          return desiredStatus === cut
            ? { taskArns: ['arn:task/one'], nextToken: 'same' }
            : { services: [], serviceArns: [], taskArns: [] };
        };
        const client = Object.assign(new ECSClient({ region: 'eu-central-1' }), { send });
        const ecs = new EcsAdapter(client, 'cluster', { ownsCluster: true });
        for (const second of [0, 10, 20]) {
          await ecs.services(undefined, (second * 1000) as EpochMs);
          const { status } = await ecs.tasks([{ serviceName: 'a' } as Service]);
          expect(status).toBe('truncated');
        }
      },
    );

    it('list stopped tasks again if a service is new', async () => {
      const { lab, ecs, calls } = await owned([pool('a', 2), pool('b', 3)]);
      const { items } = await ecs.services(undefined, lab.world.timeline.now());
      await ecs.tasks(items.slice(0, 1));
      calls.length = 0;
      await ecs.tasks(items);
      expect(calls.filter((call) => call === 'ListTasks')).toHaveLength(2);
    });

    it('take none without services', async () => {
      const { calls, ecs } = await owned([pool('a', 1)]);
      expect((await ecs.tasks([])).items).toEqual([]);
      expect(calls).toEqual([]);
    });

    it('have the stopped tasks of each pool although another one has more than are read', async () => {
      const { lab, read, stop } = await owned([pool('crashing', 330), pool('quiet', 2)]);
      stop('crashing');
      stop('quiet');
      lab.pass(200);
      const stopped = (await read()).filter(({ lastStatus }) => lastStatus === 'STOPPED');
      const ofPool = (name: string) => {
        const group = `service:${lab.world.service(name).identity.name}`;
        return stopped.filter((task) => task.group === group).length;
      };
      expect(ofPool('quiet')).toBe(2);
      expect(ofPool('crashing')).toBeGreaterThanOrEqual(300);
    });
  });

  it.each([
    { ownsCluster: false, pages: 3, tasks: 300, because: 'one list of the service has enough' },
    {
      ownsCluster: true,
      pages: 6,
      tasks: 300,
      because: 'the list of the cluster has enough, and so has that of the service',
    },
  ])(
    'have $tasks of the stopped tasks of a crash loop, from $pages pages: $because',
    async ({ ownsCluster, pages, tasks }) => {
      let asked = 0;
      const send = async ({ input }: { input: Sent }) => {
        const { desiredStatus, tasks: described } = input;
        if (described !== undefined) return { tasks: described.map(stoppedTask) };
        if (desiredStatus !== 'STOPPED') return { services: [], serviceArns: [], taskArns: [] };
        asked += 1;
        const page = Number(input.nextToken ?? 0);
        return {
          taskArns: Array.from({ length: 100 }, (_, index) => `arn:task/${page * 100 + index}`),
          nextToken: String(page + 1),
        };
      };
      const client = Object.assign(new ECSClient({ region: 'eu-central-1' }), { send });
      const ecs = new EcsAdapter(client, 'cluster', { ownsCluster });
      const { status, items } = await ecs.tasks([{ serviceName: 'a' } as Service]);
      expect({ status, pages: asked, tasks: items.length }).toEqual({ status: 'ok', pages, tasks });
    },
  );
  type Sent = { desiredStatus?: string; nextToken?: string; tasks?: readonly string[] };
  const stoppedTask = (taskArn: string) => ({
    ...{ taskArn, group: 'service:a', lastStatus: 'STOPPED', desiredStatus: 'STOPPED', containers: [] },
  });

  it.each([
    { reason: 'MISSING', unread: [], because: 'the service is gone' },
    {
      reason: 'ACCESS_DENIED',
      unread: ['arn:aws:ecs:eu-central-1:1:service/cluster/a'],
      because: 'it is there',
    },
  ])('leave out $unread.length services that ECS calls $reason: $because', async ({ reason, unread }) => {
    const arn = 'arn:aws:ecs:eu-central-1:1:service/cluster/a';
    const send = async ({ input }: { input: { services?: readonly string[] } }) =>
      input.services === undefined ? { serviceArns: [arn] } : { services: [], failures: [{ arn, reason }] };
    const client = Object.assign(new ECSClient({ region: 'eu-central-1' }), { send });
    const { leftOut = [] } = await new EcsAdapter(client, 'cluster').services();
    expect(leftOut.map(({ row }) => row)).toEqual(unread);
  });

  it('fail with the error of ECS if the cluster does not exist', async () => {
    const lab = await startLab({ pools: [pool('cpu', 0)] });
    const { ecs } = connect(lab.config, 'nowhere', undefined).ports();
    const services = await ecs.services();
    expect(services.status).toBe('failed');
    expect(services.error).toMatch(/^listing services of cluster "nowhere": ClusterNotFoundException: /);
  });
});

describe('writes', () => {
  it('send a drain request as a protection of 23 hours', async () => {
    const lab = await startLab({ pools: [pool('cpu', 2)] });
    lab.pass(120);
    const { ecs } = lab.ports();
    const tasks = lab.world.ecs.tasks().map(({ identity }) => identity.arn);
    const [asked, other] = tasks;
    if (asked === undefined || other === undefined) throw new Error('no tasks');
    expect(await ecs.requestDrain([asked])).toEqual([]);
    const { items } = await ecs.protections(tasks);
    const hours = (arn: TaskArn): number =>
      ((items.find(({ taskArn }) => taskArn === arn)?.expirationDate ?? 0) -
        (lab?.world.timeline.now() ?? 0)) /
      3_600_000;
    expect(hours(asked)).toBeCloseTo(23, 2);
    expect(hours(other)).toBeGreaterThan(47);
  });

  it('protect a task without a guard for half an hour', async () => {
    const lab = await startLab({ pools: [pool('cpu', 1)] });
    lab.pass(120);
    const { ecs } = lab.ports();
    const arns = lab.world.ecs.tasks().map(({ identity }) => identity.arn);
    expect(await ecs.protect(arns)).toEqual([]);
    const [protection] = (await ecs.protections(arns)).items;
    const minutes = ((protection?.expirationDate ?? 0) - lab.world.timeline.now()) / 60_000;
    expect(minutes).toBeCloseTo(30, 0);
  });

  it('make no further call for one task that ECS refuses', async () => {
    const calls: string[] = [];
    const lab = await startLab({
      pools: [pool('cpu', 1)],
      onRequest: ({ operation }) => calls.push(operation),
    });
    lab.pass(120);
    const tasks = lab.world.ecs.tasks().map(({ identity }) => identity);
    for (const { id } of tasks) lab.world.ecs.refusingTasks.add(id);
    calls.length = 0;
    await expect(lab.ports().ecs.requestDrain(tasks.map(({ arn }) => arn))).rejects.toThrow('protected');
    expect(calls).toEqual(Array(TRIES).fill('UpdateTaskProtection'));
  });

  it('report tasks that ECS refuses to protect, with its reason', async () => {
    const lab = await startLab({ pools: [pool('cpu', 0)] });
    const gone =
      `arn:aws:ecs:eu-central-1:123456789012:task/${lab.world.ecs.clusterName}/${'0'.repeat(32)}` as TaskArn;
    expect(await lab.ports().ecs.requestDrain([gone])).toMatchObject([{ task: gone, reason: 'MISSING' }]);
  });

  it('protect the other tasks if ECS refuses a call because of one task', async () => {
    const lab = await startLab({ pools: [pool('cpu', 4)] });
    lab.pass(120);
    const { ecs } = lab.ports();
    const tasks = lab.world.ecs.tasks();
    const arns = tasks.map(({ identity }) => identity.arn);
    const bad = tasks[1]?.identity;
    if (bad === undefined) throw new Error('no task');
    lab.world.ecs.refusingTasks.add(bad.id);
    expect(await ecs.requestDrain(arns)).toEqual([
      { task: bad.arn, reason: 'InvalidParameterException', detail: expect.stringContaining('protected') },
    ]);
    const { items } = await ecs.protections(arns);
    const leaseHours = items.map(({ expirationDate = 0 }) =>
      Math.round((expirationDate - (lab?.world.timeline.now() ?? 0)) / 3_600_000),
    );
    expect(leaseHours.toSorted()).toEqual([23, 23, 23, 48]);
  });

  it('fail once if ECS refuses every task of a call', async () => {
    const lab = await startLab({ pools: [pool('cpu', 3)] });
    lab.pass(120);
    const tasks = lab.world.ecs.tasks().map(({ identity }) => identity);
    for (const { id } of tasks) lab.world.ecs.refusingTasks.add(id);
    await expect(lab.ports().ecs.requestDrain(tasks.map(({ arn }) => arn))).rejects.toThrow('protected');
  });

  it('do not split a throttled call', async () => {
    const calls: string[] = [];
    const lab = await startLab({
      pools: [pool('cpu', 3)],
      onRequest: ({ operation }) => calls.push(operation),
    });
    lab.pass(120);
    lab.world.ecs.throttleNext('UpdateTaskProtection', TRIES);
    calls.length = 0;
    const asked = lab.ports().ecs.requestDrain(lab.world.ecs.tasks().map(({ identity }) => identity.arn));
    await expect(asked).rejects.toThrow('ThrottlingException: Rate exceeded');
    expect(calls).toEqual(Array(TRIES).fill('UpdateTaskProtection'));
  });

  it('set an absolute desired count, so a repeated write changes nothing', async () => {
    const lab = await startLab({ pools: [pool('cpu', 0)] });
    const { ecs } = lab.ports();
    const { arn } = lab.world.service('cpu').identity;
    await Promise.all([ecs.setDesired(arn, 3), ecs.setDesired(arn, 3)]);
    lab.pass(120);
    expect(lab.world.figures().tasks.launched).toBe(3);
  });
});
