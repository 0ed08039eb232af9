/** The offers for jobs: daemons and launches of pools, daemons outside the autoscaler, room. */

import { describe, expect, it } from 'vitest';
import { assign } from '../../../lambda/decision/assign/assignment.ts';
import type { Offer } from '../../../lambda/decision/assign/offer.ts';
import { deriveDemand } from '../../../lambda/decision/demand/demand.ts';
import type { OrganizationId } from '../../../lambda/decision/model/brands.ts';
import type { Served } from '../../../lambda/decision/model/plan.ts';
import { normalizeTags } from '../../../lambda/decision/model/tags.ts';
import { HOUR_MS as HOUR } from '../../../lambda/decision/model/units.ts';
import {
  ago,
  aJob,
  anOrganization,
  aSnapshot,
  jobId,
  poolName,
  reading,
  SECOND,
  taskIdOf,
} from '../../support/parts.ts';
import { idOf, type Picture } from '../../support/picture.ts';
import {
  actionsOf,
  addFailedStarts,
  type Change,
  edit,
  organizationIn,
  planOf,
} from '../../support/planned.ts';

const gpu = { cluster: 'gpu' };
const gpuEu = { cluster: 'gpu', region: 'eu' };

type Row = {
  readonly scenario: string;
  readonly picture: Picture;
  readonly change?: Change;
  readonly expected: readonly string[];
  readonly because: string;
};

const leaving: Change = ({ ecs, takenAt }) =>
  edit(ecs.protections.items, 0, {
    expirationDate: new Date(Date.parse(takenAt) + 23 * HOUR).toISOString(),
  });
const leasesUnread: Change = ({ ecs }) => Object.assign(ecs.protections, { status: 'failed', items: [] });
/** Gives the first daemon the name of its host. */
const named: Change = (snapshot) => {
  edit(organizationIn(snapshot).daemons.items, 0, { name: 'ip-10-0-1-17' });
  edit(snapshot.ecs.tasks.items, 0, {
    containers: [{ networkInterfaces: [{ privateIpv4Address: '10.0.1.17' }] }],
  });
};
const strangerNamed =
  (name: string): Change =>
  (snapshot) =>
    edit(organizationIn(snapshot).daemons.items, 0, { name });

const free: readonly Row[] = [
  {
    scenario: '1 pending, an idle daemon with a drain request',
    picture: { pools: { cpu: { tasks: 'I1m' } }, pending: [{}] },
    change: leaving,
    expected: ['cpu 1->2 pending-jobs'],
    because: 'it takes no job any more',
  },
  {
    scenario: '1 pending, a daemon with a drain request from before it registered',
    picture: { pools: { cpu: { tasks: 'R' } }, pending: [{}] },
    change: leaving,
    expected: ['cpu 1->2 pending-jobs'],
    because: 'it will take no job',
  },
  {
    scenario: '1 pending, B Z',
    picture: { pools: { cpu: { tasks: 'B Z' } }, pending: [{}] },
    expected: ['cpu 2->3 pending-jobs'],
    because: 'a task that lost its daemon holds a lease, so no job waits for it',
  },
  {
    scenario: '1 pending, U',
    picture: { pools: { cpu: { tasks: 'U1m' } }, pending: [{}] },
    expected: ['cpu 1->2 pending-jobs'],
    because: 'a daemon without a lease has most likely just left',
  },
  {
    scenario: '1 pending, I, leases unread',
    picture: { pools: { cpu: { tasks: 'I1m' } }, pending: [{}] },
    change: leasesUnread,
    expected: [],
    because: 'a lease that could not be read is no reason to launch',
  },
  {
    scenario: '1 pending, B, leases unread',
    picture: { pools: { cpu: { tasks: 'B' } }, pending: [{}] },
    change: leasesUnread,
    expected: ['cpu 1->2 pending-jobs'],
    because: 'a busy daemon is no supply, whatever its lease',
  },
];

describe('daemons of a pool', () => {
  it.each(free)('plans $expected for $scenario, because $because', ({ picture, change, expected }) => {
    expect(actionsOf(planOf(picture, change))).toEqual(expected);
  });

  it('offers the own tags of each daemon, even of two daemons with two wrong keys', () => {
    const picture: Picture = {
      pools: { cpu: { tasks: 'I1m I1m', tags: gpu, ageMinutes: 14 } },
      pending: [{ tags: { a: '1' } }, { tags: { b: '1' } }],
    };
    const { assignment } = planOf(picture, (snapshot) => {
      edit(organizationIn(snapshot).daemons.items, 0, { tags: { b: '1' } });
      edit(organizationIn(snapshot).daemons.items, 1, { tags: { a: '1' } });
    });
    expect(assignment.map(({ tags, served, jobs }) => [tags, served, jobs])).toEqual([
      [{ a: '1' }, 'by-free', 1],
      [{ b: '1' }, 'by-free', 1],
    ]);
  });
});

describe('daemons that the autoscaler does not own', () => {
  it.each<Row>([
    {
      scenario: '2 pending, our own daemon under its host name',
      picture: { pools: { cpu: { tasks: 'I1m' } }, pending: [{ jobs: 2 }] },
      change: named,
      expected: ['cpu 1->2 pending-jobs'],
      because: 'it is counted once',
    },
    {
      scenario: '1 pending, an idle daemon named as a pool of another fleet would name it',
      picture: {
        pools: { gpu: { tags: gpu } },
        pending: [{ tags: gpu, ageS: 10 }],
        strangers: [{ tags: gpu }],
      },
      change: strangerNamed(`fleet-${taskIdOf(7)}`),
      expected: [],
      because: 'it is supply',
    },
    {
      scenario: '1 pending, an idle daemon named after our pool, without a task',
      picture: { pools: { gpu: { tags: gpu } }, pending: [{ tags: gpu }], strangers: [{ tags: gpu }] },
      change: strangerNamed(`gpu-${taskIdOf(7)}`),
      expected: ['gpu 0->1 pending-jobs'],
      because: 'its task is gone, so it has gone too',
    },
    {
      scenario: '1 pending in another organization',
      picture: {
        pools: { cpu: { tasks: 'I1m' }, other: { organization: 'data' } },
        pending: [{ organization: 'data' }],
      },
      expected: ['other 0->1 pending-jobs'],
      because: 'daemons work for their own organization only',
    },
  ])('plans $expected for $scenario, because $because', ({ picture, change, expected }) => {
    expect(actionsOf(planOf(picture, change))).toEqual(expected);
  });

  it('counts a task once that is listed twice', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I1m' } }, pending: [{ jobs: 2 }] }, ({ ecs }) => {
      ecs.tasks.items.push({ ...ecs.tasks.items[0] });
    });
    expect(actionsOf(plan)).toEqual(['cpu 1->2 pending-jobs']);
  });

  it('does not count a daemon whose task is stopping, whatever its name', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I1m' } }, pending: [{}] }, (snapshot, config) => {
      named(snapshot, config);
      edit(snapshot.ecs.tasks.items, 0, { desiredStatus: 'STOPPED' });
      edit(snapshot.ecs.services.items, 0, { desiredCount: 0 });
    });
    expect(actionsOf(plan)).toEqual(['cpu 0->1 pending-jobs']);
  });

  it.each([
    { tasks: 'B', expected: ['cpu by-busy 2'], because: 'it runs the next when it is done' },
    { tasks: 'I1m', expected: ['cpu by-free 1', 'cpu by-busy 1'], because: 'it runs one now' },
    { tasks: 'L', expected: [], because: 'a draining daemon takes no other job' },
  ])(
    'assigns the jobs of a daemon with another key, $tasks: $expected, because $because',
    ({ tasks, expected }) => {
      const tpu = { cluster: 'tpu' };
      const plan = planOf({
        pools: { cpu: { tasks, tags: gpu, daemonTags: tpu, ageMinutes: 14 } },
        pending: [{ tags: tpu, jobs: 2 }],
      });
      expect(plan.assignment.map(({ pool, served, jobs }) => `${pool} ${served} ${jobs}`)).toEqual(expected);
      expect(plan.unserved.map(({ jobs }) => jobs)).toEqual(expected.length > 0 ? [] : [2]);
      expect(plan.actions).toEqual([]);
    },
  );

  it('assigns no job to an offline daemon with another key', () => {
    const tpu = { cluster: 'tpu' };
    const plan = planOf(
      {
        pools: { cpu: { tasks: 'I1m', tags: gpu, daemonTags: tpu, ageMinutes: 14 } },
        pending: [{ tags: tpu }],
      },
      (snapshot) => edit(organizationIn(snapshot).daemons.items, 0, { last_seen_at: null }),
    );
    expect(plan.unserved).toMatchObject([{ jobs: 1 }]);
  });

  it('lets a job wait for the only busy daemon with another key that can run it', () => {
    const plan = planOf({
      pools: { cpu: {} },
      pending: [{ tags: gpu }],
      strangers: [{ tags: gpu, busy: true }],
    });
    expect(plan.assignment).toMatchObject([{ pool: null, served: 'by-busy', jobs: 1 }]);
    expect([plan.unserved, plan.actions]).toEqual([[], []]);
  });
});

describe('warm', () => {
  it.each<Row>([
    {
      scenario: 'a free daemon of a wider pool',
      picture: { pools: { a: { tasks: 'I1m', tags: gpuEu }, b: { tags: gpu, warm: 1 } } },
      expected: ['b 0->1 floor'],
      because: 'warm daemons must be of the own pool',
    },
    {
      scenario: "a free daemon of another pool with this pool's key",
      picture: {
        pools: {
          a: { tasks: 'I1m', tags: gpuEu, daemonTags: gpu, ageMinutes: 14 },
          b: { tags: gpu, warm: 1 },
        },
      },
      expected: ['b 0->1 floor'],
      because: 'warm daemons must be of the own pool',
    },
    {
      scenario: 'a free daemon of its own with a wrong key',
      picture: { pools: { b: { tasks: 'I1m', tags: gpu, daemonTags: gpuEu, ageMinutes: 14, warm: 1 } } },
      expected: ['b 1->2 floor'],
      because: 'it would not be ready for the jobs of this pool',
    },
  ])('plans $expected for $scenario, because $because', ({ picture, expected }) => {
    expect(actionsOf(planOf(picture))).toEqual(expected);
  });

  it('reports warm neither in the assignment nor among the unserved jobs', () => {
    const plan = planOf({ pools: { a: { warm: 2 } } });
    expect([plan.assignment, plan.unserved]).toEqual([[], []]);
    const blind = planOf({ pools: { a: { warm: 2 } } }, ({ coder }) => {
      coder.organizations = [];
    });
    expect([blind.assignment, blind.unserved, blind.actions]).toEqual([[], [], []]);
  });
});

describe('room', () => {
  it.each<Row>([
    {
      scenario: 'min 1, max 2, 5 pending',
      picture: { pools: { cpu: { min: 1, max: 2 } }, pending: [{ jobs: 5 }] },
      expected: ['cpu 0->2 pending-jobs'],
      because: 'tasks of min count against max',
    },
    {
      scenario: 'min 1, 1 pending',
      picture: { pools: { cpu: { min: 1 } }, pending: [{}] },
      expected: ['cpu 0->1 pending-jobs'],
      because: 'a task of min takes a job like any other',
    },
    {
      scenario: 'maxTasks 3, 3 desired and none there, 2 pending elsewhere',
      picture: {
        pools: { cpu: { desired: 3, min: 3 }, gpu: { tags: gpu } },
        pending: [{ jobs: 2, tags: gpu }],
        maxTasks: 3,
      },
      expected: [],
      because: 'desired tasks count before they exist',
    },
    {
      scenario: 'maxTasks 3, a pool that has min 2, 3 pending elsewhere',
      picture: {
        pools: { a: { min: 2 }, gpu: { tags: gpu } },
        pending: [{ jobs: 3, tags: gpu }],
        maxTasks: 3,
      },
      expected: ['a 0->2 floor', 'gpu 0->1 pending-jobs'],
      because: 'the room of min is reserved first',
    },
    {
      scenario: 'maxTasks 2, a pool without a service that has min 2',
      picture: {
        pools: { a: { min: 2 }, gpu: { tags: gpu } },
        pending: [{ jobs: 2, tags: gpu }],
        maxTasks: 2,
      },
      change: ({ ecs }) => {
        ecs.services.items.shift();
      },
      expected: ['gpu 0->2 pending-jobs'],
      because: 'no room is reserved for tasks that cannot start',
    },
    {
      scenario: 'maxTasks 2, 1 works, two pools with failing starts',
      picture: {
        pools: { a: { tags: gpu }, b: { tags: { cluster: 'tpu' } }, c: { tasks: 'B' } },
        pending: [{ tags: gpu }, { tags: { cluster: 'tpu' } }],
        maxTasks: 2,
      },
      change: (snapshot) => {
        for (const pool of ['a', 'b']) addFailedStarts(snapshot, pool, 3);
      },
      expected: ['a 0->1 pending-jobs'],
      because: 'probes take room like any other task',
    },
    {
      scenario: 'maxTasks 2, a launch beside a pool with failing starts',
      picture: {
        pools: { a: { tags: gpu }, c: {} },
        pending: [{ tags: gpu }, { jobs: 2 }],
        maxTasks: 2,
      },
      change: (snapshot) => addFailedStarts(snapshot, 'a', 3),
      expected: ['c 0->2 pending-jobs'],
      because: 'a probe gets the room that launches leave',
    },
    {
      scenario: 'maxTasks 3, a pool with 3 unplaced tasks, with doubts',
      picture: {
        pools: { a: { tags: gpu, desired: 3 }, c: { organization: 'data' } },
        pending: [{ organization: 'data' }],
        maxTasks: 3,
      },
      change: (snapshot) => {
        addFailedStarts(snapshot, 'a', 3);
        organizationIn(snapshot).jobs.status = 'truncated';
      },
      expected: [],
      because: 'its count is held, and takes room until it is lowered',
    },
    {
      scenario: 'a task that never had a daemon, 2 pending',
      picture: { pools: { cpu: { tasks: 'B Z' } }, pending: [{ jobs: 2 }] },
      change: ({ ecs }) => edit(ecs.protections.items, 1, { protectionEnabled: false }),
      expected: ['cpu 2->1 tasks-left'],
      because: 'it stops before other tasks start',
    },
  ])('plans $expected for $scenario, because $because', ({ picture, change, expected }) => {
    expect(actionsOf(planOf(picture, change))).toEqual(expected);
  });
});

/** An offer written as `pool served places @price`. */
function offerOf(text: string): Offer {
  const [pool = '', served = '', places = '', price = '@0'] = text.split(' ');
  return {
    organizationId: 'org-default' as OrganizationId,
    pool: pool === 'theirs' ? null : poolName(pool),
    tags: normalizeTags(gpu),
    served: served as Served,
    places: places === 'all' ? Number.POSITIVE_INFINITY : Number(places),
    price: Number(price.slice(1)),
    bounds: { due: 0, prebuilds: 99, launchesStock: true, price: 0 },
  };
}

describe('offers that can all run a job', () => {
  it.each([
    {
      scenario: 'two launches at one price',
      offers: ['b by-launch 1 @7', 'a by-launch 1 @7'],
      expected: ['a by-launch 1'],
      because: 'the name decides, so that every look decides alike',
    },
    {
      scenario: 'room at two prices',
      offers: ['a when-there-is-room all @9', 'b when-there-is-room all @7'],
      expected: ['b when-there-is-room 1'],
      because: 'the job waits for the cheaper one',
    },
    {
      scenario: 'room beside a busy daemon outside the autoscaler',
      offers: ['theirs by-busy all', 'a when-there-is-room all @9'],
      expected: ['a when-there-is-room 1'],
      because: 'the autoscaler can make room',
    },
    {
      scenario: 'a busy daemon outside the autoscaler, and an own one with another key',
      offers: ['a by-busy all', 'theirs by-busy all'],
      expected: ['null by-busy 1'],
      because: 'the own daemon has the wrong key',
    },
    {
      scenario: 'a starting task of an expensive pool beside a cheap launch',
      offers: ['a by-launch 1 @1', 'b by-starting 1'],
      expected: ['b by-starting 1'],
      because: 'a starting task has no further cost',
    },
    {
      scenario: 'a free daemon, a starting one, and a launch that comes in any case',
      offers: ['a by-launch 1', 'a by-starting 1', 'b by-free 1'],
      expected: ['b by-free 1'],
      because: 'the free one is ready now',
    },
  ])('plans $expected for $scenario, because $because', ({ offers, expected }) => {
    const groups = deriveDemand(
      aSnapshot({ organizations: [anOrganization({ jobs: reading([aJob({ tags: gpu })]) })] }),
    );
    const { assigned } = assign(groups, offers.map(offerOf), 10);
    expect(assigned.map(({ offer, jobs }) => `${offer.pool} ${offer.served} ${jobs}`)).toEqual(expected);
  });

  it('gives earlier groups the offers of a pool that are ready sooner', () => {
    const jobs = [
      aJob({ id: jobId('a'), tags: gpu, created_at: ago(9 * SECOND) }),
      aJob({ id: jobId('b'), tags: gpu, initiator_id: 'c42fdf75-3097-471c-8c33-fb52454d81c0' }),
    ];
    const groups = deriveDemand(aSnapshot({ organizations: [anOrganization({ jobs: reading(jobs) })] }));
    const offers = ['a by-launch 1', 'a by-free 1'].map(offerOf);
    const { assigned } = assign(groups, offers, 10);
    expect(assigned.map(({ group, offer }) => `${group.for} ${offer.served}`)).toEqual([
      'people by-free',
      'prebuilds by-launch',
    ]);
  });
});

describe('readings that are not available', () => {
  it.each<Row>([
    {
      scenario: 'tasks cut off after the first of B B I',
      picture: { pools: { cpu: { tasks: 'B B I1m' } }, pending: [{}] },
      change: ({ ecs }) => {
        ecs.tasks.status = 'truncated';
        ecs.tasks.items.splice(1);
      },
      expected: [],
      because: 'of the two missing ones, one is busy and one may be free',
    },
    {
      scenario: 'tasks unread, two busy daemons, 2 pending, maxTasks 3',
      picture: { pools: { cpu: { tasks: 'B B' } }, pending: [{ jobs: 2 }], maxTasks: 3 },
      change: ({ ecs }) => Object.assign(ecs.tasks, { status: 'failed', items: [] }),
      expected: ['cpu 2->3 pending-jobs'],
      because: 'tasks that are known only by their daemons count too',
    },
    {
      scenario: 'tasks stale, a busy daemon without a task',
      picture: { pools: { cpu: { tasks: 'B' } } },
      change: (snapshot) => {
        snapshot.ecs.tasks.status = 'stale';
        const { daemons } = organizationIn(snapshot);
        daemons.items.push({ ...daemons.items[0], id: 'gone', name: `cpu-${idOf('gone')}`, status: 'busy' });
      },
      expected: [],
      because: 'ECS counts no more tasks than it lists',
    },
    {
      scenario: 'tasks ok, a busy daemon without a task, and an older count',
      picture: { pools: { cpu: { tasks: 'B' } } },
      change: (snapshot) => {
        const { daemons } = organizationIn(snapshot);
        daemons.items.push({ ...daemons.items[0], id: 'gone', name: `cpu-${idOf('gone')}`, status: 'busy' });
        edit(snapshot.ecs.services.items, 0, { runningCount: 2 });
      },
      expected: [],
      because: 'a complete list is trusted',
    },
    {
      scenario: 'tasks and organization unread',
      picture: { pools: { cpu: { tasks: 'B' } } },
      change: (snapshot) => {
        Object.assign(snapshot.ecs.tasks, { status: 'failed', items: [] });
        snapshot.coder.organizations = [];
      },
      expected: [],
      because: 'without readings the autoscaler does nothing',
    },
  ])('plans $expected for $scenario, because $because', ({ picture, change, expected }) => {
    expect(actionsOf(planOf(picture, change))).toEqual(expected);
  });
});
