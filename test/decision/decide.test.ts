import { describe, expect, it } from 'vitest';
import type { Picture } from '../support/picture.ts';
import {
  addFailedStarts,
  type Change,
  edit,
  organizationIn,
  planOf,
  reasonedActionsOf,
} from '../support/planned.ts';

/** The actions of the plan for a picture, as text. */
const actionsFor = (picture: Picture, change?: Change) => reasonedActionsOf(planOf(picture, change));

const gpu = { cluster: 'gpu' };
const gpuEu = { cluster: 'gpu', region: 'eu' };

type Row = {
  readonly scenario: string;
  readonly picture: Picture;
  readonly expected: readonly string[];
  readonly because: string;
};

const scaleOut: readonly Row[] = [
  {
    scenario: '3 pending, no task',
    picture: { pools: { cpu: {} }, pending: [{ jobs: 3 }] },
    expected: ['cpu 0->3 pending-jobs'],
    because: 'each job needs a task',
  },
  {
    scenario: '3 pending, 2 idle',
    picture: { pools: { cpu: { tasks: 'I1m I2m' } }, pending: [{ jobs: 3 }] },
    expected: ['cpu 2->3 pending-jobs'],
    because: 'free daemons take two',
  },
  {
    scenario: '3 pending, P and desired 3',
    picture: { pools: { cpu: { tasks: 'P', desired: 3 } }, pending: [{ jobs: 3 }] },
    expected: [],
    because: 'desired tasks that do not run yet are starting',
  },
  {
    scenario: '2 pending, R and N',
    picture: { pools: { cpu: { tasks: 'R N' } }, pending: [{ jobs: 2 }] },
    expected: [],
    because: 'daemons that register and tasks that boot are coming',
  },
  {
    scenario: '1 pending, B',
    picture: { pools: { cpu: { tasks: 'B' } }, pending: [{}] },
    expected: ['cpu 1->2 pending-jobs'],
    because: 'busy daemons are no supply',
  },
  {
    scenario: '1 pending, Z',
    picture: { pools: { cpu: { tasks: 'Z' } }, pending: [{}] },
    expected: ['cpu 1->2 pending-jobs'],
    because: 'a task that lost its daemon is no supply',
  },
  {
    scenario: '1 pending, L',
    picture: { pools: { cpu: { tasks: 'L' } }, pending: [{}] },
    expected: ['cpu 1->2 pending-jobs'],
    because: 'a draining task no longer counts, but ECS must not stop it',
  },
  {
    scenario: '1 pending, X',
    picture: { pools: { cpu: { tasks: 'X' } }, pending: [{}] },
    expected: ['cpu 1->2 pending-jobs'],
    because: 'a task that has left still counts until ECS stops it',
  },
  {
    scenario: '7 pending, max 5',
    picture: { pools: { cpu: { max: 5 } }, pending: [{ jobs: 7 }] },
    expected: ['cpu 0->5 pending-jobs'],
    because: 'max limits',
  },
  {
    scenario: '9 pending in two pools, maxTasks 4',
    picture: {
      pools: { cpu: {}, gpu: { tags: gpu } },
      pending: [
        { jobs: 3, ageS: 90 },
        { jobs: 6, tags: gpu },
      ],
      maxTasks: 4,
    },
    expected: ['cpu 0->3 pending-jobs', 'gpu 0->1 pending-jobs'],
    because: 'the older group is served first',
  },
  {
    scenario: 'min 2, no task',
    picture: { pools: { cpu: { min: 2 } } },
    expected: ['cpu 0->2 floor'],
    because: 'min is a floor',
  },
  {
    scenario: 'warm 2, B',
    picture: { pools: { cpu: { tasks: 'B', warm: 2 } } },
    expected: ['cpu 1->3 floor'],
    because: 'warm daemons come on top of busy ones',
  },
  {
    scenario: 'warm 1, I and 1 pending',
    picture: { pools: { cpu: { tasks: 'I1m', warm: 1 } }, pending: [{}] },
    expected: ['cpu 1->2 floor'],
    because: 'the free daemon is about to be taken',
  },
  {
    scenario: 'desired 1 below 3 working',
    picture: { pools: { cpu: { tasks: 'B B I1m', desired: 1 } } },
    expected: ['cpu 1->3 count-below-tasks'],
    because: 'a count that is too low is raised',
  },
  {
    scenario: '1 untagged pending, pool tagged',
    picture: { pools: { gpu: { tags: gpu } }, pending: [{}] },
    expected: [],
    because: 'untagged jobs run on untagged daemons only',
  },
  {
    scenario: '1 pending, an idle daemon outside the autoscaler',
    picture: { pools: { cpu: {} }, pending: [{ ageS: 15 }], strangers: [{}] },
    expected: [],
    because: 'daemons of others are supply too',
  },
  {
    scenario: '1 pending for more than 15 s, an idle daemon outside the autoscaler',
    picture: { pools: { cpu: {} }, pending: [{ ageS: 16 }], strangers: [{}] },
    expected: ['cpu 0->1 pending-jobs'],
    because: 'coderd would have given it the job: it has ended, or takes no such jobs',
  },
  {
    scenario:
      '1 pending, an idle daemon outside the autoscaler, and an older job of a tag set that it does not have',
    picture: {
      pools: { cpu: {} },
      pending: [{ ageS: 10 }, { tags: { cluster: 'tpu' }, ageS: 60 }],
      strangers: [{}],
    },
    expected: [],
    because: 'that daemon cannot take the older job',
  },
  {
    scenario: '1 pending, an idle daemon outside the autoscaler, and an older job of another organization',
    picture: {
      pools: { cpu: {} },
      pending: [{ ageS: 10 }, { organization: 'data', ageS: 60 }],
      strangers: [{}],
    },
    expected: [],
    because: 'that daemon cannot take the older job either',
  },
  {
    scenario: '1 pending, a busy daemon outside the autoscaler',
    picture: { pools: { cpu: {} }, pending: [{}], strangers: [{ busy: true }] },
    expected: ['cpu 0->1 pending-jobs'],
    because: 'a busy one is not',
  },
  {
    scenario: '2 jobs that two pools can run',
    picture: { pools: { a: { tags: gpu }, b: { tags: gpuEu } }, pending: [{ tags: gpu, jobs: 2 }] },
    expected: ['a 0->2 pending-jobs'],
    because: 'each job is counted once',
  },
  {
    scenario: 'wide and narrow jobs',
    picture: {
      pools: { a: { tags: gpuEu, max: 1 }, b: { tags: gpu, max: 1 } },
      pending: [{ tags: gpu, ageS: 99 }, { tags: gpuEu }],
    },
    expected: ['a 0->1 pending-jobs', 'b 0->1 pending-jobs'],
    because: 'the older job leaves the only offer that fits the other one',
  },
  {
    scenario: 'a person and a prebuild, room for one',
    picture: {
      pools: { cpu: { max: 1 }, gpu: { tags: gpu } },
      pending: [{ prebuilds: true, ageS: 900, tags: gpu }, { jobs: 1 }],
      maxTasks: 1,
    },
    expected: ['cpu 0->1 pending-jobs'],
    because: 'people come before prebuilds',
  },
  {
    scenario: 'idle daemon with the wrong key, 1 pending',
    picture: {
      pools: { cpu: { tasks: 'I1m', tags: gpu, daemonTags: { cluster: 'tpu' } } },
      pending: [{ tags: gpu }],
    },
    expected: ['cpu 1->2 pending-jobs'],
    because: 'it offers the tags it registered with, not those of its pool',
  },
];

const scaleIn: readonly Row[] = [
  {
    scenario: 'B I9m I10m',
    picture: { pools: { cpu: { tasks: 'B I9m I10m' } } },
    expected: ['ask cpu#2 idle-long-enough'],
    because: 'idleTimeout is inclusive',
  },
  {
    scenario: 'I20m I30m, min 1',
    picture: { pools: { cpu: { tasks: 'I20m I30m', min: 1 } } },
    expected: ['ask cpu#1 idle-long-enough'],
    because: 'the task idle for longest drains, the floor stays',
  },
  {
    scenario: 'I20m I30m, warm 2',
    picture: { pools: { cpu: { tasks: 'I20m I30m', warm: 2 } } },
    expected: [],
    because: 'warm keeps both',
  },
  {
    scenario: 'I20m P',
    picture: { pools: { cpu: { tasks: 'I20m P', min: 1 } } },
    expected: [],
    because: 'a starting task does not replace a running one',
  },
  {
    scenario: 'I20m and 1 pending',
    picture: { pools: { cpu: { tasks: 'I20m' } }, pending: [{}] },
    expected: [],
    because: 'its job is about to come',
  },
  {
    scenario: 'I20m L X',
    picture: { pools: { cpu: { tasks: 'I20m L X', min: 1 } } },
    expected: ['cpu 3->2 tasks-left'],
    because: 'the count follows those that have left, and no others',
  },
  {
    scenario: 'X',
    picture: { pools: { cpu: { tasks: 'X' } } },
    expected: ['cpu 1->0 tasks-left'],
    because: 'to zero',
  },
  {
    scenario: 'X P',
    picture: { pools: { cpu: { tasks: 'X P' } } },
    expected: [],
    because: 'ECS might choose the one that starts',
  },
  {
    scenario: 'X N',
    picture: { pools: { cpu: { tasks: 'X N' } } },
    expected: [],
    because: 'a booting task has no lease yet',
  },
  {
    scenario: 'X U9m',
    picture: { pools: { cpu: { tasks: 'X U9m' } } },
    expected: [],
    because: 'an unguarded task could be chosen',
  },
  {
    scenario: 'X while deploying',
    picture: { pools: { cpu: { tasks: 'X', deploying: true } } },
    expected: [],
    because: 'a deployment chooses the tasks that it stops',
  },
  {
    scenario: 'U60m',
    picture: { pools: { cpu: { tasks: 'U60m' } } },
    expected: [],
    because: 'only a working task gets a drain request',
  },
  {
    scenario: 'U60m, min 1',
    picture: { pools: { cpu: { tasks: 'U60m', min: 1 } } },
    expected: [],
    because: 'unguarded tasks fill floors, or the pool would grow at each look',
  },
  {
    scenario: 'B B, max 1',
    picture: { pools: { cpu: { tasks: 'B B', max: 1 } } },
    expected: [],
    because: 'no busy task stops because of a limit',
  },
  {
    scenario: 'nothing',
    picture: { pools: { cpu: {} } },
    expected: [],
    because: 'a pool without changes needs no action',
  },
];

describe('scale-out', () => {
  it.each(scaleOut)('plans $expected for $scenario, because $because', ({ picture, expected }) => {
    expect(actionsFor(picture)).toEqual(expected);
  });
});

describe('scale-in', () => {
  it.each(scaleIn)('plans $expected for $scenario, because $because', ({ picture, expected }) => {
    expect(actionsFor(picture)).toEqual(expected);
  });
});

describe('the plan', () => {
  it('orders actions: higher counts, drain requests, lower counts', () => {
    const kinds = actionsFor({
      pools: { a: { tasks: 'X' }, b: { tasks: 'I20m', tags: gpu }, c: { min: 1, tags: gpuEu } },
    });
    expect(kinds).toEqual(['c 0->1 floor', 'ask b#0 idle-long-enough', 'a 1->0 tasks-left']);
  });

  it('counts daemons as a person would', () => {
    const [pool] = planOf({ pools: { cpu: { tasks: 'B I1m R P N L X U1m', desired: 9 } } }).pools;
    // U has no lease, so it has most likely just left; R, P, N and the missing task are starting
    expect(pool?.daemons).toEqual({
      busy: 1,
      idle: 1,
      starting: 4,
      leaving: 2,
      left: 1,
      unguarded: 0,
      failing: 0,
    });
  });

  it('gives every pool a reason, including a pool without actions', () => {
    const plan = planOf({ pools: { idle: {}, busy: { tasks: 'B', tags: gpu } } });
    expect(plan.pools.map(({ why }) => why)).toEqual([
      [{ code: 'nothing-to-do' }],
      [{ code: 'nothing-to-do' }],
    ]);
  });

  it('reports a limit that applies, with the wanted number of tasks', () => {
    const [pool] = planOf({ pools: { cpu: { max: 5 } }, pending: [{ jobs: 7 }] }).pools;
    expect(pool).toMatchObject({
      desired: { from: 0, to: 5 },
      pending: 7,
      why: [
        { code: 'pending-jobs', jobs: 7 },
        { code: 'capped-at-max', wanted: 7, max: 5 },
      ],
    });
  });

  it('reports maxTasks when it applies', () => {
    const [pool] = planOf({ pools: { cpu: {} }, pending: [{ jobs: 7 }], maxTasks: 5 }).pools;
    expect(pool?.why).toMatchObject([
      { code: 'pending-jobs', jobs: 7 },
      { code: 'capped-at-max-tasks', wanted: 7, granted: 5, maxTasks: 5 },
    ]);
  });

  it('counts draining tasks against maxTasks', () => {
    expect(actionsFor({ pools: { cpu: { tasks: 'L L L' } }, pending: [{ jobs: 3 }], maxTasks: 4 })).toEqual([
      'cpu 3->4 pending-jobs',
    ]);
  });

  it('reports unserved jobs with the closest pool and the tags that it lacks', () => {
    const plan = planOf({
      pools: { cpu: {}, gpu: { tags: gpuEu } },
      pending: [{ tags: { cluster: 'tpu', region: 'eu' }, jobs: 2 }],
    });
    expect(plan.actions).toEqual([]);
    expect(plan.unserved).toEqual([
      {
        organization: 'default',
        tags: { cluster: 'tpu', region: 'eu' },
        jobs: 2,
        oldest: '2026-11-20T08:59:30.000Z',
        failsAt: '2026-11-20T09:29:30.000Z',
        types: ['workspace_build'],
        why: 'no-pool-has-these-tags',
        closest: { pool: 'gpu', missing: { cluster: 'tpu' }, has: { cluster: 'gpu' }, surplus: {} },
      },
    ]);
  });

  it('assigns each job once, and reports to which pool', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I1m P' } }, pending: [{ jobs: 4 }] });
    expect(plan.assignment.map(({ pool, jobs, served }) => [pool, jobs, served])).toEqual([
      ['cpu', 1, 'by-free'],
      ['cpu', 1, 'by-starting'],
      ['cpu', 2, 'by-launch'],
    ]);
  });
});

describe('a pool with failing starts', () => {
  /** Three starts of `cheap` have failed; `dear` is healthy. */
  const drawn = (picture: Picture) =>
    actionsFor(picture, (snapshot) => addFailedStarts(snapshot, 'cheap', 3));
  const dear = { tags: { cluster: 'gpu', region: 'eu' }, cpu: 4096 };

  it('assigns jobs to a healthy pool, although it is more expensive', () => {
    expect(drawn({ pools: { cheap: { tags: gpu }, dear }, pending: [{ tags: gpu, jobs: 2 }] })).toEqual([
      'dear 0->2 pending-jobs',
    ]);
  });

  it('starts a probe when no other pool can run the job', () => {
    expect(drawn({ pools: { cheap: { tags: gpu } }, pending: [{ tags: gpu, jobs: 2 }] })).toEqual([
      'cheap 0->1 pending-jobs',
    ]);
  });

  it('counts the tasks that exist', () => {
    expect(
      drawn({ pools: { cheap: { tags: gpu, tasks: 'P P' }, dear }, pending: [{ tags: gpu, jobs: 2 }] }),
    ).toEqual([]);
  });

  it('gives up missing tasks, and frees their room in maxTasks', () => {
    expect(
      drawn({
        pools: { cheap: { tags: gpu, desired: 20 }, dear },
        pending: [{ tags: dear.tags, jobs: 3 }],
        maxTasks: 20,
      }),
    ).toEqual(['dear 0->3 pending-jobs', 'cheap 20->0 starts-failing']);
  });
});

describe('daemons that the autoscaler does not own', () => {
  it('get the jobs that have to wait, and no job is lost', () => {
    const plan = planOf({ pools: { gpu: { tags: gpu } }, pending: [{ jobs: 3, ageS: 10 }], strangers: [{}] });
    expect(plan.assignment.map(({ pool, jobs, served }) => [pool, jobs, served])).toEqual([
      [null, 1, 'by-free'],
      [null, 2, 'by-busy'],
    ]);
    expect(plan.unserved).toEqual([]);
  });

  it('get no job once they are offline, even if they still show one', () => {
    const plan = planOf(
      { pools: { gpu: { tags: gpu } }, pending: [{ jobs: 3 }], strangers: [{ busy: true }] },
      (snapshot) => edit(organizationIn(snapshot).daemons.items, 0, { last_seen_at: '2026-11-20T08:10:00Z' }),
    );
    expect(plan.assignment).toEqual([]);
    expect(plan.unserved).toMatchObject([{ jobs: 3 }]);
  });
});
