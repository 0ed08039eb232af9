import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { IS_FULL, runs } from '../../../test/support/runs.ts';
import { Random } from '../../world/base/random.ts';
import type { BlockedTasks, DeploymentBlocked } from '../../world/ecs/protection.ts';
import type { EcsTask } from '../../world/ecs/task.ts';
import { World, type WorldOptions } from '../../world/world.ts';
import { HOUR, MINUTE, SECOND, START } from './ecs/ecs-fixture.ts';

/** The protection of a drain request: 23 h (docs/internals/architecture.md, "The lease"). */
const ASK_MINUTES = 1380;

function worldOf(options: Partial<WorldOptions> = {}) {
  const world = new World({
    start: START,
    seed: 5,
    pools: [{ name: 'gpu', organization: 'data', tags: { gpu: 'yes' } }],
    ...options,
  });
  const pass = (ms: number) => world.timeline.advanceTo((world.timeline.now() + ms) as EpochMs);
  const submit = (durationMs: number) =>
    world.coderd.submitJob({ organization: 'data', tags: { gpu: 'yes' }, durationMs });
  const desire = (count: number) => world.ecs.setDesiredCount(world.service('gpu').identity.name, count);
  const statuses = () => world.coderd.jobs().map((job) => job.status);
  const task = (): EcsTask => {
    const [first] = world.service('gpu').tasks;
    if (first === undefined) throw new Error('looking for a task: the pool has none; let time pass');
    return first;
  };
  const phase = () => world.guard(task().identity.id)?.phase;
  return { world, pass, submit, desire, statuses, task, phase };
}

describe('the life of a task', () => {
  it('launches, takes its lease, runs a job and leaves after a drain request without losing a job', () => {
    const { world, pass, submit, desire, statuses, task, phase } = worldOf();
    submit(20 * MINUTE);
    pass(2 * MINUTE);
    const first = task();
    const { id } = first.identity;
    expect(phase()).toBe('working');
    expect(world.coderd.daemons().map((daemon) => daemon.name)).toEqual([`gpu-${id}`]);
    expect(statuses()).toEqual(['running']);
    expect(first.isProtected).toBe(true);

    expect(world.ecs.protect(id, ASK_MINUTES)).toBeUndefined();
    pass(MINUTE);
    expect(phase()).toBe('draining');
    submit(MINUTE);
    pass(16 * MINUTE);
    expect(statuses()).toEqual(['running', 'pending']);

    pass(3 * MINUTE);
    expect(statuses()).toEqual(['succeeded', 'pending']);
    expect(phase()).toBe('left');
    expect(first.isProtected).toBe(false);

    desire(0);
    pass(MINUTE);
    expect(first.state).toMatchObject({
      lastStatus: 'STOPPED',
      stopCode: 'ServiceSchedulerInitiated',
      exitCode: 0,
    });
    expect(world.figures()).toMatchObject({ tasks: { running: 0, launched: 1, peak: 1 }, killed: 0 });
  });

  it('is replaced when it has left and the desired count still needs it', () => {
    const { world, pass, task, phase } = worldOf();
    pass(2 * MINUTE);
    const first = task();
    world.ecs.protect(first.identity.id, ASK_MINUTES);
    pass(10 * MINUTE);
    expect(phase()).toBe('left');
    pass(5 * MINUTE);
    expect(first.state).toMatchObject({ stopCode: 'EssentialContainerExited', exitCode: 0 });
    expect(phase()).toBe('working');
  });

  it('survives a scale-in until its job has ended', () => {
    const { world, pass, submit, desire, statuses, task } = worldOf();
    submit(16 * HOUR);
    pass(2 * MINUTE);
    const { id } = task().identity;
    desire(0);
    world.ecs.protect(id, ASK_MINUTES);
    pass(15 * HOUR);
    expect(statuses()).toEqual(['running']);
    pass(2 * HOUR);
    expect(statuses()).toEqual(['succeeded']);
    expect(world.figures()).toMatchObject({ tasks: { running: 0 }, killed: 0 });
  });

  it('loses no job when ECS stops it while it boots', () => {
    const { world, pass, submit, desire, statuses } = worldOf();
    submit(MINUTE);
    pass(20 * SECOND);
    desire(0);
    pass(2 * MINUTE);
    expect(world.figures()).toMatchObject({ tasks: { running: 0, launched: 1, peak: 0 }, killed: 0 });
    expect(statuses()).toEqual(['pending']);
    desire(1);
    pass(5 * MINUTE);
    expect(statuses()).toEqual(['succeeded']);
  });

  it('is replaced a minute after its daemon has crashed', () => {
    const { world, pass, task } = worldOf();
    pass(2 * MINUTE);
    const first = task();
    world.guard(first.identity.id)?.daemon?.crash(137);
    pass(30 * SECOND);
    expect(first.isProtected).toBe(false);
    expect(first.state.lastStatus).toBe('RUNNING');
    pass(MINUTE);
    expect(first.state).toMatchObject({ stopCode: 'EssentialContainerExited', exitCode: 137 });
    pass(2 * MINUTE);
    expect(world.figures()).toMatchObject({ tasks: { running: 1, launched: 2 }, killed: 0 });
  });

  it('crash-loops when its key was deleted', () => {
    const { world, pass } = worldOf();
    world.secrets.put('coder/keys/gpu', 'x'.repeat(43));
    pass(HOUR);
    expect(world.figures().tasks.launched).toBeGreaterThan(15);
    expect(world.coderd.daemons()).toEqual([]);
  });
});

describe('what the lease does not cover', () => {
  const STOPS = {
    'a Spot interruption': (world: World, id: string) => world.ecs.spotInterruption(id),
    StopTask: (world: World, id: string) => world.ecs.stopTask(id),
    'a retirement that ECS begins': (world: World, id: string) =>
      world.ecs.retireHost(id, 'ServiceSchedulerInitiated'),
    'a retirement with notice': (world: World, id: string) => world.ecs.retireHost(id, 'TerminationNotice'),
  };
  const names = Object.keys(STOPS) as (keyof typeof STOPS)[];

  /** Stops a task whose build needs `secondsToGo` more seconds. */
  function stopped(what: keyof typeof STOPS, secondsToGo: number) {
    const setup = worldOf({ latencies: { boot: [10 * SECOND, 10 * SECOND] } });
    setup.submit(HOUR + secondsToGo * SECOND);
    while (setup.statuses()[0] === 'pending') setup.pass(SECOND);
    setup.pass(HOUR);
    const stoppedTask = setup.task();
    STOPS[what](setup.world, stoppedTask.identity.id);
    return { ...setup, stoppedTask };
  }

  it.each(names)('lets a build finish within 120 s: %s', (what) => {
    const { world, pass, statuses, stoppedTask } = stopped(what, 115);
    pass(2 * MINUTE);
    expect(world.figures()).toMatchObject({ killed: 0, killedByUs: 0, killedByOthers: 0 });
    expect(statuses()).toEqual(['succeeded']);
    expect(stoppedTask.state).toMatchObject({ desiredStatus: 'STOPPED', exitCode: 0 });
  });

  it.each(names)('kills a build that takes longer than 120 s, counted as killed by others: %s', (what) => {
    const { world, pass, statuses } = stopped(what, 125);
    pass(2 * MINUTE);
    expect(world.figures().killed).toBe(0);
    pass(3 * SECOND);
    expect(world.figures()).toMatchObject({ killed: 1, killedByUs: 0, killedByOthers: 1 });
    expect(statuses()).toEqual(['running']);
    pass(7 * MINUTE);
    expect(statuses()).toEqual(['failed']);
  });

  it('kills a build at once when its host fails', () => {
    const { world, pass, submit, task } = worldOf();
    submit(HOUR);
    pass(2 * MINUTE);
    world.ecs.hostFailure(task().identity.id);
    expect(world.figures()).toMatchObject({ killed: 1, killedByOthers: 1 });
  });

  it('kills a build, counted as others, when a person removes the protection and lowers the count', () => {
    const { world, pass, submit, desire, task } = worldOf();
    submit(HOUR);
    pass(2 * MINUTE);
    world.ecs.disableByHand(task().identity.id);
    desire(0);
    pass(5 * MINUTE);
    expect(world.figures()).toMatchObject({ killedByUs: 0, killedByOthers: 1 });
  });

  it('saves the build when the guard protects the task again before that person lowers the count', () => {
    const { world, pass, submit, desire, statuses, task, phase } = worldOf();
    submit(HOUR);
    pass(2 * MINUTE);
    world.ecs.disableByHand(task().identity.id);
    pass(MINUTE);
    expect(phase()).toBe('draining');
    desire(0);
    pass(2 * HOUR);
    expect(statuses()).toEqual(['succeeded']);
    expect(world.figures().killed).toBe(0);
  });
});

describe('tasks without a guard', () => {
  it('are killed by a scale-in, counted as killed by us', () => {
    const { world, pass, submit, desire } = worldOf({
      pools: [{ name: 'gpu', organization: 'data', tags: { gpu: 'yes' }, image: 'bare' }],
    });
    submit(HOUR);
    pass(2 * MINUTE);
    desire(0);
    pass(5 * MINUTE);
    expect(world.figures()).toMatchObject({ killed: 1, killedByUs: 1, killedByOthers: 0 });
    expect(world.kills()).toMatchObject([{ pool: 'gpu', by: 'us', job: { durationMs: HOUR } }]);
  });
});

describe('a deleted key', () => {
  it('removes its daemons from the list while their jobs run on, and a new key serves new tasks', () => {
    const { world, pass, submit, statuses, task } = worldOf();
    submit(30 * MINUTE);
    pass(2 * MINUTE);
    world.deleteKey('gpu');
    expect(world.coderd.daemons()).toEqual([]);
    pass(HOUR);
    expect(statuses()).toEqual(['succeeded']);
    world.renewKey('gpu');
    world.ecs.protect(task().identity.id, ASK_MINUTES);
    submit(MINUTE);
    pass(20 * MINUTE);
    expect(statuses()).toEqual(['succeeded', 'succeeded']);
    expect(world.coderd.daemons()).toHaveLength(1);
  });
});

describe('a leave', () => {
  it('lasts from the end of the last job until the task with a drain request is gone', () => {
    const { world, pass, submit, desire, task } = worldOf();
    submit(10 * MINUTE);
    pass(2 * MINUTE);
    const { id } = task().identity;
    world.ecs.protect(id, ASK_MINUTES);
    pass(10 * MINUTE);
    expect(world.leaves()).toEqual([]);
    desire(0);
    pass(MINUTE);
    expect(world.leaves()).toEqual([
      {
        taskId: id,
        pool: 'gpu',
        idleSince: world.coderd.jobs()[0]?.completedAt,
        goneAt: world.ecs.findTask(id)?.state.stoppedAt,
      },
    ]);
  });

  it('is not counted when the daemon crashed or the task was stopped without a drain request', () => {
    const { world, pass, task } = worldOf();
    pass(2 * MINUTE);
    world.guard(task().identity.id)?.daemon?.crash(1);
    pass(5 * MINUTE);
    world.ecs.spotInterruption(task().identity.id);
    pass(5 * MINUTE);
    expect(world.figures().tasks.launched).toBe(3);
    expect(world.leaves()).toEqual([]);
  });
});

describe('a deployment', () => {
  it.each(['all', 'new-only', 'off'] as const)(
    'replaces busy tasks without killing a build (%s)',
    (deploymentBlocked) => {
      const { world, pass, submit, statuses } = worldOf({
        deploymentBlocked,
        pools: [{ name: 'gpu', organization: 'data', tags: { gpu: 'yes' }, desiredCount: 3 }],
      });
      for (let i = 0; i < 3; i++) submit((i + 1) * HOUR);
      pass(2 * MINUTE);
      world.deploy('gpu');
      for (let minutes = 0; minutes < 6 * 60; minutes++) {
        // The autoscaler sends drain requests to tasks of an old revision.
        for (const task of world.service('gpu').tasks)
          if (task.identity.definition.revision === 1 && task.isProtected)
            world.ecs.protect(task.identity.id, ASK_MINUTES);
        pass(MINUTE);
      }
      expect(statuses()).toEqual(['succeeded', 'succeeded', 'succeeded']);
      expect([...world.service('gpu').tasks].map((task) => task.identity.definition.revision)).toEqual([
        2, 2, 2,
      ]);
      expect(world.service('gpu').state.primary.rolloutState).toBe('COMPLETED');
      expect(world.figures().killed).toBe(0);
    },
  );

  it('finishes without an autoscaler, because guards drain after refused renewals', () => {
    const { world, pass, submit, statuses } = worldOf({ deploymentBlocked: 'all' });
    submit(90 * MINUTE);
    pass(2 * MINUTE);
    world.deploy('gpu');
    pass(3 * HOUR);
    expect(statuses()).toEqual(['succeeded']);
    expect(world.service('gpu').state).toMatchObject({ primary: { rolloutState: 'COMPLETED' }, older: [] });
    expect(world.figures().killed).toBe(0);
  });
});

describe('an autoscaler that makes random writes', () => {
  const nonsense = fc.record({
    seed: fc.nat(1_000_000),
    deploymentBlocked: fc.constantFrom<DeploymentBlocked>('all', 'new-only', 'off'),
    blockedTasks: fc.constantFrom<BlockedTasks>('all', 'old-revision'),
    lateLease: fc.constantFrom('taken', 'refused'),
    victims: fc.constantFrom('random', 'worst'),
    readLagMs: fc.constantFrom(0, 8_000),
  });

  it('kills no build, even with deployments and outages of the agent endpoint', () => {
    fc.assert(
      fc.property(nonsense, (options) => {
        const pools = [{ name: 'gpu', organization: 'data', tags: { gpu: 'yes' }, desiredCount: 3 }];
        const { world, pass, submit, desire } = worldOf({ ...options, pools });
        const random = new Random(options.seed);
        for (let step = 0; step < (IS_FULL ? 300 : 100); step++) {
          const what = random.next();
          if (what < 0.3) desire(random.whole(0, 6));
          else if (what < 0.55)
            world.ecs.protect(random.pick(world.ecs.tasks())?.identity.id ?? '', ASK_MINUTES);
          else if (what < 0.9) submit(random.whole(SECOND, 3 * HOUR));
          else if (what < 0.92) world.deploy('gpu');
          else if (what < 0.95) world.ecs.agentsDown = !world.ecs.agentsDown;
          pass(random.next() < 0.1 ? random.whole(0, 2 * HOUR) : random.whole(0, 2 * MINUTE));
        }
        expect(world.figures().killed).toBe(0);
      }),
      runs(40),
    );
  });
});

describe('a world', () => {
  const run = (seed: number) => {
    const { world, pass, submit, desire } = worldOf({ seed });
    for (let i = 0; i < 20; i++) submit(i * MINUTE);
    desire(6);
    pass(HOUR);
    const jobs = world.coderd.jobs().map((job) => [job.id, job.startedAt, job.completedAt]);
    return { figures: world.figures(), jobs };
  };

  it('is the same for the same seed, and differs for another seed', () => {
    expect(run(1)).toEqual(run(1));
    expect(run(1)).not.toEqual(run(2));
  });

  it('has one service for each pool, with one task as CloudFormation creates it', () => {
    const { world, pass } = worldOf({
      pools: [
        { name: 'default', organization: 'default', tags: {} },
        { name: 'big-gpu', organization: 'data', tags: { gpu: 'big' }, desiredCount: 2 },
      ],
    });
    pass(5 * MINUTE);
    expect(world.figures().tasks.running).toBe(3);
    const { identity, state } = world.service('big-gpu');
    expect(identity.name).toMatch(/^Stack-PoolBigGpuService-/);
    expect(state.tags).toEqual({
      'coder-autoscaler:pool': 'big-gpu',
      'coder-autoscaler:organization': 'data',
      'coder-autoscaler:scale-in': 'lease',
      'coder-autoscaler:log-group': world.logGroupName,
      'coder-autoscaler:stack': world.stackName,
    });
    expect(() => world.service('gpu')).toThrow('the world has only default, big-gpu');
  });
});
