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
  inWords,
  organizationIn,
  planOf,
} from '../../support/planned.ts';
import { table } from '../../support/table.ts';

const gpu = { cluster: 'gpu' };

type Row = {
  readonly world: string;
  readonly change?: Change;
  readonly expected: string;
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

const withoutFirstService: Change = ({ ecs }) => {
  ecs.services.items.shift();
};
const failing =
  (...pools: readonly string[]): Change =>
  (snapshot) => {
    for (const pool of pools) addFailedStarts(snapshot, pool, 3);
  };
const failingInDoubt: Change = (snapshot) => {
  addFailedStarts(snapshot, 'a', 3);
  organizationIn(snapshot).jobs.status = 'truncated';
};
const secondUnprotected: Change = ({ ecs }) => edit(ecs.protections.items, 1, { protectionEnabled: false });
const tasksCutOff: Change = ({ ecs }) => {
  ecs.tasks.status = 'truncated';
  ecs.tasks.items.splice(1);
};
const tasksUnread: Change = ({ ecs }) => Object.assign(ecs.tasks, { status: 'failed', items: [] });
const addBusyDaemonWithoutTask: Change = (snapshot) => {
  const { daemons } = organizationIn(snapshot);
  daemons.items.push({ ...daemons.items[0], id: 'gone', name: `cpu-${idOf('gone')}`, status: 'busy' });
};
const staleWithBusyDaemon: Change = (snapshot, config) => {
  snapshot.ecs.tasks.status = 'stale';
  addBusyDaemonWithoutTask(snapshot, config);
};
const countedWithBusyDaemon: Change = (snapshot, config) => {
  addBusyDaemonWithoutTask(snapshot, config);
  edit(snapshot.ecs.services.items, 0, { runningCount: 2 });
};
const allUnread: Change = (snapshot, config) => {
  tasksUnread(snapshot, config);
  snapshot.coder.organizations = [];
};

const free = table<Row>`
  world        | change          | expected              | because
  cpu I1m; job | ${leaving}      | cpu 1->2 pending-jobs | it takes no job any more
  cpu R; job   | ${leaving}      | cpu 1->2 pending-jobs | it will take no job
  cpu B Z; job |                 | cpu 2->3 pending-jobs | a task that lost its daemon holds a lease, so no job waits for it
  cpu U1m; job |                 | cpu 1->2 pending-jobs | a daemon without a lease has most likely just left
  cpu I1m; job | ${leasesUnread} | nothing               | a lease that could not be read is no reason to launch
  cpu B; job   | ${leasesUnread} | cpu 1->2 pending-jobs | a busy daemon is no supply, whatever its lease
`;

describe('daemons of a pool', () => {
  it.each(free)('plans $expected for $world, because $because', ({ world, change, expected }) => {
    expect(inWords(actionsOf(planOf(world, change)))).toBe(expected);
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
  it.each(table<Row>`
    world                                    | change                                 | expected              | because
    cpu I1m; 2 jobs                          | ${named}                               | cpu 1->2 pending-jobs | it is counted once
    gpu [gpu]; job 10s [gpu]; stranger [gpu] | ${strangerNamed(`fleet-${taskIdOf(7)}`)} | nothing               | it is supply
    gpu [gpu]; job [gpu]; stranger [gpu]     | ${strangerNamed(`gpu-${taskIdOf(7)}`)} | gpu 0->1 pending-jobs | its task is gone, so it has gone too
    cpu I1m; other, organization data; job of data |                                        | other 0->1 pending-jobs | daemons work for their own organization only
  `)('plans $expected for $world, because $because', ({ world, change, expected }) => {
    expect(inWords(actionsOf(planOf(world, change)))).toBe(expected);
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
  it.each(table<Row>`
    world                                                         | expected     | because
    a I1m [gpu eu]; b [gpu], warm 1                               | b 0->1 floor | warm daemons must be of the own pool
    a I1m [gpu eu], ageMinutes 14, daemons [gpu]; b [gpu], warm 1 | b 0->1 floor | warm daemons must be of the own pool
    b I1m [gpu], ageMinutes 14, warm 1, daemons [gpu eu]          | b 1->2 floor | it would not be ready for the jobs of this pool
  `)('plans $expected for $world, because $because', ({ world, expected }) => {
    expect(inWords(actionsOf(planOf(world)))).toBe(expected);
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
  it.each(table<Row>`
    world                                                      | change               | expected              | because
    cpu, min 1, max 2; 5 jobs                                  |                      | cpu 0->2 pending-jobs | tasks of min count against max
    cpu, min 1; job                                            |                      | cpu 0->1 pending-jobs | a task of min takes a job like any other
    cpu, desired 3, min 3; gpu [gpu]; 2 jobs [gpu]; maxTasks 3 |                      | nothing               | desired tasks count before they exist
    a, min 2; gpu [gpu]; 3 jobs [gpu]; maxTasks 3              |                      | a 0->2 floor, gpu 0->1 pending-jobs | the room of min is reserved first
    a, min 2; gpu [gpu]; 2 jobs [gpu]; maxTasks 2              | ${withoutFirstService} | gpu 0->2 pending-jobs | no room is reserved for tasks that cannot start
    a [gpu]; b [tpu]; c B; job [gpu]; job [tpu]; maxTasks 2    | ${failing('a', 'b')} | a 0->1 pending-jobs   | probes take room like any other task
    a [gpu]; c; job [gpu]; 2 jobs; maxTasks 2                  | ${failing('a')}      | c 0->2 pending-jobs   | a probe gets the room that launches leave
    a [gpu], desired 3; c, organization data; job of data; maxTasks 3 | ${failingInDoubt}    | nothing               | its count is held, and takes room until it is lowered
    cpu B Z; 2 jobs                                            | ${secondUnprotected} | cpu 2->1 tasks-left   | it stops before other tasks start
  `)('plans $expected for $world, because $because', ({ world, change, expected }) => {
    expect(inWords(actionsOf(planOf(world, change)))).toBe(expected);
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
  it.each(table<{ offers: string; expected: string; because: string }>`
    offers                                                   | expected               | because
    b by-launch 1 @7, a by-launch 1 @7                       | a by-launch 1          | the name decides, so that every look decides alike
    a when-there-is-room all @9, b when-there-is-room all @7 | b when-there-is-room 1 | the job waits for the cheaper one
    theirs by-busy all, a when-there-is-room all @9          | a when-there-is-room 1 | the autoscaler can make room
    a by-busy all, theirs by-busy all                        | null by-busy 1         | the own daemon has the wrong key
    a by-launch 1 @1, b by-starting 1                        | b by-starting 1        | a starting task has no further cost
    a by-launch 1, a by-starting 1, b by-free 1              | b by-free 1            | the free one is ready now
  `)('assigns to $expected with $offers, because $because', ({ offers, expected }) => {
    const groups = deriveDemand(
      aSnapshot({ organizations: [anOrganization({ jobs: reading([aJob({ tags: gpu })]) })] }),
    );
    const { assigned } = assign(groups, offers.split(', ').map(offerOf), 10);
    expect(inWords(assigned.map(({ offer, jobs }) => `${offer.pool} ${offer.served} ${jobs}`))).toBe(
      expected,
    );
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
  it.each(table<Row>`
    world                       | change                   | expected              | because
    cpu B B I1m; job            | ${tasksCutOff}           | nothing               | of the two missing ones, one is busy and one may be free
    cpu B B; 2 jobs; maxTasks 3 | ${tasksUnread}           | cpu 2->3 pending-jobs | tasks that are known only by their daemons count too
    cpu B                       | ${staleWithBusyDaemon}   | nothing               | ECS counts no more tasks than it lists
    cpu B                       | ${countedWithBusyDaemon} | nothing               | a complete list is trusted
    cpu B                       | ${allUnread}             | nothing               | without readings the autoscaler does nothing
  `)('plans $expected for $world, because $because', ({ world, change, expected }) => {
    expect(inWords(actionsOf(planOf(world, change)))).toBe(expected);
  });
});
