/** The doubts of a pool: each with the finding that reports it, and its limits. */
import { describe, expect, it } from 'vitest';
import { SECOND_MS as SECOND } from '../../../lambda/decision/model/units.ts';
import { NOW, taskIdOf } from '../../support/parts.ts';
import { type Drawn, idOf, type Picture } from '../../support/picture.ts';
import { actionsOf, type Change, edit, organizationIn, planOf } from '../../support/planned.ts';

const later = (ms: number): string => new Date(NOW + ms).toISOString();

type Row = {
  readonly scenario: string;
  readonly picture?: Picture;
  readonly change: Change;
  /** The findings. Empty: no doubt, so the idle task drains. */
  readonly expected: readonly object[];
  readonly because: string;
};

/** A task that can drain, beside others. */
const one: Picture = { pools: { cpu: { tasks: 'I20m' } } };

const daemonsOf = (snapshot: Drawn['snapshot']) => organizationIn(snapshot).daemons;
const jobsOf = (snapshot: Drawn['snapshot']) => organizationIn(snapshot).jobs;

const running = (id: string, fields: object) => ({
  id,
  created_at: later(-60 * SECOND),
  status: 'running',
  organization_id: 'org-default',
  tags: {},
  type: 'workspace_build',
  ...fields,
});

const readings: readonly Row[] = [
  ...(['services', 'tasks', 'protections'] as const).map(
    (name): Row => ({
      scenario: `${name} truncated`,
      change: ({ ecs }) => Object.assign(ecs[name], { status: 'truncated', error: 'seen' }),
      expected: [{ code: `${name}-truncated`, error: 'seen' }],
      because: 'there is more than was seen',
    }),
  ),
  {
    scenario: 'jobs stale',
    change: (s) => Object.assign(jobsOf(s), { status: 'stale', error: 'seen' }),
    expected: [{ code: 'jobs-stale', organization: 'default', error: 'seen' }],
    because: 'an earlier look is not this one',
  },
  {
    scenario: 'as many daemons as the limit',
    change: (s) => Object.assign(daemonsOf(s), { limit: 1 }),
    expected: [{ code: 'daemons-truncated', organization: 'default', error: undefined }],
    because: 'a full list counts as truncated',
  },
  {
    scenario: 'fewer daemons than the limit',
    change: (s) => Object.assign(daemonsOf(s), { limit: 2 }),
    expected: [],
    because: 'there is room for more',
  },
  {
    scenario: 'more daemons than the limit, stale',
    change: (s) => Object.assign(daemonsOf(s), { status: 'stale', limit: 1 }),
    expected: [{ code: 'daemons-stale', organization: 'default', error: undefined }],
    because: 'the own status of the list is worse',
  },
];

const emptiness: readonly Row[] = [
  {
    scenario: 'no daemons beside a lease',
    change: (s) => Object.assign(daemonsOf(s), { items: [] }),
    expected: [{ code: 'daemons-empty-while-leased', organization: 'default', tasks: 1 }],
    because: 'a leased task has a daemon',
  },
  {
    scenario: 'no daemons beside one that leaves',
    picture: { pools: { cpu: { tasks: 'L X' } } },
    change: (s) => {
      Object.assign(daemonsOf(s), { items: [] });
      Object.assign(jobsOf(s), { items: [] });
    },
    expected: [{ code: 'daemons-empty-while-leased', organization: 'default', tasks: 1 }],
    because: 'a draining task holds a lease too',
  },
  {
    scenario: 'daemons that could not be read beside a lease',
    change: (s) => Object.assign(daemonsOf(s), { status: 'failed', error: 'seen', items: [] }),
    expected: [{ code: 'daemons-failed', organization: 'default', error: 'seen' }],
    because: 'an unavailable list contradicts nothing',
  },
  {
    scenario: 'jobs that could not be read beside a busy daemon',
    picture: { pools: { cpu: { tasks: 'I20m B' } } },
    change: (s) => Object.assign(jobsOf(s), { status: 'failed', error: 'seen', items: [] }),
    expected: [{ code: 'jobs-failed', organization: 'default', error: 'seen' }],
    because: 'an unavailable list contradicts nothing',
  },
  {
    scenario: 'no daemons beside tasks that start',
    picture: { pools: { cpu: { tasks: 'P N' } } },
    change: () => {},
    expected: [],
    because: 'they have none yet',
  },
  {
    scenario: 'no job beside a busy daemon',
    picture: { pools: { cpu: { tasks: 'I20m B' } } },
    change: (s) => Object.assign(jobsOf(s), { items: [] }),
    expected: [{ code: 'jobs-empty-while-busy', organization: 'default', daemons: 1 }],
    because: 'its job is somewhere',
  },
  {
    scenario: 'no job beside a daemon whose job is being cancelled',
    picture: { pools: { cpu: { tasks: 'I20m B' } } },
    change: (s) => {
      Object.assign(jobsOf(s), { items: [] });
      edit(daemonsOf(s).items, 1, { current_job: { id: 'running-cpu-1', status: 'canceling' } });
    },
    expected: [],
    because: 'it is neither pending nor running',
  },
  {
    scenario: 'no job beside a busy daemon that is long gone',
    picture: { pools: { cpu: { tasks: 'I20m B' } } },
    change: (s) => {
      Object.assign(jobsOf(s), { items: [] });
      edit(daemonsOf(s).items, 1, { last_seen_at: later(-91 * SECOND) });
    },
    expected: [],
    because: 'the row of an offline daemon proves nothing',
  },
];

const workers: readonly Row[] = [
  {
    scenario: 'a running job of an unknown daemon',
    change: (s) => jobsOf(s).items.push(running('a', { worker_id: 'x' }), running('b', { worker_id: 'y' })),
    expected: [
      { code: 'worker-unknown', organization: 'default', jobs: 2, jobIds: ['a', 'b'], pools: ['cpu'] },
    ],
    because: 'a key was deleted, and its daemons run on',
  },
  {
    scenario: 'many of them',
    change: (s) => {
      for (let index = 20; index > 8; index--)
        jobsOf(s).items.push(running(`job-${index}`, { worker_id: 'x' }));
    },
    expected: [
      {
        code: 'worker-unknown',
        organization: 'default',
        jobs: 12,
        jobIds: ['job-10', ...[11, 12, 13, 14, 15, 16, 17, 18, 19].map((index) => `job-${index}`)],
        pools: ['cpu'],
      },
    ],
    because: 'ten ids are enough to find them by',
  },
  {
    scenario: 'a running job of a daemon in the list',
    picture: { pools: { cpu: { tasks: 'I20m B' } } },
    change: () => {},
    expected: [],
    because: 'its worker is known',
  },
  {
    scenario: 'a completed job of an unknown daemon',
    change: (s) => jobsOf(s).items.push(running('a', { worker_id: 'x', completed_at: later(0) })),
    expected: [],
    because: 'it keeps no daemon busy any more',
  },
  {
    scenario: 'a running job of an unknown daemon in a truncated list',
    change: (s) => {
      jobsOf(s).items.push(running('a', { worker_id: 'x' }));
      Object.assign(daemonsOf(s), { status: 'truncated' });
    },
    expected: [{ code: 'daemons-truncated', organization: 'default', error: undefined }],
    because: 'its worker may be among those that are missing',
  },
];

/** Jobs of unlisted workers, which started this many seconds ago. */
const startedBy =
  (...seconds: readonly number[]): Change =>
  (s) =>
    seconds.forEach((ago, index) => {
      const fields = { worker_id: `new-${index}`, started_at: later(-ago * SECOND) };
      jobsOf(s).items.push(running(`a${index}`, fields));
    });
const unknownTo = (...jobIds: readonly string[]) => [
  { code: 'worker-unknown', organization: 'default', jobs: jobIds.length, jobIds, pools: ['cpu'] },
];
const oneIsComing: Picture = { pools: { cpu: { tasks: 'I20m R' } } };

const newWorkers: readonly Row[] = [
  {
    scenario: 'a job of an unknown daemon that has just started, and a task whose daemon is expected',
    picture: oneIsComing,
    change: startedBy(9),
    expected: [],
    because: 'it came after the daemons were read',
  },
  {
    scenario: 'the same, started 10 s ago',
    picture: oneIsComing,
    change: startedBy(10),
    expected: unknownTo('a0'),
    because: 'the readings are not so far apart',
  },
  {
    scenario: 'the same, in a pool without guards',
    picture: oneIsComing,
    change: (s, config) => {
      edit((config as { pools: object[] }).pools, 0, { scaleIn: 'confirm' });
      startedBy(9)(s, config);
    },
    expected: unknownTo('a0'),
    because: 'a build could be lost there if that were wrong',
  },
  {
    scenario: 'two of them, and one task whose daemon is expected',
    picture: oneIsComing,
    change: startedBy(1, 1),
    expected: unknownTo('a0', 'a1'),
    because: 'it is unknown which of them is new',
  },
  {
    scenario: 'one that has just started, and a task that does not run yet',
    picture: { pools: { cpu: { tasks: 'I20m P' } } },
    change: startedBy(1),
    expected: unknownTo('a0'),
    because: 'its daemon cannot be registered yet',
  },
  {
    scenario: 'one that has just started, one that has not, and two tasks whose daemons are expected',
    picture: { pools: { cpu: { tasks: 'I20m R R' } } },
    change: startedBy(1, 60),
    expected: unknownTo('a0', 'a1'),
    because: 'the other one has been running on',
  },
];

const twin = (s: Drawn['snapshot'], name: string, id = 'twin'): void => {
  daemonsOf(s).items.push({ ...daemonsOf(s).items[0], id, name });
};
const nameOf = (s: Drawn['snapshot']): string => String(daemonsOf(s).items[0]?.name);

/** Gives the first task an address, and takes off its protection, so that it may have no guard. */
const bare = ({ ecs }: Drawn['snapshot']): void => {
  const container = { networkInterfaces: [{ privateIpv4Address: '10.0.1.17' }] };
  edit(ecs.tasks.items, 0, { containers: [container] });
  edit(ecs.protections.items, 0, { protectionEnabled: false, expirationDate: undefined });
};

const sharing = (...daemons: readonly string[]) => ({
  code: 'daemons-share-task',
  pool: 'cpu',
  tasks: 1,
  daemons,
});

const names: readonly Row[] = [
  {
    scenario: 'daemons with one name, of tasks that no pool has',
    change: (s) => {
      for (const id of ['a', 'b']) twin(s, `fleet-${taskIdOf(9)}`, id);
    },
    expected: [],
    because: 'names must be unique only for daemons of tasks',
  },
  {
    scenario: 'the daemon of a task twice',
    change: (s) => twin(s, nameOf(s)),
    expected: [sharing(`cpu-${idOf('cpu', 0)}`)],
    because: 'one of them may be busy',
  },
  {
    scenario: 'a daemon named after a task and one named after its address',
    change: (s) => {
      bare(s);
      twin(s, 'ip-10-0-1-17');
    },
    expected: [sharing(`cpu-${idOf('cpu', 0)}`, 'ip-10-0-1-17')],
    because: 'a task without a lease may have either',
  },
];

const differ = (where: string, seconds: number, organization?: string) => ({
  code: 'clocks-differ',
  where,
  ...(organization === undefined ? {} : { organization }),
  seconds,
});

const clocks: readonly Row[] = [
  {
    scenario: 'a job of the next minute',
    change: (s) => jobsOf(s).items.push(running('a', { status: 'waiting', created_at: later(60 * SECOND) })),
    expected: [],
    because: 'clocks may be a minute apart',
  },
  {
    scenario: 'a job of a later minute',
    change: (s) => jobsOf(s).items.push(running('a', { status: 'waiting', created_at: later(61 * SECOND) })),
    expected: [differ('jobs', 61, 'default')],
    because: 'leases are compared by these clocks',
  },
  {
    scenario: 'the latest of three',
    change: (s) =>
      jobsOf(s).items.push(
        ...[70, 90, 80].map((seconds) =>
          running(`${seconds}`, { status: 'waiting', created_at: later(seconds * SECOND) }),
        ),
      ),
    expected: [differ('jobs', 90, 'default')],
    because: 'the furthest counts',
  },
  {
    scenario: 'a daemon seen in the future',
    change: (s) => edit(daemonsOf(s).items, 0, { last_seen_at: later(120 * SECOND) }),
    expected: [differ('daemons', 120, 'default')],
    because: 'it would seem alive for longer than it is',
  },
  {
    scenario: 'a daemon made in the future and never seen',
    change: (s) => edit(daemonsOf(s).items, 0, { last_seen_at: null, created_at: later(120 * SECOND) }),
    expected: [differ('daemons', 120, 'default')],
    because: 'its clock is still wrong',
  },
  {
    scenario: 'a task that starts in the future',
    change: ({ ecs }) => edit(ecs.tasks.items, 0, { startedAt: later(120 * SECOND) }),
    expected: [differ('tasks', 120)],
    because: 'it would seem to boot for longer than it does',
  },
  {
    scenario: 'a task made in the future',
    picture: { pools: { cpu: { tasks: 'I20m P' } } },
    change: ({ ecs }) => edit(ecs.tasks.items, 1, { createdAt: later(120 * SECOND) }),
    expected: [differ('tasks', 120)],
    because: 'if it has not started, its creation counts',
  },
  {
    scenario: 'a task without any time',
    picture: { pools: { cpu: { tasks: 'I20m P' } } },
    change: ({ ecs }) => edit(ecs.tasks.items, 1, { createdAt: undefined }),
    expected: [],
    because: 'a missing time cannot be wrong',
  },
  {
    scenario: 'readings within a minute',
    change: (s) => Object.assign(jobsOf(s), { takenAt: later(-60 * SECOND) }),
    expected: [],
    because: 'a look takes its time',
  },
  {
    scenario: 'a reading of two minutes before',
    change: (s) => Object.assign(jobsOf(s), { takenAt: later(-120 * SECOND) }),
    expected: [differ('readings', 120, 'default')],
    because: 'readings of one look are made at once',
  },
  {
    scenario: 'a reading of two minutes after',
    change: (s) => Object.assign(daemonsOf(s), { takenAt: later(120 * SECOND) }),
    expected: [differ('readings', 120, 'default')],
    because: 'readings of one look are made at once',
  },
  {
    scenario: 'a list of workspaces from two minutes later',
    change: (s) =>
      Object.assign(organizationIn(s), {
        workspaces: { status: 'ok', takenAt: later(120 * SECOND), items: [] },
      }),
    expected: [differ('readings', 120, 'default')],
    because: 'due times are compared with the clock of this look',
  },
  {
    scenario: 'a list of templates of five minutes before',
    change: (s) =>
      Object.assign(organizationIn(s), {
        templates: { status: 'ok', takenAt: later(-300 * SECOND), items: [] },
      }),
    expected: [],
    because: 'the forecast is not read in each look',
  },
  {
    scenario: 'readings on either side',
    change: (s) => {
      Object.assign(jobsOf(s), { takenAt: later(-40 * SECOND) });
      Object.assign(organizationIn(s).previousJobs, { takenAt: later(50 * SECOND) });
    },
    expected: [differ('readings', 90, 'default')],
    because: 'they are apart from each other',
  },
  {
    scenario: 'a stale reading of an hour before',
    change: (s) => Object.assign(jobsOf(s), { status: 'stale', takenAt: later(-3600 * SECOND) }),
    expected: [{ code: 'jobs-stale', organization: 'default', error: undefined }],
    because: 'stale readings are old',
  },
];

const counts: readonly Row[] = [
  {
    scenario: 'more running than listed',
    change: ({ ecs }) => edit(ecs.services.items, 0, { runningCount: 2 }),
    expected: [{ code: 'tasks-fewer-than-counted', pool: 'cpu', counted: 2, seen: 1 }],
    because: 'the list is older than the count, or not whole',
  },
  {
    scenario: 'more pending than listed',
    change: ({ ecs }) => edit(ecs.services.items, 0, { pendingCount: 2 }),
    expected: [{ code: 'tasks-fewer-than-counted', pool: 'cpu', counted: 3, seen: 1 }],
    because: 'those that start count too',
  },
  {
    scenario: 'as many, one of them on its way out',
    picture: { pools: { cpu: { tasks: 'I20m X' } } },
    change: ({ ecs }) => {
      edit(ecs.tasks.items, 1, { desiredStatus: 'STOPPED', lastStatus: 'DEACTIVATING' });
      edit(ecs.services.items, 0, { desiredCount: 1 });
    },
    expected: [],
    because: 'it is counted until it has stopped',
  },
  {
    scenario: 'as many, one of them stopped',
    picture: { pools: { cpu: { tasks: 'I20m X' } } },
    change: ({ ecs }) => {
      edit(ecs.tasks.items, 1, { desiredStatus: 'STOPPED', lastStatus: 'STOPPED' });
      edit(ecs.services.items, 0, { desiredCount: 1 });
    },
    expected: [{ code: 'tasks-fewer-than-counted', pool: 'cpu', counted: 2, seen: 1 }],
    because: 'a stopped task is not one that ECS counts',
  },
];

describe.each([
  { name: 'readings', rows: readings },
  { name: 'empty answers', rows: emptiness },
  { name: 'workers', rows: workers },
  { name: 'new workers', rows: newWorkers },
  { name: 'names', rows: names },
  { name: 'clocks', rows: clocks },
  { name: 'counts', rows: counts },
])('$name', ({ rows }) => {
  it.each(rows)(
    'has the right doubts with $scenario, because $because',
    ({ picture = one, change, expected }) => {
      const plan = planOf(picture, change);
      // some of these cases end with a lease without a daemon, which is no doubt
      const doubts = plan.findings.filter(
        ({ code }) => code !== 'tasks-without-daemon' && code !== 'tasks-vacant',
      );
      expect(doubts).toMatchObject(expected);
      expect(doubts).toHaveLength(expected.length);
      const couldAsk = actionsOf(planOf(picture)).some((action) => action.startsWith('ask'));
      if (couldAsk) expect(actionsOf(plan)).toEqual(expected.length > 0 ? [] : ['ask cpu#0']);
    },
  );
});

describe('unknown organizations', () => {
  const gone: Change = ({ coder }) => {
    coder.organizations = [];
  };

  it('are reported once each, in order of name, and hold their pools', () => {
    const x = (index: number) => ({ [`t${index}`]: '1' });
    const plan = planOf(
      {
        pools: {
          a: { organization: 'z', tasks: 'X' },
          b: { organization: 'y', tags: x(1) },
          c: { organization: 'z', tags: x(2) },
        },
      },
      gone,
    );
    expect(plan.findings).toEqual([
      { code: 'organization-unknown', organization: 'y' },
      { code: 'organization-unknown', organization: 'z' },
    ]);
    expect(plan.pools[0]?.why).toEqual([{ code: 'holding-for-doubt', doubts: ['organization-unknown'] }]);
  });

  it('are reported in order of name, and hold only their own pools', () => {
    const plan = planOf(
      { pools: { a: { tasks: 'I20m', organization: 'z' }, b: { tasks: 'I20m', organization: 'y' } } },
      ({ coder }) => {
        for (const organization of coder.organizations) organization.jobs.status = 'truncated';
      },
    );
    expect(plan.findings.map((found) => 'organization' in found && found.organization)).toEqual(['y', 'z']);
    const half = planOf(
      { pools: { a: { tasks: 'I20m', organization: 'z' }, b: { tasks: 'I20m', organization: 'y' } } },
      (snapshot) => {
        organizationIn(snapshot).jobs.status = 'truncated';
      },
    );
    expect(actionsOf(half)).toEqual(['ask b#0']);
  });
});

it('gives each doubt of a pool once', () => {
  const plan = planOf(one, (snapshot) => {
    for (const id of ['a', 'b'])
      jobsOf(snapshot).items.push(running(id, { status: 'x', created_at: later(99 * SECOND) }));
    edit(daemonsOf(snapshot).items, 0, { last_seen_at: later(99 * SECOND) });
  });
  expect(plan.pools[0]?.why).toEqual([{ code: 'holding-for-doubt', doubts: ['clocks-differ'] }]);
});

it('holds only the pool whose daemons share a task', () => {
  const tags = { cluster: 'gpu' };
  const plan = planOf({ pools: { cpu: { tasks: 'I20m' }, gpu: { tasks: 'I20m', tags } } }, (snapshot) => {
    const { items } = daemonsOf(snapshot);
    items.push({ ...items[1], id: 'twin' });
  });
  expect(plan.findings).toMatchObject([{ code: 'daemons-share-task', pool: 'gpu' }]);
  expect(actionsOf(plan)).toEqual(['ask cpu#0']);
});
