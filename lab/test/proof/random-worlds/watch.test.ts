import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../../lambda/decision/model/brands.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../lambda/decision/model/units.ts';
import type { LookResult } from '../../../../lambda/look/look.ts';
import { noteCountByHand } from '../../../proof/random-worlds/events/incidents.ts';
import { Watch } from '../../../proof/random-worlds/watch.ts';
import { Fleet } from '../../../proof/random-worlds/world/fleet.ts';
import { planOf } from '../../../proof/random-worlds/world/quiet.ts';
import { WorldEvents } from '../../../proof/random-worlds/world/world-events.ts';
import { type PoolSpec, World, type WorldOptions } from '../../../world/world.ts';

const CPU = { name: 'cpu', organization: 'default', tags: {}, min: 0, max: 2, warm: 0, idleTimeoutS: 60 };

/** What a look tells that matters here. */
type Told = {
  readonly desired?: { readonly from: number; readonly to: number };
  readonly floor?: number;
  readonly from?: string | undefined;
  readonly why?: readonly object[];
  readonly findings?: readonly object[];
  readonly refused?: readonly { readonly task: string; readonly reason: string }[];
  readonly overrides?: readonly object[];
  readonly process?: number;
};

/** A world with one pool of `max` 2, and what its watch counts. */
function watched(desiredCount = 0, options: Partial<WorldOptions> = {}, pool: Partial<PoolSpec> = {}) {
  const pools = [{ ...CPU, ...pool, desiredCount, image: 'guarded', retiring: false }] as const;
  const memory = { processLifeMs: [HOUR_MS, HOUR_MS], recordAnHour: 0 } as const;
  const drawn = { ...planOf(1, true), memory };
  const plan = { ...drawn, pools: [...pools], maxTasks: 4, lookEveryS: 10 };
  const world: World = new World({
    ...plan.world,
    latencies: {},
    ...options,
    pools,
    onAcquired: (_, taskId, pool) => watch.acquired(taskId, pool),
    onTaskStopped: (task) => watch.taskStopped(task),
  });
  const events = new WorldEvents({ world, plan, fleet: new Fleet(world, pools), print: () => {} });
  const watch = new Watch(events);
  const pass = (ms: number) => world.timeline.advanceTo(plusMs(world.timeline.now(), ms));
  const look = (told: Told = {}) => {
    const { desired, floor = 0, from, why = [], findings = [], refused = [], overrides = [] } = told;
    const { process = 1 } = told;
    const takenAt = new Date(world.timeline.now()).toISOString();
    const pool = {
      name: 'cpu',
      desired: desired ?? { from: 0, to: 0 },
      daemons: { leaving: 0, left: 0 },
      floor: { count: floor, from },
      overrides,
      why,
    };
    const applied = desired === undefined ? [] : [{ kind: 'set-desired', pool: 'cpu', ...desired }];
    watch.add(
      { plan: { takenAt, pools: [pool], findings }, outcome: { applied, refused } } as unknown as LookResult,
      process,
    );
  };
  return { world, events, pass, look, figures: () => watch.figures(), problems: () => watch.problems() };
}

describe('the watch of a random world', () => {
  it.each([
    { desired: { from: 0, to: 2 }, expected: 0, because: 'max allows it' },
    { desired: { from: 5, to: 5 }, expected: 0, because: 'the count was there before the look' },
    { desired: { from: 5, to: 6 }, expected: 1, because: 'nothing is leaving' },
    { desired: { from: 2, to: 3 }, old: 1, expected: 0, because: 'a task is being replaced' },
    { desired: { from: 2, to: 4 }, old: 1, expected: 1, because: 'only one is' },
  ])('counts $expected raises above max for $desired, since $because', ({ desired, old = 0, expected }) => {
    const { look, figures } = watched();
    look({ desired, why: [{ code: 'old-revision', tasks: old, asked: 0 }] });
    expect(figures().countsAboveMax).toBe(expected);
  });

  it.each([
    { to: 3, why: { code: 'launching-beside-unseen', tasks: 2 }, expected: 0, because: 'one task launches' },
    { to: 4, why: { code: 'launching-beside-unseen', tasks: 2 }, expected: 1, because: 'only one does' },
    {
      ...{ to: 3, why: { code: 'holding-for-doubt', doubts: ['daemons-empty-while-leased'] } },
      ...{ expected: 1, because: 'the doubt alone launches nothing' },
    },
  ])('counts $expected raises above max to $to with $why.code, since $because', ({ to, why, expected }) => {
    const { look, figures } = watched();
    look({ desired: { from: 2, to }, why: [why] });
    expect(figures().countsAboveMax).toBe(expected);
  });

  it('counts more tasks than max and than maxTasks', () => {
    const { world, look, pass, figures } = watched();
    look();
    world.ecs.setDesiredCount(world.service('cpu').identity.name, 5);
    pass(5 * MINUTE_MS);
    look();
    expect(figures()).toMatchObject({ tasksAboveMax: 1, tasksAboveMaxTasks: 1, launches: 5 });
  });

  it('counts apart what looks launch above maxTasks while a service is hidden, until it has left', () => {
    const { world, look, pass, figures } = watched();
    const { name } = world.service('cpu').identity;
    const lookWith = (count: number) => {
      world.ecs.setDesiredCount(name, count);
      pass(5 * MINUTE_MS);
      look();
      const { tasksAboveMaxTasks, aboveMaxTasksHidden } = figures();
      return [tasksAboveMaxTasks, aboveMaxTasksHidden];
    };
    look();
    world.ecs.unlisted.add(name);
    expect(lookWith(5)).toEqual([0, 1]);
    world.ecs.unlisted.delete(name);
    expect(lookWith(5)).toEqual([0, 2]);
    expect(lookWith(6)).toEqual([1, 2]);
    world.ecs.setDesiredCount(name, 0);
    for (const { identity } of world.service('cpu').tasks) world.ecs.hostFailure(identity.id);
    expect(lookWith(0)).toEqual([1, 2]);
    expect(lookWith(5)).toEqual([2, 2]);
  });

  it('counts no limit that is exceeded since the world began', () => {
    const { look, pass, figures } = watched(5);
    look(); // ECS has not started the tasks yet
    pass(5 * MINUTE_MS);
    look();
    expect(figures()).toMatchObject({ tasksAboveMax: 0, tasksAboveMaxTasks: 0 });
  });

  it.each([
    { what: 'an override that has ended', overrides: [{ kind: 'floor', count: 5 }], expected: 0 },
    { what: 'a person', isByHand: true, expected: 0 },
    { what: 'nobody', expected: 1 },
  ])(
    'counts $expected looks above max with tasks that $what brought',
    ({ overrides, isByHand, expected }) => {
      const { world, events, look, pass, figures } = watched();
      look();
      world.ecs.setDesiredCount(world.service('cpu').identity.name, 5);
      if (isByHand) noteCountByHand(events, 'cpu');
      look(overrides && { overrides });
      pass(5 * MINUTE_MS);
      look();
      expect(figures().tasksAboveMax).toBe(expected);
    },
  );

  it('counts tasks above max again once what a person brought has left', () => {
    const { world, events, look, pass, figures } = watched();
    const lookWith = (count: number) => {
      world.ecs.setDesiredCount(world.service('cpu').identity.name, count);
      if (count === 5) noteCountByHand(events, 'cpu');
      for (const { identity } of world.service('cpu').tasks) world.ecs.hostFailure(identity.id);
      look();
      pass(5 * MINUTE_MS);
      look();
      return figures().tasksAboveMax;
    };
    look();
    expect([5, 2, 3].map(lookWith)).toEqual([0, 0, 1]);
  });

  it.each([
    { old: 1, to: 3, expected: 0, because: 'a share replaces a task' },
    { old: 0, to: 3, expected: 1, because: 'nothing is replaced' },
    { old: 2, to: 4, expected: 1, because: 'a share is one task' },
  ])('counts $expected looks with $to tasks for max 2 and $old old ones, since $because', (row) => {
    const { world, look, pass, figures } = watched();
    const why = [{ code: 'old-revision', tasks: row.old, asked: 0 }];
    look();
    world.ecs.setDesiredCount(world.service('cpu').identity.name, row.to);
    look({ why });
    pass(5 * MINUTE_MS);
    look({ why });
    expect(figures().tasksAboveMax).toBe(row.expected);
  });

  it.each([
    { isDeploying: true, expected: 0, because: 'no look lowers a count meanwhile' },
    { isDeploying: false, expected: 1, because: 'a look lowers the count' },
  ])('counts $expected looks if ECS replaces a task that has left, since $because', (row) => {
    const { world, look, pass, figures } = watched(2);
    pass(5 * MINUTE_MS);
    look();
    const [first] = world.ecs.tasks();
    world.ecs.protect(first?.identity.id ?? '', 1380);
    world.ecs.setDesiredCount(world.service('cpu').identity.name, 3);
    look();
    pass(2 * MINUTE_MS);
    look();
    if (row.isDeploying) world.deploy('cpu');
    world.ecs.hostFailure(first?.identity.id ?? '');
    pass(2 * MINUTE_MS);
    look();
    expect(figures().tasksAboveMax).toBe(row.expected);
  });

  it('counts no task that ECS starts because it no longer counts the old ones', () => {
    const cleanup = { counts: false, blocks: false };
    const { world, look, pass, figures } = watched(2, { cleanup }, { earlySuccessPercent: 1 });
    const lookAfter = (ms: number) => {
      pass(ms);
      look();
    };
    lookAfter(5 * MINUTE_MS);
    world.deploy('cpu');
    world.ecs.hostFailure(world.ecs.tasks()[0]?.identity.id ?? '');
    for (let minute = 0; minute < 10; minute++) lookAfter(MINUTE_MS);
    expect(world.service('cpu').tasks.size).toBe(3);
    expect(figures()).toMatchObject({ tasksAboveMax: 0, tasksAboveMaxTasks: 0 });
  });

  it('finds a problem in each finding of a world without a fault', () => {
    const { look, pass, problems } = watched();
    pass(MINUTE_MS);
    look({ findings: [{ code: 'starts-failing', pool: 'cpu' }, { code: 'jobs-waiting' }] });
    expect(problems()).toEqual(['finding starts-failing in 1 looks, although nothing has failed']);
  });

  it('counts the launches that got no job', () => {
    const { world, pass, figures } = watched(2);
    pass(5 * MINUTE_MS);
    world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: SECOND_MS });
    pass(5 * MINUTE_MS);
    for (const { identity } of world.ecs.tasks()) world.ecs.hostFailure(identity.id);
    pass(MINUTE_MS);
    expect(figures().idleLaunches).toBe(1);
  });

  it('counts no task that the world began with', () => {
    const { world, look, pass, figures } = watched(1);
    pass(5 * MINUTE_MS);
    look();
    world.ecs.setDesiredCount(world.service('cpu').identity.name, 2);
    look({ desired: { from: 1, to: 2 } });
    pass(5 * MINUTE_MS);
    for (const { identity } of world.ecs.tasks()) world.ecs.hostFailure(identity.id);
    pass(MINUTE_MS); // ECS starts two others
    expect(figures()).toMatchObject({ launches: 3, idleLaunches: 1 });
  });

  it('counts a floor that is lowered within five minutes after a raise', () => {
    const { look, pass, figures } = watched();
    const raise = { desired: { from: 0, to: 1 }, floor: 1 };
    for (const told of [{ floor: 0 }, raise, { floor: 0 }]) {
      look(told);
      pass(SECOND_MS);
    }
    look(raise);
    pass(6 * MINUTE_MS);
    look({ floor: 0 });
    expect(figures().floorFlaps).toBe(1);
  });

  it('counts no task that ECS stops after its daemon has gone', () => {
    const { world, look, pass, figures } = watched();
    look();
    world.ecs.setDesiredCount(world.service('cpu').identity.name, 4);
    pass(5 * MINUTE_MS);
    for (const { identity } of world.ecs.tasks().slice(2)) world.ecs.stopTask(identity.id);
    pass(3 * SECOND_MS); // ECS signals the daemons, which are idle
    for (let seconds = 0; seconds < 30; seconds++) {
      look();
      pass(SECOND_MS);
    }
    expect(figures()).toMatchObject({ launches: 6, tasksAboveMaxTasks: 0 });
  });

  it.each([
    { what: 'only keeps tasks', desired: { from: 1, to: 1 } },
    { what: 'follows the jobs', desired: { from: 0, to: 1 }, from: 'warm' },
    { what: 'launches a task that gets a job', desired: { from: 0, to: 1 }, jobs: 1 },
  ])('counts no floor that $what', ({ desired, from, jobs = 0 }) => {
    const { world, look, pass, figures } = watched(1);
    look({ desired });
    look({ desired, floor: 1, from });
    for (let job = 0; job < jobs; job++)
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: SECOND_MS });
    pass(4 * MINUTE_MS);
    look({ desired, floor: 0 });
    expect(figures().floorFlaps).toBe(0);
  });

  it('counts a request that is refused again within a minute', () => {
    const { look, pass, figures } = watched();
    const refused = [{ task: 'a', reason: 'DEPLOYMENT_BLOCKED' }];
    for (const ms of [10 * SECOND_MS, 2 * MINUTE_MS, 0]) {
      look({ refused });
      pass(ms);
    }
    expect(figures().repeatedRefusals).toBe(1);
  });

  it('counts no request that another process repeats: each remembers its own refusals', () => {
    const { look, figures } = watched();
    const refused = [{ task: 'a', reason: 'DEPLOYMENT_BLOCKED' }];
    for (const process of [1, 2, 3]) look({ refused, process });
    expect(figures().repeatedRefusals).toBe(0);
  });

  it('counts a contest that nobody has started', () => {
    const { look, events, pass, figures } = watched();
    const findings = [{ code: 'count-contested', pool: 'cpu' }];
    pass(MINUTE_MS);
    look({ findings });
    for (let times = 0; times < 3; times++) noteCountByHand(events, 'cpu');
    look({ findings });
    expect(figures().falseContested).toBe(1);
  });

  it.each([
    { retiredAt: 1, backAt: 60, expected: 0, because: 'its only pool was retired for most of its time' },
    { retiredAt: 1, backAt: 5, expected: 1, because: 'its pool came back in time' },
    { retiredAt: 29, backAt: 60, expected: 1, because: 'its pool was retired too late to matter' },
    { retiredAt: 1, backAt: 29, expected: 0, because: 'its pool came back too late' },
    { retiredAt: 45, backAt: 60, expected: 1, because: 'its pool was retired after it had failed' },
  ])(
    'counts $expected jobs failed by coderd if a pool retires in minute $retiredAt and is back in minute $backAt: $because',
    ({ retiredAt, backAt, expected }) => {
      const { world, events, pass, figures } = watched();
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: SECOND_MS });
      pass(retiredAt * MINUTE_MS);
      events.fleet.retire({ pool: 'cpu', isRenamed: false });
      pass((backAt - retiredAt) * MINUTE_MS);
      events.fleet.takeBack('cpu');
      pass((90 - backAt) * MINUTE_MS);
      expect(figures().reaped).toBe(expected);
    },
  );

  it('counts a job that waits three starts beside a pool with room, once', () => {
    const { world, look, pass, figures } = watched();
    world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: SECOND_MS });
    for (let times = 0; times < 3; times++) {
      look();
      pass(15 * MINUTE_MS);
    }
    expect(figures().stalled).toBe(1);
  });

  it.each([
    { reading: 'all', blockedFor: 90, expected: 0, because: 'ECS leases no new task' },
    { reading: 'new-only', blockedFor: 90, expected: 0, because: 'it leases no new task here either' },
    { reading: 'off', blockedFor: 90, expected: 1, because: 'it leases them all the same' },
    { reading: 'all', blockedFor: 2, expected: 1, because: 'it leases them soon' },
    { reading: 'all', blockedFor: 0, expected: 1, because: 'a higher count would get it a lease' },
  ] as const)(
    'counts $expected jobs if a deployment is blocked for $blockedFor minutes ($reading), since $because',
    ({ reading, blockedFor, expected }) => {
      const { world, look, pass, figures } = watched(1, { deploymentBlocked: reading, blockedTasks: 'all' });
      pass(5 * MINUTE_MS);
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 2 * HOUR_MS });
      pass(MINUTE_MS);
      if (blockedFor > 0) world.deploy('cpu');
      world.ecs.setDesiredCount(world.service('cpu').identity.name, 0); // no other task starts
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: SECOND_MS });
      for (let minute = 0; minute < 80; minute++) {
        if (minute === blockedFor && minute > 0)
          for (const { identity } of world.ecs.tasks()) world.ecs.hostFailure(identity.id);
        look();
        pass(MINUTE_MS);
      }
      expect(figures()).toMatchObject({ stalled: expected, reaped: expected });
    },
  );

  type Watched = ReturnType<typeof watched>;
  const pinned = (count: number) => ({ overrides: [{ kind: 'pin', count }] });
  it.each<{
    readonly what: string;
    readonly begin?: (lab: Watched) => void;
    readonly end?: (lab: Watched) => void;
    readonly told?: object;
    readonly expected: number;
  }>([
    {
      what: 'the agents are down',
      expected: 0,
      begin: ({ world }) => {
        world.ecs.agentsDown = true;
      },
      end: ({ world }) => {
        world.ecs.agentsDown = false;
      },
    },
    {
      what: 'coderd is down',
      expected: 0,
      begin: ({ events }) => {
        events.isCoderdDown = true;
      },
      end: ({ events }) => {
        events.isCoderdDown = false;
      },
    },
    {
      what: 'each task freezes',
      expected: 0,
      begin: ({ world }) => {
        world.ecs.freezing = 1;
      },
      end: ({ world }) => {
        world.ecs.freezing = 0;
      },
    },
    {
      what: 'coderd has no license',
      expected: 0,
      begin: ({ world }) => {
        world.coderd.licence = 'not_entitled';
      },
      end: ({ world }) => {
        world.coderd.licence = 'entitled';
      },
    },
    {
      what: 'no list has a service',
      expected: 0,
      begin: ({ world }) => void world.ecs.failing.add('DescribeServices'),
      end: ({ world }) => void world.ecs.failing.delete('DescribeServices'),
    },
    {
      what: 'the key is deleted',
      expected: 0,
      begin: ({ world }) => world.deleteKey('cpu'),
      end: ({ world }) => world.renewKey('cpu'),
    },
    {
      what: 'starts fail',
      expected: 0,
      begin: ({ world }) => world.ecs.failStarts(world.service('cpu').identity.name, 'no image'),
      end: ({ world }) => world.ecs.failStarts(world.service('cpu').identity.name),
    },
    {
      what: 'ECS cannot place tasks',
      expected: 0,
      begin: ({ world }) => world.ecs.failPlacement(world.service('cpu').identity.name, 'no capacity'),
      end: ({ world }) => world.ecs.failPlacement(world.service('cpu').identity.name),
    },
    { what: 'the pool is paused', told: { overrides: [{ kind: 'pause' }] }, expected: 0 },
    { what: 'the pool is pinned to its tasks', told: pinned(0), expected: 0 },
    {
      what: 'no look can read the jobs',
      expected: 0,
      told: { findings: [{ code: 'jobs-failed', organization: 'default' }] },
    },
    { what: 'the pool is pinned to more tasks', told: pinned(2), expected: 1 },
    { what: 'a look cannot read the daemons', told: { findings: [{ code: 'daemons-failed' }] }, expected: 1 },
  ])('counts $expected jobs stalled or failed while $what, and all once it is over', (row) => {
    const { begin = () => {}, end = () => {}, told = {}, expected } = row;
    const lab = watched();
    const { world, look, pass, figures } = lab;
    const waitFor80Minutes = (seen: object) => {
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: SECOND_MS });
      for (let minute = 0; minute < 80; minute++) {
        look(seen);
        pass(MINUTE_MS);
      }
      return [figures().stalled, figures().reaped];
    };
    begin(lab);
    expect(waitFor80Minutes(told)).toEqual([expected, expected]);
    end(lab);
    expect(waitFor80Minutes({})).toEqual([expected + 1, expected + 1]);
  });

  it('counts a job that stalls although looks cannot read the jobs now and then', () => {
    const { world, look, pass, figures } = watched();
    world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: SECOND_MS });
    for (let minute = 0; minute < 29; minute++) {
      look({ findings: minute % 3 === 2 ? [{ code: 'jobs-failed', organization: 'default' }] : [] });
      pass(MINUTE_MS);
    }
    expect(figures().stalled).toBe(1);
  });
});
