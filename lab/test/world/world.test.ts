/** Stories of the whole world, and how it counts what it sees. */
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { EcsTask } from '../../world/ecs/task.ts';
import { World, type WorldOptions } from '../../world/world.ts';
import { HOUR, MINUTE, SECOND, START } from './ecs/ecs-fixture.ts';

/** The protection of a drain request: 23 h (docs/internals/architecture.md, "The lease"). */
const ASK_MINUTES = 1380;
const GPU = { name: 'gpu', organization: 'data', tags: { gpu: 'yes' } };

function worldOf(options: Partial<WorldOptions> = {}) {
  const world = new World({ start: START, seed: 5, pools: [GPU], ...options });
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
  it('takes a lease and a job, survives a scale-in, and leaves after a drain request and its job', () => {
    const { world, pass, submit, desire, statuses, task, phase } = worldOf();
    submit(16 * HOUR);
    pass(2 * MINUTE);
    const first = task();
    const { id } = first.identity;
    expect([phase(), first.isProtected, statuses()]).toEqual(['working', true, ['running']]);
    expect(world.coderd.daemons().map((daemon) => daemon.name)).toEqual([`gpu-${id}`]);
    desire(0);
    world.ecs.protect(id, ASK_MINUTES);
    pass(15 * HOUR + 50 * MINUTE);
    expect([phase(), statuses()]).toEqual(['draining', ['running']]);
    submit(MINUTE);
    pass(20 * MINUTE);
    expect(statuses()).toEqual(['succeeded', 'pending']);
    expect(first.state).toMatchObject({ stopCode: 'ServiceSchedulerInitiated', exitCode: 0 });
    expect(world.figures()).toMatchObject({ tasks: { running: 0, launched: 1, peak: 1 }, killed: 0 });
    const { completedAt } = world.coderd.jobs()[0] ?? {};
    const left = { taskId: id, pool: 'gpu', idleSince: completedAt, goneAt: first.state.stoppedAt };
    expect(world.leaves()).toEqual([left]);
  });

  it('is replaced when it has left and the count still needs it, or when its daemon has crashed', () => {
    const { world, pass, task, phase } = worldOf();
    pass(2 * MINUTE);
    const first = task();
    world.ecs.protect(first.identity.id, ASK_MINUTES);
    pass(15 * MINUTE);
    expect(first.state).toMatchObject({ stopCode: 'EssentialContainerExited', exitCode: 0 });
    expect(phase()).toBe('working');
    const second = task();
    world.guard(second.identity.id)?.daemon?.crash(137);
    pass(3 * MINUTE);
    expect(second.state).toMatchObject({ stopCode: 'EssentialContainerExited', exitCode: 137 });
    expect(world.figures()).toMatchObject({ tasks: { running: 1, launched: 3 }, killed: 0 });
    expect(world.leaves().map(({ taskId }) => taskId)).toEqual([first.identity.id]);
  });

  it('crash-loops with a wrong key', () => {
    const { world, pass } = worldOf();
    world.secrets.put('coder/keys/gpu', 'x'.repeat(43));
    pass(HOUR);
    expect(world.figures().tasks.launched).toBeGreaterThan(15);
    expect(world.coderd.daemons()).toEqual([]);
  });
});

describe('a killed build', () => {
  const STOPS = {
    'a Spot interruption': (world: World, id: string) => world.ecs.spotInterruption(id),
    StopTask: (world: World, id: string) => world.ecs.stopTask(id),
    'a retirement that ECS begins': (world: World, id: string) =>
      world.ecs.retireHost(id, 'ServiceSchedulerInitiated'),
    'a retirement with notice': (world: World, id: string) => world.ecs.retireHost(id, 'TerminationNotice'),
  };

  it.each(Object.entries(STOPS))('is counted as killed by others if it needs 120 s after %s', (_, stop) => {
    for (const [secondsToGo, killed] of [
      [115, 0],
      [125, 1],
    ] as const) {
      const { world, pass, submit, statuses, task } = worldOf({
        latencies: { boot: [10 * SECOND, 10 * SECOND] },
      });
      submit(HOUR + secondsToGo * SECOND);
      while (statuses()[0] === 'pending') pass(SECOND);
      pass(HOUR);
      stop(world, task().identity.id);
      pass(2 * MINUTE + 3 * SECOND);
      expect(world.figures()).toMatchObject({ killed, killedByUs: 0, killedByOthers: killed });
      expect(statuses()).toEqual([killed === 0 ? 'succeeded' : 'running']);
    }
  });

  it('is counted as killed by others when its host fails', () => {
    const { world, pass, submit, task } = worldOf();
    submit(HOUR);
    pass(2 * MINUTE);
    world.ecs.hostFailure(task().identity.id);
    expect(world.figures()).toMatchObject({ killed: 1, killedByOthers: 1 });
  });

  it('is counted as killed by others when a person removes the protection, unless the guard comes first', () => {
    for (const [waitMs, killed] of [
      [0, 1],
      [MINUTE, 0],
    ] as const) {
      const { world, pass, submit, desire, task } = worldOf();
      submit(HOUR);
      pass(2 * MINUTE);
      world.ecs.disableByHand(task().identity.id);
      pass(waitMs);
      desire(0);
      pass(2 * HOUR);
      expect(world.figures()).toMatchObject({ killedByUs: 0, killedByOthers: killed });
    }
  });

  it('is counted as killed by us when a scale-in stops a task without a guard', () => {
    const { world, pass, submit, desire } = worldOf({ pools: [{ ...GPU, image: 'bare' }] });
    submit(HOUR);
    pass(2 * MINUTE);
    desire(0);
    pass(5 * MINUTE);
    expect(world.figures()).toMatchObject({ killed: 1, killedByUs: 1, killedByOthers: 0 });
    expect(world.kills()).toMatchObject([{ pool: 'gpu', by: 'us', job: { durationMs: HOUR } }]);
  });
});

it('gives tasks that start after a deleted key the new one, while jobs of the old one run on', () => {
  const { world, pass, submit, statuses, task } = worldOf();
  submit(30 * MINUTE);
  pass(2 * MINUTE);
  world.deleteKey('gpu');
  expect(world.coderd.daemons()).toEqual([]);
  pass(HOUR);
  world.renewKey('gpu');
  world.ecs.protect(task().identity.id, ASK_MINUTES);
  submit(MINUTE);
  pass(20 * MINUTE);
  expect(statuses()).toEqual(['succeeded', 'succeeded']);
  expect(world.coderd.daemons()).toHaveLength(1);
});

it('finishes a deployment without an autoscaler, because guards drain after refused renewals', () => {
  const { world, pass, submit, statuses } = worldOf({ deploymentBlocked: 'all' });
  submit(90 * MINUTE);
  pass(2 * MINUTE);
  world.deploy('gpu');
  pass(3 * HOUR);
  expect(statuses()).toEqual(['succeeded']);
  expect(world.service('gpu').state).toMatchObject({ primary: { rolloutState: 'COMPLETED' }, older: [] });
  expect(world.figures().killed).toBe(0);
});

describe('a world', () => {
  it('is the same for the same seed, and differs for another seed', () => {
    const run = (seed: number) => {
      const { world, pass, submit, desire } = worldOf({ seed });
      for (let i = 0; i < 20; i++) submit(i * MINUTE);
      desire(6);
      pass(HOUR);
      const jobs = world.coderd.jobs().map((job) => [job.id, job.startedAt, job.completedAt]);
      return { figures: world.figures(), jobs };
    };
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
  });
});
