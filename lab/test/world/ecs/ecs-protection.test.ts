import { describe, expect, it } from 'vitest';
import type { DeploymentBlocked } from '../../../world/ecs/protection.ts';
import { Fixture, HOUR, MINUTE, SECOND } from './ecs-fixture.ts';

function running(count: number, options: ConstructorParameters<typeof Fixture>[0] = {}) {
  const world = new Fixture(options, { desiredCount: count });
  world.pass(3 * MINUTE);
  const ids = world.running().map((task) => task.identity.id);
  return { world, ids, protect: (n: number, minutes = 2880) => world.ecs.protect(ids[n] ?? '', minutes) };
}

describe('task protection', () => {
  it('expires by itself, and ECS may then stop the task', () => {
    const { world, protect } = running(1);
    expect(protect(0, 60)).toBeUndefined();
    world.desire(0);
    world.pass(59 * MINUTE);
    expect(world.running()).toHaveLength(1);
    world.pass(2 * MINUTE);
    expect(world.running()).toHaveLength(0);
  });

  it('lasts from the last call, whether it is longer or shorter than before', () => {
    const { world, protect } = running(1, { deploymentBlocked: 'off' });
    protect(0, 60);
    world.pass(50 * MINUTE);
    protect(0, 120);
    world.pass(119 * MINUTE);
    expect(world.firstTask().isProtected).toBe(true);
    protect(0, 2880);
    protect(0, 10);
    world.pass(10 * MINUTE);
    expect(world.firstTask().isProtected).toBe(false);
    world.pass(48 * HOUR);
    expect(world.firstTask().isProtected).toBe(false);
  });

  it('ends earlier after a shorter protection', () => {
    const { world, protect } = running(1);
    protect(0, 2880);
    protect(0, 10);
    world.pass(10 * MINUTE);
    expect(world.firstTask().isProtected).toBe(false);
  });

  it('may take effect although the agent endpoint never answers', () => {
    const { world } = running(1, { latencies: { lease: [1000, 1000] } });
    const task = world.firstTask();
    const answers: string[] = [];
    world.container(task).host.agent.protect(60, (answer) => answers.push(answer.kind));
    world.pass(600);
    world.ecs.agentsDown = true;
    world.pass(600);
    expect(answers).toEqual(['error']);
    expect(task.isProtected).toBe(true);
  });

  it.each([
    { faults: { failing: 1, losing: 0 }, isTaken: false, because: 'the call fails before it takes effect' },
    { faults: { failing: 0, losing: 1 }, isTaken: true, because: 'the answer is lost after the change' },
  ])('has taken effect ($isTaken) after an error answer: $because', ({ faults, isTaken }) => {
    const { world } = running(1);
    const task = world.firstTask();
    const answers: string[] = [];
    world.ecs.agentFaults = faults;
    world.container(task).host.agent.protect(60, (answer) => answers.push(answer.kind));
    world.pass(SECOND);
    expect(answers).toEqual(['error']);
    expect(task.isProtected).toBe(isTaken);
  });

  it('saves a task from an earlier scale-in if it takes effect before ECS has chosen the task', () => {
    const { world, protect } = running(1, { deploymentBlocked: 'off' });
    world.desire(0);
    expect(protect(0)).toBeUndefined();
    world.pass(HOUR);
    expect(world.running()).toHaveLength(1);
  });

  const rows: readonly { reading: DeploymentBlocked; renewal: boolean; fresh: boolean }[] = [
    { reading: 'all', renewal: false, fresh: false },
    { reading: 'new-only', renewal: true, fresh: false },
    { reading: 'off', renewal: true, fresh: true },
  ];

  it.each(rows)(
    'allows renewals ($renewal) and new ones ($fresh) with more protected tasks than desired ($reading)',
    (row) => {
      const { world, protect } = running(3, { deploymentBlocked: row.reading });
      protect(0);
      protect(1);
      world.desire(2);
      world.pass(SECOND / 10);
      expect(protect(0)).toBeUndefined();
      world.desire(1);
      expect(protect(0) === undefined).toBe(row.renewal);
      expect(protect(2) === undefined).toBe(row.fresh);
      world.desire(3);
      expect(protect(0)).toBeUndefined();
    },
  );

  it.each(rows)(
    'allows renewals ($renewal) and new ones ($fresh) while an old task blocks a deployment ($reading)',
    (row) => {
      const { world, protect, ids } = running(2, { deploymentBlocked: row.reading });
      protect(0);
      world.deploy();
      expect(protect(0) === undefined).toBe(row.renewal);
      world.pass(3 * MINUTE);
      const fresh = world.running().find((task) => !ids.includes(task.identity.id))?.identity.id ?? '';
      expect(fresh).not.toBe('');
      expect(world.ecs.protect(fresh, 60) === undefined).toBe(row.fresh);
      world.ecs.unprotect(ids[0] ?? '');
      expect(world.ecs.protect(fresh, 60)).toBeUndefined();
    },
  );

  it('is refused only to old tasks during a blocked deployment with blockedTasks "old-revision"', () => {
    const { world, protect, ids } = running(2, { deploymentBlocked: 'all', blockedTasks: 'old-revision' });
    protect(0);
    world.deploy();
    expect(protect(0)).toBe('DEPLOYMENT_BLOCKED');
    world.pass(3 * MINUTE);
    const fresh = world.running().find((task) => !ids.includes(task.identity.id))?.identity.id ?? '';
    expect(world.ecs.protect(fresh, 60)).toBeUndefined();
    world.desire(1);
    expect(world.ecs.protect(fresh, 60)).toBe('DEPLOYMENT_BLOCKED');
  });

  it('can be set again after a person has removed it', () => {
    const { world, protect, ids } = running(1);
    protect(0);
    world.ecs.disableByHand(ids[0] ?? '');
    expect(world.firstTask().isProtected).toBe(false);
    expect(protect(0)).toBeUndefined();
    world.desire(0);
    world.pass(HOUR);
    expect(world.running()).toHaveLength(1);
  });

  it('is refused for tasks that are unknown or stopped', () => {
    const { world, ids } = running(1);
    expect(world.ecs.protect('0'.repeat(32), 60)).toBe('MISSING');
    world.desire(0);
    while (world.ecs.findTask(ids[0] ?? '')?.state.lastStatus !== 'DEPROVISIONING') world.pass(100);
    expect(world.ecs.protect(ids[0] ?? '', 60)).toBe('MISSING');
    world.pass(MINUTE);
    expect(world.ecs.protect(ids[0] ?? '', 60)).toBe('MISSING');
  });

  it.each(['taken', 'refused'] as const)(
    'is %s for a task that is stopping, and does not save it',
    (lateLease) => {
      const { world, protect, ids } = running(1, { lateLease, deploymentBlocked: 'off' });
      const task = world.firstTask();
      world.container(task).ignoresSigterm = true;
      world.desire(0);
      world.pass(5 * SECOND);
      expect(task.state.desiredStatus).toBe('STOPPED');
      expect(protect(0)).toBe(lateLease === 'taken' ? undefined : 'TASK_NOT_VALID');
      world.pass(3 * MINUTE);
      expect(world.ecs.findTask(ids[0] ?? '')?.state.lastStatus).toBe('STOPPED');
    },
  );
});
