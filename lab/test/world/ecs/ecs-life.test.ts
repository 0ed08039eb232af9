import { describe, expect, it } from 'vitest';
import { Fixture, HOUR, MINUTE, SECOND } from './ecs-fixture.ts';

/** A service of one running task. */
function booted() {
  const world = new Fixture();
  world.pass(2 * MINUTE);
  return { world, task: world.firstTask() };
}

describe('a task', () => {
  it('passes all statuses while it boots, with their times', () => {
    const world = new Fixture();
    world.pass(4 * SECOND);
    const task = world.firstTask();
    const seen = new Set<string>();
    for (let i = 0; i < 6000 && task.state.startedAt === undefined; i++) {
      seen.add(task.state.lastStatus);
      world.pass(10);
    }
    expect([...seen, task.state.lastStatus]).toEqual(['PROVISIONING', 'PENDING', 'ACTIVATING', 'RUNNING']);
    const { createdAt, pullStartedAt = 0, pullStoppedAt = 0, startedAt = 0 } = task.state;
    expect([createdAt, pullStartedAt, pullStoppedAt, startedAt].toSorted((a, b) => a - b)).toEqual([
      createdAt,
      pullStartedAt,
      pullStoppedAt,
      startedAt,
    ]);
    expect(startedAt - createdAt).toBeGreaterThanOrEqual(25 * SECOND);
    expect(startedAt - createdAt).toBeLessThanOrEqual(60 * SECOND);
  });

  it('gets SIGTERM shortly after ECS has chosen it, and stops when its container has exited', () => {
    const { world, task } = booted();
    world.desire(0);
    world.pass(30 * SECOND);
    expect(world.container(task).signals).toEqual(['SIGTERM']);
    expect(task.state).toMatchObject({
      lastStatus: 'STOPPED',
      desiredStatus: 'STOPPED',
      stopCode: 'ServiceSchedulerInitiated',
      stoppedReason: `Scaling activity initiated by (deployment ${world.service.state.primary.id})`,
      exitCode: 0,
    });
  });

  it('gets SIGKILL exactly 120 s after SIGTERM', () => {
    const { world, task } = booted();
    world.container(task).ignoresSigterm = true;
    world.desire(0);
    while (task.state.lastStatus !== 'STOPPING') world.pass(100);
    const terminatedAt = task.state.stoppingAt ?? 0;
    world.pass(terminatedAt + 119 * SECOND - world.timeline.now());
    expect(world.container(task).signals).toEqual(['SIGTERM']);
    world.pass(SECOND);
    expect(world.container(task).signals).toEqual(['SIGTERM', 'SIGKILL']);
    expect(task.state).toMatchObject({ lastStatus: 'DEPROVISIONING', exitCode: 137 });
  });

  it('ends at once with exit code 137 and its reason if its container runs out of memory', () => {
    const { world, task } = booted();
    world.ecs.outOfMemory(task.identity.id);
    expect(world.container(task).signals).toEqual(['SIGKILL']);
    world.pass(30 * SECOND);
    expect(task.state).toMatchObject({
      lastStatus: 'STOPPED',
      stopCode: 'EssentialContainerExited',
      exitCode: 137,
      containerReason: 'OutOfMemoryError: Container killed due to memory usage',
    });
  });

  it('shows that it ran out of memory when its container ends, if the kernel killed one process', () => {
    const { world, task } = booted();
    world.ecs.outOfMemory(task.identity.id, () => {});
    expect(task.state.lastStatus).toBe('RUNNING');
    world.desire(0);
    world.pass(30 * SECOND);
    expect(task.state).toMatchObject({
      stopCode: 'ServiceSchedulerInitiated',
      containerReason: 'OutOfMemoryError: Container killed due to memory usage',
    });
  });

  it('shows the desired status STOPPED at the agent only from SIGTERM on', () => {
    const { world, task } = booted();
    const { host } = world.container(task);
    world.desire(0);
    while (task.isWanted) world.pass(10);
    expect(host.agent.desiredStatus()).toBe('RUNNING');
    world.pass(2 * SECOND);
    expect(host.agent.desiredStatus()).toBe('STOPPED');
  });

  it('keeps its stop reason and its 120 s when it is stopped again', () => {
    const { world, task } = booted();
    world.container(task).ignoresSigterm = true;
    world.ecs.stopTask(task.identity.id);
    world.pass(100 * SECOND);
    world.ecs.spotInterruption(task.identity.id);
    world.pass(25 * SECOND);
    expect(task.state).toMatchObject({ stopCode: 'UserInitiated', exitCode: 137 });
  });

  it('keeps its first stop reason when its host fails before it has stopped', () => {
    const { world, task } = booted();
    world.container(task).ignoresSigterm = true;
    world.desire(0);
    world.pass(10 * SECOND);
    world.ecs.hostFailure(task.identity.id);
    expect(task.state).toMatchObject({ stopCode: 'ServiceSchedulerInitiated', lastStatus: 'DEPROVISIONING' });
  });

  it('never starts its container if it is stopped while it boots', () => {
    const world = new Fixture();
    world.pass(5 * SECOND);
    const task = world.firstTask();
    world.desire(0);
    world.pass(5 * MINUTE);
    expect(task.state).toMatchObject({ lastStatus: 'STOPPED', stopCode: 'ServiceSchedulerInitiated' });
    expect(task.state.startedAt).toBeUndefined();
    expect(world.containers.size).toBe(0);
  });

  it('is replaced when its container exits', () => {
    const { world, task } = booted();
    world.container(task).host.exit(3);
    expect(task.state).toMatchObject({
      desiredStatus: 'STOPPED',
      stopCode: 'EssentialContainerExited',
      stoppedReason: 'Essential container in task exited',
      exitCode: 3,
    });
    world.pass(2 * MINUTE);
    expect(world.running().map((it) => it.identity.id)).toEqual([world.firstTask().identity.id]);
    expect(world.firstTask()).not.toBe(task);
  });

  it('is no longer listed an hour after it stopped', () => {
    const world = new Fixture();
    world.pass(2 * MINUTE);
    const { id } = world.firstTask().identity;
    world.desire(0);
    world.pass(59 * MINUTE);
    expect(world.ecs.findTask(id)).toBeDefined();
    world.pass(2 * MINUTE);
    expect(world.ecs.findTask(id)).toBeUndefined();
  });

  it('gets no signal when its host fails, and is replaced', () => {
    const { world, task } = booted();
    world.ecs.hostFailure(task.identity.id);
    expect(world.container(task).signals).toEqual(['SIGKILL']);
    expect(task.state).toMatchObject({ stopCode: 'InfrastructureHealth', lastStatus: 'DEPROVISIONING' });
    world.pass(2 * MINUTE);
    expect(world.running()).toHaveLength(1);
  });

  it.each(['ServiceSchedulerInitiated', 'TerminationNotice'] as const)(
    'is replaced when its host is retired, even if it is protected (%s)',
    (stopCode) => {
      const { world, task } = booted();
      world.ecs.protect(task.identity.id, 2880);
      world.ecs.retireHost(task.identity.id, stopCode);
      world.pass(2 * MINUTE);
      expect(task.state).toMatchObject({
        stopCode,
        stoppedReason: 'ECS is performing maintenance on the underlying infrastructure hosting the task.',
        lastStatus: 'STOPPED',
      });
      expect(world.running()).toHaveLength(1);
    },
  );
});

describe('the service scheduler', () => {
  it('spreads tasks over three zones', () => {
    const world = new Fixture({}, { desiredCount: 9 });
    world.pass(2 * MINUTE);
    const zones = Object.groupBy(world.running(), (task) => task.identity.place.zone);
    expect(Object.values(zones).map((tasks) => tasks?.length)).toEqual([3, 3, 3]);
  });

  it('gives every task a unique address', () => {
    const world = new Fixture({}, { desiredCount: 60 });
    world.pass(2 * MINUTE);
    expect(new Set(world.running().map((task) => task.identity.place.privateIp)).size).toBe(60);
  });

  it('picks victims that keep the zones balanced, and never a protected task', () => {
    const world = new Fixture({}, { desiredCount: 9 });
    world.pass(2 * MINUTE);
    const held = world.running().slice(0, 2);
    for (const task of held) world.ecs.protect(task.identity.id, 2880);
    world.desire(3);
    world.pass(2 * MINUTE);
    const left = world.running();
    expect(left).toHaveLength(3);
    expect(left).toEqual(expect.arrayContaining(held));
    world.desire(0);
    world.pass(2 * MINUTE);
    expect(new Set(world.running())).toEqual(new Set(held));
  });

  it('starts 100 tasks at once, then 20 a second', () => {
    const world = new Fixture({}, { desiredCount: 200 });
    world.pass(3.1 * SECOND);
    const first = world.tasks().length;
    expect(first).toBeGreaterThanOrEqual(100);
    expect(first).toBeLessThanOrEqual(100 + 3.1 * 20);
    world.pass(6 * SECOND);
    expect(world.tasks()).toHaveLength(200);
  });

  it('backs off up to 27 min after consecutive failed starts, and recovers', () => {
    const world = new Fixture();
    const reason = 'CannotPullContainerError: pull image manifest has been retried 5 time(s)';
    world.ecs.failStarts(world.service.identity.name, reason);
    world.pass(10 * MINUTE);
    const [failed] = world.ecs.tasks();
    expect(failed?.state).toMatchObject({ stopCode: 'TaskFailedToStart', stoppedReason: reason });
    expect(failed?.state.startedAt).toBeUndefined();
    world.pass(2 * HOUR);
    const before = world.ecs.counts().launched;
    world.pass(2 * HOUR);
    expect(world.ecs.counts().launched - before).toBeLessThanOrEqual(5);
    expect(world.ecs.counts().launched - before).toBeGreaterThanOrEqual(4);
    world.ecs.failStarts(world.service.identity.name);
    world.pass(29 * MINUTE);
    expect(world.running()).toHaveLength(1);
    world.ecs.failStarts(world.service.identity.name, reason);
    world.container(world.firstTask()).host.exit(0);
    world.pass(3 * MINUTE);
    world.ecs.failStarts(world.service.identity.name);
    world.pass(2 * MINUTE);
    expect(world.running()).toHaveLength(1);
  });

  it('does not back off for containers that start and exit', () => {
    const world = new Fixture();
    for (let i = 0; i < 30; i++) {
      world.pass(70 * SECOND);
      for (const task of world.running()) world.container(task).host.exit(1);
    }
    expect(world.ecs.counts().launched).toBeGreaterThanOrEqual(25);
  });
});

describe('a deployment', () => {
  const deployed = (options: ConstructorParameters<typeof Fixture>[1] = {}) => {
    const world = new Fixture({}, { desiredCount: 2, ...options });
    world.pass(3 * MINUTE);
    return world;
  };

  it('is complete once its tasks have been running for 40 s', () => {
    const world = new Fixture({}, { desiredCount: 2 });
    while (world.running().length < 2) world.pass(100);
    world.pass(39 * SECOND);
    expect(world.service.state.primary.rolloutState).toBe('IN_PROGRESS');
    world.pass(5 * SECOND);
    expect(world.service.state.primary.rolloutState).toBe('COMPLETED');
  });

  it('does not start when only the desired count changes', () => {
    const world = deployed();
    const { id } = world.service.state.primary;
    world.desire(5);
    world.pass(SECOND);
    expect(world.service.state.primary).toMatchObject({ id, rolloutState: 'COMPLETED', desiredCount: 5 });
  });

  it('replaces all unprotected tasks and waits for the protected ones', () => {
    const world = deployed();
    const [held, free] = world.running();
    if (held === undefined || free === undefined) throw new Error('expecting two running tasks');
    world.ecs.protect(held.identity.id, 60);
    world.deploy();
    world.pass(50 * MINUTE);
    expect(free.state.lastStatus).toBe('STOPPED');
    expect(held.isWanted).toBe(true);
    expect(world.tasks()).toHaveLength(2);
    expect(world.service.state).toMatchObject({
      primary: { rolloutState: 'IN_PROGRESS' },
      older: [{ status: 'ACTIVE' }],
    });
    world.pass(15 * MINUTE);
    expect(held.state.lastStatus).toBe('STOPPED');
    expect(world.running()).toHaveLength(2);
    expect(world.service.state).toMatchObject({ primary: { rolloutState: 'COMPLETED' }, older: [] });
  });

  it('starts new tasks first with minimumHealthyPercent 100 and maximumPercent 200', () => {
    const world = deployed({ minimumHealthyPercent: 100, maximumPercent: 200 });
    world.deploy();
    let least = 2;
    for (let i = 0; i < 600; i++) {
      world.pass(SECOND);
      least = Math.min(least, world.running().length);
    }
    expect(least).toBe(2);
    expect(new Set(world.running().map((task) => task.identity.definition.revision))).toEqual(new Set([2]));
  });
});
