import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { callService } from '../../../world/base/aws-service.ts';
import { ECS } from '../../../world/ecs/api.ts';
import { Fixture, MINUTE, SECOND } from './ecs-fixture.ts';

function served(options: ConstructorParameters<typeof Fixture>[0] = {}, count = 3) {
  const world = new Fixture(options, { desiredCount: count, tags: { 'coder-autoscaler:pool': 'gpu' } });
  const cluster = world.ecs.clusterName;
  const call = (name: string, body: object = {}): Record<string, unknown> => ({
    ...callService(ECS, world.ecs, { name, body: { cluster, ...body } }),
  });
  world.pass(3 * MINUTE);
  return { world, call, service: world.service.identity.name };
}

const ids = (count: number) => Array.from({ length: count }, (_, i) => `${i}`.padStart(32, '0'));

describe('the ECS API', () => {
  it.each([
    ['ListServices', { maxResults: 0 }, 'InvalidParameterException'],
    ['ListServices', { maxResults: 101 }, 'InvalidParameterException'],
    ['ListServices', { nextToken: 'nonsense' }, 'InvalidParameterException'],
    ['ListServices', { cluster: 'other' }, 'ClusterNotFoundException'],
    ['ListServices', { cluster: undefined }, 'ClusterNotFoundException'],
    ['DescribeServices', { services: [] }, 'InvalidParameterException'],
    ['DescribeServices', { services: ids(11) }, 'InvalidParameterException'],
    ['DescribeServices', {}, 'SerializationException'],
    ['ListTasks', { maxResults: 101 }, 'InvalidParameterException'],
    ['ListTasks', { serviceName: 'other' }, 'ServiceNotFoundException'],
    ['ListTasks', { desiredStatus: 'ALL' }, 'InvalidParameterException'],
    ['DescribeTasks', { tasks: [] }, 'InvalidParameterException'],
    ['DescribeTasks', { tasks: ids(101) }, 'InvalidParameterException'],
    ['GetTaskProtection', {}, 'InvalidParameterException'],
    ['GetTaskProtection', { tasks: ids(101) }, 'InvalidParameterException'],
    ['UpdateTaskProtection', { tasks: [], protectionEnabled: true }, 'InvalidParameterException'],
    ['UpdateTaskProtection', { tasks: ids(11), protectionEnabled: true }, 'InvalidParameterException'],
    ['UpdateTaskProtection', { tasks: ids(1) }, 'SerializationException'],
    [
      'UpdateTaskProtection',
      { tasks: ids(1), protectionEnabled: true, expiresInMinutes: 0 },
      'InvalidParameterException',
    ],
    [
      'UpdateTaskProtection',
      { tasks: ids(1), protectionEnabled: true, expiresInMinutes: 2881 },
      'InvalidParameterException',
    ],
    ['UpdateService', { service: 'other', desiredCount: 1 }, 'ServiceNotFoundException'],
    ['UpdateService', { service: 'Stack-Service-A1', desiredCount: -1 }, 'InvalidParameterException'],
    ['UpdateService', { service: 'Stack-Service-A1', desiredCount: 1.5 }, 'InvalidParameterException'],
    ['UpdateService', { service: 'Stack-Service-A1', taskDefinition: 'x' }, 'AccessDeniedException'],
    ['StopTask', { task: 'x' }, 'AccessDeniedException'],
    ['RunTask', {}, 'AccessDeniedException'],
    ['toString', {}, 'AccessDeniedException'],
  ])('answers %s %j with %s', (operation, body, type) => {
    const { call, world } = served();
    expect(() => call(operation, body)).toThrow(expect.objectContaining({ type }));
    expect(world.service.state.desiredCount).toBe(3);
  });

  it('accepts lists of exactly the allowed length', () => {
    const { call } = served();
    expect(call('DescribeServices', { services: ids(10) }).failures).toHaveLength(10);
    expect(call('DescribeTasks', { tasks: ids(100) }).failures).toHaveLength(100);
    expect(call('GetTaskProtection', { tasks: ids(100) }).failures).toHaveLength(100);
    expect(call('UpdateTaskProtection', { tasks: ids(10), protectionEnabled: true }).failures).toEqual(
      expect.arrayContaining([expect.objectContaining({ reason: 'MISSING' })]),
    );
  });

  it('pages services by ten and shows each once, even when services appear between pages', () => {
    const { world, call } = served();
    const definition = world.ecs.registerTaskDefinition('Other', world.image);
    const names = Array.from({ length: 24 }, (_, i) => `Other-${i}`);
    for (const name of names) world.ecs.createService({ name, definition, desiredCount: 0 });
    const seen: string[] = [];
    let nextToken: unknown;
    do {
      const page = call('ListServices', nextToken === undefined ? {} : { nextToken });
      const arns = z.array(z.string()).parse(page.serviceArns);
      expect(arns.length).toBeLessThanOrEqual(10);
      seen.push(...arns);
      nextToken = page.nextToken;
      world.ecs.createService({ name: `A-${seen.length}`, definition, desiredCount: 0 });
    } while (nextToken !== undefined);
    expect(new Set(seen).size).toBe(seen.length);
    for (const name of names) expect(seen.some((arn) => arn.endsWith(`/${name}`))).toBe(true);
  });

  it('lists tasks by desired status, which is never PENDING', () => {
    const { world, call, service } = served();
    world.desire(2);
    world.pass(4 * SECOND);
    expect(call('ListTasks', { serviceName: service }).taskArns).toHaveLength(2);
    expect(call('ListTasks', { desiredStatus: 'STOPPED' }).taskArns).toHaveLength(1);
    world.desire(4);
    world.pass(4 * SECOND);
    expect(call('ListTasks').taskArns).toHaveLength(4);
    expect(call('ListTasks', { desiredStatus: 'PENDING' }).taskArns).toEqual([]);
    expect(call('DescribeServices', { services: [service] }).services).toMatchObject([
      { runningCount: 2, pendingCount: 2 },
    ]);
  });

  it.each([
    { sidecar: 'running', exits: [137, 0], reason: undefined },
    {
      sidecar: 'unpulled',
      exits: [undefined, 0],
      reason: expect.stringMatching(/^CannotPullContainerError/),
    },
  ] as const)('lists a sidecar that is $sidecar before the provisioner', ({ sidecar, exits, reason }) => {
    const { world, call } = served({ sidecar });
    const { id } = world.firstTask().identity;
    world.containers.get(id)?.host.exit(0);
    world.pass(MINUTE);
    expect(call('DescribeTasks', { tasks: [id] }).tasks).toMatchObject([
      {
        containers: [
          { name: `aws-guardduty-agent-${id.slice(0, 6)}`, exitCode: exits[0], reason },
          { name: 'provisioner', exitCode: exits[1] },
        ],
      },
    ]);
  });

  it('describes a task without an address until its network interface is attached', () => {
    const { world, call } = served();
    world.desire(4);
    world.pass(4 * SECOND);
    const booting = world.tasks().find((task) => task.state.lastStatus === 'PROVISIONING');
    expect(call('DescribeTasks', { tasks: [booting?.identity.id] }).tasks).toMatchObject([
      { lastStatus: 'PROVISIONING', attachments: [], containers: [{ networkInterfaces: [] }] },
    ]);
  });

  it('protects for 120 min by default, and returns when the protection ends', () => {
    const { world, call } = served();
    const task = world.firstTask().identity.id;
    const expirationDate = new Date(world.timeline.now() + 120 * MINUTE);
    const protectedTasks = [{ protectionEnabled: true, expirationDate }];
    expect(call('UpdateTaskProtection', { tasks: [task], protectionEnabled: true })).toMatchObject({
      protectedTasks,
    });
    expect(call('GetTaskProtection', { tasks: [task] })).toMatchObject({ protectedTasks });
    call('UpdateTaskProtection', { tasks: [task], protectionEnabled: false });
    expect(call('GetTaskProtection', { tasks: [task] }).protectedTasks).toEqual([
      { taskArn: world.firstTask().identity.arn, protectionEnabled: false, expirationDate: undefined },
    ]);
  });

  it('answers a blocked protection with a failure instead of an error', () => {
    const { world, call } = served();
    const tasks = world.tasks().map((task) => task.identity.id);
    call('UpdateTaskProtection', { tasks, protectionEnabled: true });
    world.desire(2);
    const answer = call('UpdateTaskProtection', { tasks, protectionEnabled: true, expiresInMinutes: 1380 });
    expect(answer.protectedTasks).toEqual([]);
    expect(answer.failures).toMatchObject(
      tasks.map((id) => ({
        arn: expect.stringContaining(id),
        reason: 'DEPLOYMENT_BLOCKED',
        detail: expect.any(String),
      })),
    );
  });

  it('refuses to update an inactive service, and does not list it', () => {
    const { world, call, service } = served();
    world.ecs.deleteService(service);
    expect(() => call('UpdateService', { service, desiredCount: 1 })).toThrow(
      expect.objectContaining({ type: 'ServiceNotActiveException' }),
    );
    expect(call('ListServices').serviceArns).toEqual([]);
    world.pass(MINUTE);
    expect(world.running()).toEqual([]);
  });
});

describe('what AWS does not tell', () => {
  it('is a service that no list has, although its tasks run', () => {
    const { world, call, service } = served();
    world.ecs.unlisted.add(service);
    expect(call('ListServices')).toEqual({ serviceArns: [] });
    expect(call('DescribeServices', { services: [world.service.identity.arn] })).toEqual({
      services: [],
      failures: [{ arn: world.service.identity.arn, reason: 'MISSING' }],
    });
    expect(call('ListTasks', { serviceName: service }).taskArns).toHaveLength(3);
    world.ecs.unlisted.clear();
    expect(call('ListServices')).toEqual({ serviceArns: [world.service.identity.arn] });
  });

  it('is what an operation gives that fails', () => {
    const { world, call } = served();
    world.ecs.failing.add('ListTasks');
    expect(() => call('ListTasks')).toThrow(expect.objectContaining({ type: 'ServerException' }));
    expect(call('ListServices')).toHaveProperty('serviceArns');
  });
});

describe('throttling', () => {
  const untilRefused = (call: () => unknown): number => {
    for (let calls = 0; calls < 1000; calls++) {
      try {
        call();
      } catch (error) {
        expect(error).toMatchObject({ type: 'ThrottlingException', message: 'Rate exceeded' });
        return calls;
      }
    }
    return 1000;
  };

  it.each([
    { name: 'ListServices', body: {}, burst: 100, perSecond: 20 },
    { name: 'ListTasks', body: {}, burst: 100, perSecond: 20 },
    { name: 'GetTaskProtection', body: { tasks: ids(1) }, burst: 200, perSecond: 80 },
    { name: 'UpdateService', body: { service: 'Stack-Service-A1' }, burst: 50, perSecond: 5 },
  ])('admits $burst $name requests at once, then $perSecond a second', ({ name, body, burst, perSecond }) => {
    const { world, call } = served();
    expect(untilRefused(() => call(name, body))).toBe(burst);
    world.pass(SECOND);
    expect(untilRefused(() => call(name, body))).toBe(perSecond);
    world.pass(MINUTE);
    expect(untilRefused(() => call(name, body))).toBe(burst);
  });

  it('counts calls of one kind together, and other kinds separately', () => {
    const { call, service } = served();
    const describe = () => call('DescribeServices', { services: [service] });
    for (let i = 0; i < 60; i++) call('ListServices');
    expect(untilRefused(describe)).toBe(40);
    expect(call('ListTasks').taskArns).toHaveLength(3);
  });
});

describe('reads with a lag', () => {
  it('show old counts, tasks and protections for at most the read lag', () => {
    const { world, call, service } = served({ readLagMs: 10_000, throttling: false });
    const task = world.firstTask().identity.id;
    const look = () => ({
      desired: z
        .object({ services: z.tuple([z.object({ desiredCount: z.number() })]) })
        .parse(call('DescribeServices', { services: [service] })).services[0].desiredCount,
      enabled: z
        .object({ protectedTasks: z.tuple([z.object({ protectionEnabled: z.boolean() })]) })
        .parse(call('GetTaskProtection', { tasks: [task] })).protectedTasks[0].protectionEnabled,
    });
    call('UpdateTaskProtection', { tasks: [task], protectionEnabled: true });
    world.desire(5);
    world.pass(5 * SECOND);
    const soon = Array.from({ length: 100 }, look);
    expect(new Set(soon.map((seen) => seen.desired))).toEqual(new Set([3, 5]));
    expect(new Set(soon.map((seen) => seen.enabled))).toEqual(new Set([false, true]));
    world.pass(5 * SECOND);
    const later = Array.from({ length: 100 }, look);
    expect(later.every((seen) => seen.desired === 5 && seen.enabled)).toBe(true);
  });

  it('may be older than an earlier read of the same service', () => {
    const { world, call, service } = served({ readLagMs: 10_000, throttling: false });
    world.desire(5);
    const desired = Array.from({ length: 40 }, () => {
      world.pass(SECOND / 10);
      const { services } = z
        .object({ services: z.array(z.object({ desiredCount: z.number() })) })
        .parse(call('DescribeServices', { services: [service] }));
      return services[0]?.desiredCount ?? 0;
    });
    const wentBack = desired.filter((count, index) => count < (desired[index - 1] ?? 0)).length;
    expect(wentBack).toBeGreaterThan(0);
  });

  it('may list a task that DescribeTasks does not know yet', () => {
    const { world, call } = served({ readLagMs: 10_000, throttling: false });
    world.desire(30);
    world.pass(8 * SECOND);
    const outcomes = Array.from({ length: 50 }, () => {
      const tasks = z.array(z.string()).parse(call('ListTasks').taskArns);
      return z.array(z.unknown()).parse(call('DescribeTasks', { tasks }).failures).length;
    });
    expect(outcomes.some((failures) => failures > 0)).toBe(true);
  });

  it('do not affect the answer of a write, which shows the current state', () => {
    const { world, call, service } = served({ readLagMs: 10_000 });
    const tasks = [world.firstTask().identity.id];
    expect(call('UpdateTaskProtection', { tasks, protectionEnabled: true }).protectedTasks).toMatchObject([
      { protectionEnabled: true },
    ]);
    expect(call('UpdateService', { service, desiredCount: 9 }).service).toMatchObject({ desiredCount: 9 });
  });
});
