/** The stock: which idle daemons stay, which drain, and what the stock must never cause. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { ReadingStatus } from '../../../lambda/decision/model/snapshot.ts';
import {
  ago,
  aJob,
  aTemplate,
  aWorkspace,
  HOUR,
  jobId,
  MINUTE,
  reading,
  SECOND,
} from '../../support/parts.ts';
import {
  comingEvery,
  deliberateOn,
  doneBy,
  PREBUILDS_USER,
  type Stocked,
  stocked,
} from '../../support/stocked.ts';

const gpu = { cluster: 'gpu' };
const builds = comingEvery({ everyMinutes: 3, forHours: 48 });
/** Two daemons are worth their price. */
const often = { recent: builds, rule: { free: 2, spareMs: 5 * MINUTE } };
/** No daemon is worth its price, and an idle one only for a short time. */
const rarely = { recent: builds, rule: { free: 0, spareMs: MINUTE } };
const cold = { recent: [], isCold: true };
const jobs = (count: number, given: object = {}) =>
  Array.from({ length: count }, (_, index) => aJob({ created_at: ago((index + 1) * SECOND), ...given }));
const codesOf = (world: Stocked, name = 'cpu'): readonly string[] =>
  deliberateOn(world)
    .plan.pools.find((pool) => pool.name === name)
    ?.why.map(({ code }) => code) ?? [];

const withDesired =
  (desiredCount: number): NonNullable<Stocked['change']> =>
  (snapshot) => ({
    ...snapshot,
    ecs: {
      ...snapshot.ecs,
      services: {
        ...snapshot.ecs.services,
        items: snapshot.ecs.services.items.map((service) => ({ ...service, desiredCount })),
      },
    },
  });

/** The lease of the first task ends in this many hours. Below 24 h it has a drain request. */
const withLease =
  (hours: number): NonNullable<Stocked['change']> =>
  (snapshot) => {
    const { protections } = snapshot.ecs;
    const items = protections.items.map((item, index) =>
      index === 0 ? { ...item, expirationDate: ago(-hours * HOUR) } : item,
    );
    return { ...snapshot, ecs: { ...snapshot.ecs, protections: { ...protections, items } } };
  };

/** The first task of a pool has no lease. */
const withoutLease =
  (pool: string): NonNullable<Stocked['change']> =>
  (snapshot) => {
    const { protections, tasks } = snapshot.ecs;
    const taskArn = tasks.items.find(({ group }) => group?.includes(pool))?.taskArn;
    const items = protections.items.map((item) =>
      item.taskArn === taskArn ? { ...item, protectionEnabled: false, expirationDate: undefined } : item,
    );
    return { ...snapshot, ecs: { ...snapshot.ecs, protections: { ...protections, items } } };
  };

describe('an idle daemon of the stock', () => {
  it('stays while builds come often', () => {
    expect(doneBy({ ...often, pools: { cpu: { idle: [HOUR] } } })).not.toContain('ask cpu');
    expect(codesOf({ ...often, pools: { cpu: { idle: [HOUR] } } })).toContain('stock');
  });

  it('drains when it is no longer worth keeping', () => {
    expect(doneBy({ ...rarely, pools: { cpu: { idle: [MINUTE] } } })).toEqual(['ask cpu']);
    expect(doneBy({ ...rarely, pools: { cpu: { idle: [MINUTE - 1] } } })).toEqual([]);
  });

  it('drains without a record', () => {
    expect(doneBy({ pools: { cpu: { idle: [MINUTE] } } })).toEqual(['ask cpu']);
  });

  it('stays for five minutes when nothing was learned of the builds', () => {
    const unknown = { recent: builds, rule: {} };
    expect(doneBy({ ...unknown, pools: { cpu: { idle: [5 * MINUTE - 1] } } })).toEqual([]);
    expect(doneBy({ ...unknown, pools: { cpu: { idle: [5 * MINUTE] } } })).toEqual(['ask cpu']);
  });

  it('drains while there are more idle daemons than the stock, until the stock is left', () => {
    const idle = Array<number>(12).fill(HOUR);
    expect(doneBy({ ...often, pools: { cpu: { idle } } })).toEqual(Array(10).fill('ask cpu'));
  });

  it('stays for a while as a spare one, and is not launched as such', () => {
    const idle = Array<number>(4).fill(4 * MINUTE);
    expect(doneBy({ ...often, pools: { cpu: { idle } } })).toEqual([]);
    expect(doneBy({ ...often, pools: { cpu: {} } })).toEqual(['cpu 0->2']);
  });

  it.each([
    {
      reason: 'initiator',
      idleMs: 170 * SECOND,
      expected: [],
      because: 'the rule was learned from such builds',
    },
    { reason: 'autostart', idleMs: 100 * SECOND, expected: [], because: 'to launch it again costs more' },
    {
      reason: 'autostart',
      idleMs: 170 * SECOND,
      expected: ['ask cpu'],
      because: 'to launch it again costs less',
    },
  ])('does $expected $idleMs ms after a job with reason $reason, because $because', (row) => {
    const { reason, idleMs, expected } = row;
    const job = aJob({
      ...{ id: jobId('previous-cpu-0'), status: 'succeeded', completed_at: ago(idleMs) },
      ...{ reason, metadata: { workspace_id: 'w' } },
    });
    const world = { recent: builds, rule: { free: 0, spareMs: HOUR }, pools: { cpu: { idle: [idleMs] } } };
    expect(doneBy({ ...world, organization: { previousJobs: reading([job]) } })).toEqual(expected);
  });

  it('drains in a pool with warm 0, however many builds come', () => {
    const pools = { cpu: { idle: [MINUTE], config: { warm: 0 } } };
    expect(doneBy({ ...often, pools })).toEqual(['ask cpu']);
  });
});

it.each([0, 1])(
  'launches for a prebuild and the stock with min %i in one look, and nothing more in the next',
  (min) => {
    const pending = jobs(1, { initiator_id: PREBUILDS_USER });
    const world = { ...often, pending, pools: { cpu: { config: { min } } } };
    const [action] = deliberateOn(world).plan.actions;
    if (action?.kind !== 'set-desired') throw new Error('nothing launched');
    expect(action.to).toBeGreaterThan(1);
    expect(doneBy({ ...world, change: withDesired(action.to) })).toEqual([]);
  },
);

it('launches stock once, because the next look counts the starting tasks', () => {
  const world = { ...often, pools: { cpu: {} } };
  const [action] = deliberateOn(world).plan.actions;
  if (action?.kind !== 'set-desired') throw new Error('nothing launched');
  expect(doneBy({ ...world, change: withDesired(action.to) })).toEqual([]);
});

it.each([
  { min: 0, why: 'stock' },
  { min: 1, why: 'floor' },
])('explains a launch for the stock with min $min by the reasons $why', ({ min, why }) => {
  const { plan } = deliberateOn({ ...often, pools: { cpu: { config: { min } } } });
  expect(plan.actions).toMatchObject([{ kind: 'set-desired', why }]);
  expect(plan.pools[0]?.why.map(({ code }) => code)).toContain(why);
});

describe('the stock with doubts about jobs or daemons', () => {
  const statuses: readonly ReadingStatus[] = ['failed', 'forbidden', 'truncated', 'stale'];
  const cases = statuses.flatMap((status) =>
    (['jobs', 'daemons'] as const).map((list) => ({ status, list })),
  );

  it.each(cases)('launches and drains nothing while $list is $status', ({ status, list }) => {
    const change: Stocked['change'] = (snapshot) => ({
      ...snapshot,
      coder: {
        ...snapshot.coder,
        organizations: snapshot.coder.organizations.map((each) => ({
          ...each,
          [list]: { ...each[list], status },
        })),
      },
    });
    expect(doneBy({ ...often, pools: { cpu: {} }, change })).toEqual([]);
    // nor because of a pending job that an idle daemon can run
    const pools = { cpu: { idle: [MINUTE] } };
    expect(doneBy({ ...often, pending: jobs(1), pools, change })).toEqual([]);
    const idle = { cpu: { idle: [HOUR, HOUR, HOUR] } };
    expect(doneBy({ ...rarely, pools: idle, change })).toEqual([]);
  });
});

describe('the stock with doubts about workspaces', () => {
  const withWorkspaces = (status: ReadingStatus): Pick<Stocked, 'organization'> => ({
    organization: {
      workspaces: reading(status === 'failed' ? [] : [aWorkspace()], status),
      templates: reading([aTemplate()]),
      activeVersionTags: { template: {} },
    },
  });
  const pools = { cpu: { idle: [HOUR, HOUR] } };

  it.each<ReadingStatus>(['failed', 'stale'])(
    'keeps daemons that have been idle for minutes while the list is %s',
    (status) => {
      expect(doneBy({ ...rarely, pools, ...withWorkspaces(status) })).toEqual([]);
      expect(codesOf({ ...rarely, pools, ...withWorkspaces(status) })).toContain('holding-for-record');
    },
  );

  it('drains daemons that have been idle for minutes while the list is ok', () => {
    expect(doneBy({ ...rarely, pools, ...withWorkspaces('ok') })).toEqual(['ask cpu', 'ask cpu']);
  });

  it.each<ReadingStatus>(['failed', 'stale'])(
    'still grows by the jobs that were seen while the list is %s',
    (status) => {
      const launched = doneBy({ ...often, pools: { cpu: {} }, ...withWorkspaces(status) });
      expect(launched).toEqual(doneBy({ ...often, pools: { cpu: {} } }));
      expect(launched).toHaveLength(1);
    },
  );
});

describe('the stock after a cold start', () => {
  it('keeps the daemons of an earlier process, and the plan gives the reason', () => {
    const world = { ...cold, pools: { cpu: { idle: [HOUR, 10 * MINUTE, 5 * MINUTE] } } };
    expect(doneBy(world)).toEqual([]);
    expect(codesOf(world)).toContain('holding-for-record');
  });

  it('keeps a daemon whose last job was for a person', () => {
    expect(doneBy({ ...cold, pools: { cpu: { idle: [30 * SECOND] } } })).toEqual([]);
  });

  it('drains a daemon whose last job coderd made by itself', () => {
    const job = aJob({
      id: jobId('previous-cpu-0'),
      status: 'succeeded',
      completed_at: ago(30 * SECOND),
      reason: 'autostart',
      metadata: { workspace_id: 'w' },
    });
    const organization = { previousJobs: reading([job]) };
    expect(doneBy({ ...cold, organization, pools: { cpu: { idle: [30 * SECOND] } } })).toEqual(['ask cpu']);
  });

  it('launches nothing to replace daemons that the record forgot', () => {
    expect(doneBy({ ...cold, pools: { cpu: {} } })).toEqual([]);
  });

  it('keeps nothing in pools with warm 0', () => {
    const pools = { cpu: { idle: [HOUR], config: { warm: 0 } } };
    expect(doneBy({ ...cold, pools })).toEqual(['ask cpu']);
  });

  it('keeps no more than max', () => {
    const pools = { cpu: { idle: [HOUR, HOUR, HOUR], config: { max: 1 } } };
    expect(doneBy({ ...cold, pools })).toEqual(['ask cpu', 'ask cpu']);
  });

  it('drains them once the process has learned', () => {
    const world = { recent: [], pools: { cpu: { idle: [HOUR, HOUR] } } };
    expect(doneBy(world)).toEqual(['ask cpu', 'ask cpu']);
  });

  it('keeps them while the builds of their pool have not been replayed', () => {
    const { snapshot, config } = stocked({ recent: builds, pools: { cpu: { idle: [HOUR] } } });
    const known = { ...snapshot, stock: { tagSets: [], choices: [] } };
    expect(decide(known, config).actions).toEqual([]);
    expect(decide(snapshot, config).actions).toHaveLength(1);
  });
});

describe('idle stock that makes room for another pool', () => {
  const pools = {
    cpu: { idle: [HOUR, HOUR] },
    gpu: { config: { tags: gpu } },
  };
  const pending = jobs(1, { tags: gpu });

  it('drains when maxTasks holds back a job of the other pool', () => {
    const world = { ...often, pools, pending, limits: { maxTasks: 2 } };
    expect(doneBy(world)).toEqual(['ask cpu']);
    expect(codesOf(world)).toContain('making-room');
  });

  it('stays under a doubt, which is told in place of a drain', () => {
    const change: NonNullable<Stocked['change']> = (snapshot) => ({
      ...snapshot,
      ecs: { ...snapshot.ecs, services: { ...snapshot.ecs.services, status: 'truncated' } },
    });
    const world = { ...often, pools, pending, limits: { maxTasks: 2 }, change };
    expect(doneBy(world)).toEqual([]);
    expect(codesOf(world)).toContain('holding-for-doubt');
    expect(codesOf(world)).not.toContain('making-room');
  });

  it('drains when dollarsPerHour holds back a job of the other pool', () => {
    const limits = { maxTasks: 100, dollarsPerHour: 2.1 * 0.0395 };
    expect(doneBy({ ...often, pools, pending, limits })).toEqual(['ask cpu']);
  });

  it('drains after a cold start too', () => {
    const young = { ...cold, limits: { maxTasks: 2 } };
    expect(doneBy({ ...young, pools, pending })).toEqual(['ask cpu']);
    expect(doneBy({ ...often, isCold: true, limits: { maxTasks: 2 }, pools, pending })).toEqual(['ask cpu']);
    expect(doneBy({ ...young, pools })).toEqual([]);
  });

  it('never drains below min', () => {
    const floored = { ...pools, cpu: { idle: [HOUR, HOUR], config: { min: 2 } } };
    const limits = { maxTasks: 2 };
    expect(doneBy({ pools: floored, pending, limits })).toEqual([]);
    expect(doneBy({ ...cold, pools: floored, pending, limits })).toEqual([]);
  });

  it.each([
    { min: 2, idle: 2, expected: [] },
    { min: 2, idle: 3, expected: ['ask cpu'] },
    { min: 1, idle: 3, expected: ['ask cpu', 'ask cpu'] },
  ])('keeps min $min of $idle idle daemons that the stock wants too', ({ min, idle, expected }) => {
    const floored = { ...pools, cpu: { idle: Array<number>(idle).fill(HOUR), config: { min } } };
    const world = { ...often, pools: floored, pending: jobs(3, { tags: gpu }) };
    expect(doneBy({ ...world, limits: { maxTasks: idle } })).toEqual(expected);
  });

  it('drains no more daemons than jobs wait', () => {
    const many = jobs(7, { tags: gpu });
    expect(doneBy({ ...often, pools, pending: many, limits: { maxTasks: 2 } })).toEqual([
      'ask cpu',
      'ask cpu',
    ]);
  });

  it.each([
    { hours: 22.9, expected: [], because: 'it makes the room' },
    { hours: 22, expected: ['ask cpu'], because: 'its guard may hang' },
  ])('handles a draining daemon with $hours h left on its lease: $because', ({ hours, expected }) => {
    const world = { ...often, pools, pending, limits: { maxTasks: 2 }, change: withLease(hours) };
    expect(doneBy(world)).toEqual(expected);
  });

  it('stays while a task that has left makes the room', () => {
    const change: NonNullable<Stocked['change']> = (snapshot) => {
      const { coder, ...rest } = withoutLease('cpu')(snapshot);
      const organizations = coder.organizations.map((organization) => ({
        ...organization,
        daemons: reading(
          organization.daemons.items.map((daemon, index) =>
            index === 0 ? { ...daemon, status: 'offline' as const, last_seen_at: ago(10 * MINUTE) } : daemon,
          ),
        ),
      }));
      return { ...rest, coder: { ...coder, organizations } };
    };
    const world = { ...often, pools, pending, limits: { maxTasks: 2 }, change };
    expect(deliberateOn(world).plan.pools[0]?.daemons).toMatchObject({ left: 1, idle: 1 });
    expect(doneBy(world).filter((done) => done.startsWith('ask'))).toEqual([]);
  });

  it('drains no daemon that starts', () => {
    const world = { ...often, pools: { ...pools, cpu: {} }, pending, limits: { maxTasks: 2 } };
    const starting = { ...world, change: withDesired(2) };
    expect(codesOf(starting)).not.toContain('making-room');
  });

  describe('with stock in two pools', () => {
    const tags = { arch: 'arm' };
    const recent = [...builds, ...comingEvery({ everyMinutes: 3, forHours: 48, job: { tags } })];
    const two = { ...often, recent, pending, limits: { maxTasks: 4 } };
    const idle = [9 * MINUTE, 9 * MINUTE];
    const both = { ...pools, arm: { config: { tags }, idle }, cpu: { idle } };

    it('drains in one of them', () => {
      expect(doneBy({ ...two, pools: both })).toEqual(['ask cpu']);
    });

    it('drains in the other one if those of one are idle too briefly', () => {
      const brief = { ...both, cpu: { idle: [SECOND, SECOND] } };
      expect(doneBy({ ...two, pools: brief })).toEqual(['ask arm']);
    });

    it('gives up no more daemons than are idle, whether they can drain now or not', () => {
      const cpu = { idle: [9 * MINUTE, SECOND], busy: [MINUTE, MINUTE] };
      const world = { ...two, pools: { ...both, cpu, arm: {} }, limits: { maxTasks: 4 } };
      const { plan } = deliberateOn({ ...world, pending: jobs(9, { tags: gpu }) });
      expect(plan.pools.flatMap(({ why }) => why)).toContainEqual({ code: 'making-room', tasks: 2 });
    });

    it('drains nothing while a daemon that has left is still listed', () => {
      expect(doneBy({ ...two, pools: both, change: withoutLease('Stack-cpu') })).toEqual([]);
    });

    it('drains in the other one if a daemon without a lease does not go', () => {
      const stuck = { ...both, cpu: { idle: [10 * MINUTE, 9 * MINUTE] } };
      expect(doneBy({ ...two, pools: stuck, change: withoutLease('Stack-cpu') })).toEqual(['ask arm']);
    });
  });

  it('stays when there is room for the job', () => {
    expect(doneBy({ ...often, pools, pending, limits: { maxTasks: 3 } })).toEqual(['gpu 0->1']);
  });

  it('stays when the other pool is at its own max', () => {
    const full = { ...pools, gpu: { config: { tags: gpu, max: 1 }, busy: [MINUTE] } };
    expect(doneBy({ ...often, pools: full, pending, limits: { maxTasks: 3 } })).toEqual([]);
  });

  it('stays when the job can run on the idle daemon', () => {
    const world = { ...often, pools, pending: jobs(1), limits: { maxTasks: 2 } };
    expect(doneBy(world)).toEqual([]);
  });

  it('stays while jobs of its own pool need the daemons', () => {
    const busy = { ...pools, cpu: { idle: [HOUR, HOUR] } };
    const own = [...jobs(2), ...pending];
    const world = { ...often, pools: busy, pending: own, limits: { maxTasks: 2 } };
    expect(doneBy(world)).toEqual([]);
    expect(codesOf(world)).not.toContain('making-room');
  });
});

it('drains idle stock while there are more tasks than maxTasks', () => {
  const world = {
    ...{ recent: builds, rule: { free: 3 }, limits: { maxTasks: 2 } },
    pools: { cpu: { idle: [HOUR, HOUR, HOUR] } },
  };
  expect(doneBy(world)).toEqual(['ask cpu']);
  expect(doneBy({ ...world, change: withLease(22.9) })).toEqual([]);
});

describe('launches for prebuilds', () => {
  const prebuilds = (count: number) =>
    jobs(count, { initiator_id: PREBUILDS_USER, created_at: ago(22 * MINUTE) });
  const cpu = { config: { max: 8 } };

  it('leave the rest of max to people', () => {
    expect(doneBy({ pools: { cpu }, pending: prebuilds(30) })).toEqual(['cpu 0->6']);
  });

  it('are reported when 4/5 of max holds prebuilds back and max does not', () => {
    const { plan } = deliberateOn({ pools: { cpu }, pending: prebuilds(30) });
    expect(plan.pools[0]?.why.slice(1)).toEqual([
      { code: 'capped-at-prebuilds-max-tasks', jobs: 24, maxTasks: 6 },
    ]);
  });

  it('take no task that starts for a person, so repeated looks launch for the person once', () => {
    const world = { pools: { cpu }, pending: [...prebuilds(30), ...jobs(1)] };
    expect(doneBy(world)).toEqual(['cpu 0->7']);
    expect(doneBy({ ...world, change: withDesired(7) })).toEqual([]);
  });

  it('cost people no minutes when maxTasks holds prebuilds back', () => {
    const given = { pools: { cpu }, limits: { maxTasks: 5 } };
    const { plan } = deliberateOn({ ...given, pending: [...prebuilds(30), ...jobs(7)] });
    const told = plan.pools[0]?.why.find(({ code }) => code === 'capped-at-max-tasks');
    expect(told).toMatchObject({ granted: 5, waitMinutesPerHour: 120 });
  });

  it('count existing tasks, so the other tasks are for people', () => {
    const busy = { cpu: { ...cpu, busy: Array<number>(6).fill(MINUTE) } };
    expect(doneBy({ pools: busy, pending: prebuilds(30) })).toEqual([]);
    expect(doneBy({ pools: busy, pending: [...prebuilds(30), ...jobs(2)] })).toEqual(['cpu 6->8']);
  });

  it('come after launches for people under maxTasks', () => {
    const { plan } = deliberateOn({
      pools: { cpu },
      pending: [...prebuilds(30), ...jobs(4)],
      limits: { maxTasks: 5 },
    });
    const launched = (audience: string) =>
      plan.assignment.find((row) => row.for === audience && row.served === 'by-launch')?.jobs;
    expect([launched('people'), launched('prebuilds')]).toEqual([4, 1]);
  });

  it('are not limited when a floor launches the tasks anyway', () => {
    const floored = { cpu: { config: { ...cpu.config, min: 8 } } };
    expect(doneBy({ pools: floored, pending: prebuilds(30) })).toEqual(['cpu 0->8']);
  });

  it('keep the stock from launching unless each has a free daemon, because they would take its daemons', () => {
    const only = doneBy({ pools: { cpu }, pending: prebuilds(30) });
    expect(doneBy({ pools: { cpu }, pending: prebuilds(30), ...often })).toEqual(only);
    const free = { cpu: { ...cpu, idle: Array<number>(6).fill(MINUTE) } };
    expect(doneBy({ pools: free, pending: prebuilds(6), ...often })).toEqual(['cpu 6->8']);
    const others = prebuilds(30).map((job) => ({ ...job, tags: gpu }));
    expect(doneBy({ pools: { cpu }, pending: others, ...often })).toEqual(['cpu 0->2']);
  });

  it('leave free daemons to any job, because the cap limits only launches', () => {
    const idle = { cpu: { idle: Array<number>(8).fill(MINUTE), config: cpu.config } };
    const { plan } = deliberateOn({ pools: idle, pending: prebuilds(8) });
    expect(plan.assignment).toMatchObject([{ for: 'prebuilds', jobs: 8, served: 'by-free' }]);
  });
});

describe('a limit that holds back the stock', () => {
  it('is a reason when it is max', () => {
    const pools = { cpu: { busy: [MINUTE], idle: [HOUR], config: { max: 2 } } };
    expect(codesOf({ ...often, pools })).toContain('capped-at-max');
  });

  it('is a reason when it is maxTasks', () => {
    const world = { ...often, limits: { maxTasks: 2 }, pools: { cpu: { busy: [MINUTE], idle: [HOUR] } } };
    const { why = [] } = deliberateOn(world).plan.pools[0] ?? {};
    const reason = why.find(({ code }) => code === 'capped-at-max-tasks');
    expect(reason).toMatchObject({ wanted: 3, granted: 2, maxTasks: 2 });
  });

  it('is no reason when the stock is complete', () => {
    const world = {
      ...often,
      limits: { maxTasks: 2 },
      pools: { cpu: { idle: [HOUR, HOUR], config: { max: 2 } } },
    };
    expect(codesOf(world)).toEqual(['stock']);
  });
});
