/** The reasons of a pool: exactly these codes, and the actions that go with them. */
import { describe, expect, it } from 'vitest';
import { deliberate } from '../../../lambda/decision/decide.ts';
import type { Reason } from '../../../lambda/decision/model/plan.ts';
import { aConfig, anOrganization, aPool, aSnapshot } from '../../support/parts.ts';
import type { Picture } from '../../support/picture.ts';
import {
  actionsOf,
  addFailedStarts,
  type Change,
  edit,
  organizationIn,
  PULL_FAILURE,
  planOf,
  poolOf,
} from '../../support/planned.ts';

const gpu = { cluster: 'gpu' };
const failing =
  (count: number): Change =>
  (snapshot) =>
    addFailedStarts(snapshot, 'cpu', count);
const inDoubt: Change = (snapshot) => Object.assign(organizationIn(snapshot).jobs, { status: 'truncated' });

type Row = {
  readonly scenario: string;
  readonly picture: Picture;
  readonly change?: Change;
  readonly why: readonly Reason[];
  readonly actions: readonly string[];
};

const jobs: readonly Row[] = [
  {
    scenario: 'jobs for a free daemon, a starting one and two launches',
    picture: { pools: { cpu: { tasks: 'I1m P' } }, pending: [{ jobs: 4 }] },
    why: [
      { code: 'pending-jobs', jobs: 2 },
      { code: 'served-by-free', jobs: 1 },
      { code: 'served-by-starting', jobs: 1 },
    ],
    actions: ['cpu 2->4 pending-jobs'],
  },
  {
    scenario: 'as many jobs as max',
    picture: { pools: { cpu: { max: 3 } }, pending: [{ jobs: 3 }] },
    why: [{ code: 'pending-jobs', jobs: 3 }],
    actions: ['cpu 0->3 pending-jobs'],
  },
  {
    scenario: 'more jobs than max, some of them on tasks of min',
    picture: { pools: { cpu: { min: 2, max: 3 } }, pending: [{ jobs: 4 }] },
    why: [
      { code: 'pending-jobs', jobs: 4 },
      { code: 'capped-at-max', wanted: 4, max: 3 },
    ],
    actions: ['cpu 0->3 pending-jobs'],
  },
  {
    scenario: 'a job beside a daemon that cannot run it, at max',
    picture: {
      pools: { cpu: { tasks: 'I1m', max: 1, tags: gpu, daemonTags: { cluster: 'tpu' }, ageMinutes: 14 } },
      pending: [{ tags: gpu }],
    },
    why: [
      { code: 'pending-jobs', jobs: 1 },
      { code: 'capped-at-max', wanted: 2, max: 1 },
    ],
    actions: [],
  },
  {
    scenario: 'more busy daemons than max',
    picture: { pools: { cpu: { tasks: 'B B', max: 1 } } },
    why: [{ code: 'capped-at-max', wanted: 2, max: 1 }],
    actions: [],
  },
  {
    scenario: 'more idle daemons than max',
    picture: { pools: { cpu: { tasks: 'I1m I1m', max: 1 } } },
    why: [{ code: 'idle-too-briefly', tasks: 2 }],
    actions: [],
  },
  {
    scenario: 'as many tasks as maxTasks, and no more wanted',
    picture: { pools: { cpu: { tasks: 'B' } }, maxTasks: 1 },
    why: [{ code: 'nothing-to-do' }],
    actions: [],
  },
  {
    scenario: 'warm in an unknown organization, with room in maxTasks',
    picture: { pools: { cpu: { warm: 2 } } },
    change: ({ coder }) => {
      coder.organizations = [];
    },
    why: [{ code: 'floor', from: 'warm', count: 2 }],
    actions: [],
  },
  {
    scenario: 'jobs that a daemon with another key runs, near max',
    picture: {
      pools: { cpu: { tasks: 'B', max: 2, tags: gpu, daemonTags: { cluster: 'tpu' }, ageMinutes: 14 } },
      pending: [{ tags: { cluster: 'tpu' }, jobs: 2 }],
    },
    why: [{ code: 'nothing-to-do' }],
    actions: [],
  },
  {
    scenario: 'a pool without a service',
    picture: { pools: { cpu: {} }, pending: [{ jobs: 2 }] },
    change: ({ ecs }) => {
      ecs.services.items = [];
    },
    why: [{ code: 'pending-jobs', jobs: 2 }, { code: 'no-service' }],
    actions: [],
  },
  {
    scenario: 'a server too old',
    picture: { pools: { cpu: { tasks: 'I20m X' } }, pending: [{ jobs: 3 }] },
    change: ({ coder }) => {
      coder.buildInfo = { version: 'v2.18.5' };
    },
    why: [{ code: 'server-too-old', version: 'v2.18.5', oldest: '2.20' }],
    actions: [],
  },
];

const idle: readonly Row[] = [
  {
    scenario: 'some long enough, one too briefly',
    picture: { pools: { cpu: { tasks: 'I20m I9m I30m' } } },
    why: [
      { code: 'idle-long-enough', tasks: 2 },
      { code: 'idle-too-briefly', tasks: 1 },
    ],
    actions: ['ask cpu#2', 'ask cpu#0'],
  },
  {
    scenario: 'long enough beside one without a lease',
    picture: { pools: { cpu: { tasks: 'I20m U20m' } } },
    why: [{ code: 'holding-for-unguarded', tasks: 1 }],
    actions: [],
  },
  {
    scenario: 'too briefly beside one without a lease',
    picture: { pools: { cpu: { tasks: 'I9m U20m' } } },
    why: [{ code: 'idle-too-briefly', tasks: 1 }],
    actions: [],
  },
  {
    scenario: 'long enough, in doubt',
    picture: { pools: { cpu: { tasks: 'I20m' } } },
    change: inDoubt,
    why: [{ code: 'holding-for-doubt', doubts: ['jobs-truncated'] }],
    actions: [],
  },
  {
    scenario: 'long enough and too briefly, in doubt',
    picture: { pools: { cpu: { tasks: 'I20m I9m' } } },
    change: inDoubt,
    why: [
      { code: 'holding-for-doubt', doubts: ['jobs-truncated'] },
      { code: 'idle-too-briefly', tasks: 1 },
    ],
    actions: [],
  },
  {
    scenario: 'too briefly, in doubt',
    picture: { pools: { cpu: { tasks: 'I9m' } } },
    change: inDoubt,
    why: [{ code: 'idle-too-briefly', tasks: 1 }],
    actions: [],
  },
  {
    scenario: 'nothing to do, with doubts',
    picture: { pools: { cpu: {} } },
    change: inDoubt,
    why: [{ code: 'holding-for-doubt', doubts: ['jobs-truncated'] }],
    actions: [],
  },
  {
    scenario: 'idle for long beside one that launches',
    picture: {
      pools: { cpu: { tasks: 'I20m I20m', tags: gpu, daemonTags: { cluster: 'tpu' }, ageMinutes: 14 } },
      pending: [{ tags: gpu }],
    },
    why: [{ code: 'pending-jobs', jobs: 1 }],
    actions: ['cpu 2->3 pending-jobs'],
  },
  {
    scenario: 'a busy and an idle daemon, and one job to come',
    picture: { pools: { cpu: { tasks: 'B I20m' } }, pending: [{}] },
    why: [{ code: 'served-by-free', jobs: 1 }],
    actions: [],
  },
  {
    scenario: 'idle for long above max, and about to take a job',
    picture: { pools: { cpu: { tasks: 'B B I20m', max: 2 } }, pending: [{}] },
    why: [
      { code: 'served-by-free', jobs: 1 },
      { code: 'capped-at-max', wanted: 3, max: 2 },
    ],
    actions: [],
  },
  {
    scenario: 'idle for long above max, though warm would keep it',
    picture: { pools: { cpu: { tasks: 'B B I20m', max: 2, warm: 1 } } },
    why: [
      { code: 'floor', from: 'warm', count: 3 },
      { code: 'capped-at-max', wanted: 3, max: 2 },
      { code: 'idle-long-enough', tasks: 1 },
    ],
    actions: ['ask cpu#2'],
  },
  {
    scenario: 'one that has left beside one that is desired and not there yet',
    picture: { pools: { cpu: { tasks: 'X', desired: 2 } } },
    why: [{ code: 'holding-for-starting', tasks: 1 }],
    actions: [],
  },
];

const starts: readonly Row[] = [
  {
    scenario: 'three failed, as many there as wanted',
    picture: { pools: { cpu: { tasks: 'B B' } } },
    change: failing(3),
    why: [{ code: 'nothing-to-do' }],
    actions: [],
  },
  {
    scenario: 'three failed, no room in maxTasks for a probe',
    picture: { pools: { cpu: { tasks: 'B' } }, pending: [{}], maxTasks: 1 },
    change: failing(3),
    why: [
      { code: 'pending-jobs', jobs: 1 },
      { code: 'starts-failing', failures: 3, wanted: 2, granted: 1, reason: PULL_FAILURE },
    ],
    actions: [],
  },
  {
    scenario: 'three failed, desired tasks do not exist, during a deployment',
    picture: { pools: { cpu: { desired: 3, deploying: true } } },
    change: failing(3),
    why: [{ code: 'starts-failing', failures: 3, wanted: 0, granted: 0, reason: PULL_FAILURE }],
    actions: ['cpu 3->0 starts-failing'],
  },
  {
    scenario: 'three failed, one has left, and the missing ones are given up',
    picture: { pools: { cpu: { tasks: 'X', desired: 5, deploying: true } } },
    change: failing(3),
    why: [{ code: 'starts-failing', failures: 3, wanted: 0, granted: 0, reason: PULL_FAILURE }],
    actions: ['cpu 5->1 starts-failing'],
  },
  {
    scenario: 'three failed, desired tasks do not exist, with doubts',
    picture: { pools: { cpu: { desired: 3 } } },
    change: (snapshot, config) => {
      failing(3)(snapshot, config);
      inDoubt(snapshot, config);
    },
    why: [
      { code: 'starts-failing', failures: 3, wanted: 0, granted: 0, reason: PULL_FAILURE },
      { code: 'holding-for-doubt', doubts: ['jobs-truncated'] },
    ],
    actions: [],
  },
  {
    scenario: 'one that has not begun to run for 11 min: it is the probe',
    picture: { pools: { cpu: { tasks: 'P' } }, pending: [{ jobs: 2 }] },
    change: ({ ecs, takenAt }) =>
      edit(ecs.tasks.items, 0, { createdAt: new Date(Date.parse(takenAt) - 11 * 60_000).toISOString() }),
    why: [
      { code: 'pending-jobs', jobs: 2 },
      {
        code: 'starts-failing',
        failures: 0,
        wanted: 3,
        granted: 1,
        reason: 'ECS has not begun to run a desired task for over 10 min; the events of its service say why',
      },
    ],
    actions: [],
  },
  {
    scenario: 'three failed beside a daemon that registers: it is the probe',
    picture: { pools: { cpu: { tasks: 'R' } }, pending: [{ jobs: 3 }] },
    change: failing(3),
    why: [
      { code: 'pending-jobs', jobs: 2 },
      { code: 'served-by-starting', jobs: 1 },
      { code: 'starts-failing', failures: 3, wanted: 3, granted: 1, reason: PULL_FAILURE },
    ],
    actions: [],
  },
  {
    scenario: 'two failed',
    picture: { pools: { cpu: {} }, pending: [{ jobs: 5 }] },
    change: failing(2),
    why: [{ code: 'pending-jobs', jobs: 5 }],
    actions: ['cpu 0->5 pending-jobs'],
  },
  {
    scenario: 'three failed: one probe',
    picture: { pools: { cpu: {} }, pending: [{ jobs: 5 }] },
    change: failing(3),
    why: [
      { code: 'pending-jobs', jobs: 5 },
      { code: 'starts-failing', failures: 3, wanted: 5, granted: 1, reason: PULL_FAILURE },
    ],
    actions: ['cpu 0->1 pending-jobs'],
  },
  {
    scenario: 'three failed beside one that works: one probe',
    picture: { pools: { cpu: { tasks: 'B' } }, pending: [{ jobs: 5 }] },
    change: failing(3),
    why: [
      { code: 'pending-jobs', jobs: 5 },
      { code: 'starts-failing', failures: 3, wanted: 6, granted: 2, reason: PULL_FAILURE },
    ],
    actions: ['cpu 1->2 pending-jobs'],
  },
  {
    scenario: 'three failed and the probe is there: no other',
    picture: { pools: { cpu: { tasks: 'P' } }, pending: [{ jobs: 5 }] },
    change: failing(3),
    why: [
      { code: 'pending-jobs', jobs: 4 },
      { code: 'served-by-starting', jobs: 1 },
      { code: 'starts-failing', failures: 3, wanted: 5, granted: 1, reason: PULL_FAILURE },
    ],
    actions: [],
  },
  {
    scenario: 'three failed, two start: those count, and no more are launched',
    picture: { pools: { cpu: { tasks: 'P P' } }, pending: [{ jobs: 5 }] },
    change: failing(3),
    why: [
      { code: 'pending-jobs', jobs: 3 },
      { code: 'served-by-starting', jobs: 2 },
      { code: 'starts-failing', failures: 3, wanted: 5, granted: 2, reason: PULL_FAILURE },
    ],
    actions: [],
  },
  {
    scenario: 'three failed, desired tasks do not exist: the count stops ECS from retrying',
    picture: { pools: { cpu: { desired: 3 } } },
    change: failing(3),
    why: [{ code: 'starts-failing', failures: 3, wanted: 0, granted: 0, reason: PULL_FAILURE }],
    actions: ['cpu 3->0 starts-failing'],
  },
  {
    scenario: 'three failed, and max applies first',
    picture: { pools: { cpu: { max: 2 } }, pending: [{ jobs: 5 }] },
    change: failing(3),
    why: [
      { code: 'pending-jobs', jobs: 5 },
      { code: 'capped-at-max', wanted: 5, max: 2 },
      { code: 'starts-failing', failures: 3, wanted: 2, granted: 1, reason: PULL_FAILURE },
    ],
    actions: ['cpu 0->1 pending-jobs'],
  },
];

describe.each([
  { name: 'jobs and bounds', rows: jobs },
  { name: 'idle daemons', rows: idle },
  { name: 'failing starts', rows: starts },
])('$name', ({ rows }) => {
  it.each(rows)('gives the reasons of $scenario', ({ picture, change, why, actions }) => {
    const plan = planOf(picture, change);
    expect(poolOf(plan, 'cpu').why).toEqual(why);
    expect(actionsOf(plan)).toEqual(actions);
  });
});

describe('the daemon counts of a pool', () => {
  it('do not count draining tasks as busy, nor idle daemons without a lease as idle', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'B B B L I1m I1m U1m' } } });
    expect(poolOf(plan, 'cpu').daemons).toMatchObject({ busy: 3, idle: 2, leaving: 2, unguarded: 0 });
  });

  it('add warm to all tasks that hold a job or may hold one', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'B B I1m', warm: 1 } } }, (snapshot) => {
      edit(snapshot.ecs.protections.items, 1, { protectionEnabled: false });
      const lost = new Date(Date.parse(snapshot.takenAt) - 2 * 60_000).toISOString();
      edit(organizationIn(snapshot).daemons.items, 2, { last_seen_at: lost });
    });
    expect(poolOf(plan, 'cpu').floor).toEqual({ count: 4, from: 'warm' });
  });

  it('count a task that does not begin to run as starting', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'P P' } } }, ({ ecs, takenAt }) =>
      edit(ecs.tasks.items, 0, { createdAt: new Date(Date.parse(takenAt) - 11 * 60_000).toISOString() }),
    );
    expect(poolOf(plan, 'cpu').daemons.starting).toBe(2);
  });

  it('count jobs for a daemon with another key as pending in its pool', () => {
    const tpu = { cluster: 'tpu' };
    const plan = planOf({
      pools: { cpu: { tasks: 'B', tags: gpu, daemonTags: tpu, ageMinutes: 14 } },
      pending: [{ tags: tpu, jobs: 2 }],
    });
    expect(poolOf(plan, 'cpu').pending).toBe(2);
  });

  it('include the failed starts of the last ten minutes', () => {
    expect(poolOf(planOf({ pools: { cpu: {} } }, failing(2)), 'cpu').daemons.failing).toBe(2);
  });
});

it('keeps the count of a pool that needs no action, and drains nothing', () => {
  const { pools } = deliberate(
    aSnapshot({ version: 'v2.18.0', organizations: [anOrganization()] }),
    aConfig(aPool()),
  );
  expect(pools[0]).toMatchObject({ leaving: [], actions: [], to: 0 });
  const desired = poolOf(
    planOf({ pools: { cpu: { tasks: 'B B' } } }, ({ coder }) => {
      coder.buildInfo = { version: 'v2.1.0' };
    }),
    'cpu',
  ).desired;
  expect(desired).toEqual({ from: 2, to: 2 });
});
