/** The stock: which idle daemons stay, which drain, and what the stock must never cause. */
import { describe, expect, it } from 'vitest';
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
import { comingEvery, deliberateOn, doneBy, PREBUILDS_USER, type Stocked } from '../../support/stocked.ts';

const gpu = { cluster: 'gpu' };
const often = comingEvery({ everyMinutes: 3, forHours: 48 });
const rarely = comingEvery({ everyMinutes: 60 * 30, forHours: 24 * 7 });
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

describe('an idle daemon of the stock', () => {
  it('stays while builds come often', () => {
    expect(doneBy({ recent: often, pools: { cpu: { idle: [HOUR] } } })).not.toContain('ask cpu');
    expect(codesOf({ recent: often, pools: { cpu: { idle: [HOUR] } } })).toContain('stock');
  });

  it('drains after 20 seconds if builds are rare', () => {
    expect(doneBy({ recent: rarely, pools: { cpu: { idle: [20 * SECOND] } } })).toEqual(['ask cpu']);
    expect(doneBy({ recent: rarely, pools: { cpu: { idle: [19 * SECOND] } } })).toEqual([]);
  });

  it('drains without a record', () => {
    expect(doneBy({ pools: { cpu: { idle: [MINUTE] } } })).toEqual(['ask cpu']);
  });

  it('drains while there are more idle daemons than the stock, until the stock is left', () => {
    const idle = Array<number>(12).fill(MINUTE);
    const asked = doneBy({ recent: often, pools: { cpu: { idle } } });
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThan(12);
  });

  it('stays at a price at which the pool would not launch it', () => {
    const launched = deliberateOn({ recent: often, pools: { cpu: {} } }).pools[0]?.need.stock ?? 0;
    const idle = Array<number>(12).fill(MINUTE);
    const kept = deliberateOn({ recent: often, pools: { cpu: { idle } } }).pools[0]?.need.stock ?? 0;
    expect(kept).toBeGreaterThan(launched);
  });

  it('drains in a pool with warm 0, however many builds come', () => {
    const pools = { cpu: { idle: [MINUTE], config: { warm: 0 } } };
    expect(doneBy({ recent: often, pools })).toEqual(['ask cpu']);
  });
});

it.each([0, 1])(
  'launches for a prebuild and the stock with min %i in one look, and nothing more in the next',
  (min) => {
    const pending = jobs(1, { initiator_id: PREBUILDS_USER });
    const world = { recent: often, pending, pools: { cpu: { config: { min } } } };
    const [action] = deliberateOn(world).plan.actions;
    if (action?.kind !== 'set-desired') throw new Error('nothing launched');
    expect(action.to).toBeGreaterThan(1);
    expect(doneBy({ ...world, change: withDesired(action.to) })).toEqual([]);
  },
);

it('launches stock once, because the next look counts the starting tasks', () => {
  const world = { recent: often, pools: { cpu: {} } };
  const [action] = deliberateOn(world).plan.actions;
  if (action?.kind !== 'set-desired') throw new Error('nothing launched');
  expect(doneBy({ ...world, change: withDesired(action.to) })).toEqual([]);
});

it.each([
  { min: 0, why: 'stock' },
  { min: 1, why: 'floor' },
])('explains a launch for the stock with min $min by the reasons $why', ({ min, why }) => {
  const { plan } = deliberateOn({ recent: often, pools: { cpu: { config: { min } } } });
  expect(plan.actions).toMatchObject([{ kind: 'set-desired', why }]);
  expect(plan.pools[0]?.why.map(({ code }) => code)).toContain(why);
});

describe('the stock with doubts about jobs or daemons', () => {
  const statuses: readonly ReadingStatus[] = ['failed', 'forbidden', 'truncated', 'stale'];
  const cases = statuses.flatMap((status) =>
    (['jobs', 'daemons'] as const).map((list) => ({ status, list })),
  );

  it.each(cases)('launches nothing while $list is $status', ({ status, list }) => {
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
    expect(doneBy({ recent: often, pools: { cpu: {} }, change })).toEqual([]);
    // nor because of a pending job that an idle daemon can run
    const pools = { cpu: { idle: [MINUTE] } };
    expect(doneBy({ recent: often, pending: jobs(1), pools, change })).toEqual([]);
  });

  it.each(cases)('drains nothing while $list is $status', ({ status, list }) => {
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
    const pools = { cpu: { idle: [HOUR, HOUR, HOUR] } };
    expect(doneBy({ recent: rarely, pools, change })).toEqual([]);
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
      expect(doneBy({ recent: rarely, pools, ...withWorkspaces(status) })).toEqual([]);
      expect(codesOf({ recent: rarely, pools, ...withWorkspaces(status) })).toContain('holding-for-record');
    },
  );

  it('drains daemons that have been idle for minutes while the list is ok', () => {
    expect(doneBy({ recent: rarely, pools, ...withWorkspaces('ok') })).toEqual(['ask cpu', 'ask cpu']);
  });

  it.each<ReadingStatus>(['failed', 'stale'])(
    'still grows by the jobs that were seen while the list is %s',
    (status) => {
      const launched = doneBy({ recent: often, pools: { cpu: {} }, ...withWorkspaces(status) });
      expect(launched).toEqual(doneBy({ recent: often, pools: { cpu: {} } }));
      expect(launched).toHaveLength(1);
    },
  );
});

describe('the stock after a cold start', () => {
  const young = { recent: [], since: ago(30 * SECOND) };

  it('keeps the daemons of an earlier process, and the plan gives the reason', () => {
    const world = { ...young, pools: { cpu: { idle: [HOUR, 10 * MINUTE, 5 * MINUTE] } } };
    expect(doneBy(world)).toEqual([]);
    expect(codesOf(world)).toContain('holding-for-record');
  });

  it('keeps a daemon whose last job was for a person', () => {
    expect(doneBy({ ...young, pools: { cpu: { idle: [30 * SECOND] } } })).toEqual([]);
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
    expect(doneBy({ ...young, organization, pools: { cpu: { idle: [30 * SECOND] } } })).toEqual(['ask cpu']);
  });

  it('launches nothing to replace daemons that the record forgot', () => {
    expect(doneBy({ ...young, pools: { cpu: {} } })).toEqual([]);
  });

  it('keeps nothing in pools with warm 0', () => {
    const pools = { cpu: { idle: [HOUR], config: { warm: 0 } } };
    expect(doneBy({ ...young, pools })).toEqual(['ask cpu']);
  });

  it('keeps no more than max', () => {
    const pools = { cpu: { idle: [HOUR, HOUR, HOUR], config: { max: 1 } } };
    expect(doneBy({ ...young, pools })).toEqual(['ask cpu', 'ask cpu']);
  });

  it('drains them once the process has recorded for hours', () => {
    const world = { recent: [], since: ago(5 * HOUR), pools: { cpu: { idle: [HOUR, HOUR] } } };
    expect(doneBy(world)).toEqual(['ask cpu', 'ask cpu']);
  });
});

describe('idle stock that makes room for another pool', () => {
  const pools = {
    cpu: { idle: [HOUR, HOUR] },
    gpu: { config: { tags: gpu } },
  };
  const pending = jobs(1, { tags: gpu });

  it('drains when maxTasks holds back a job of the other pool', () => {
    const world = { recent: often, pools, pending, limits: { maxTasks: 2 } };
    expect(doneBy(world)).toEqual(['ask cpu']);
    expect(codesOf(world)).toContain('making-room');
  });

  it('drains when dollarsPerHour holds back a job of the other pool', () => {
    const limits = { maxTasks: 100, dollarsPerHour: 2.1 * 0.0395 };
    expect(doneBy({ recent: often, pools, pending, limits })).toEqual(['ask cpu']);
  });

  it('drains after a cold start too', () => {
    const young = { recent: [], since: ago(30 * SECOND), limits: { maxTasks: 2 } };
    expect(doneBy({ ...young, pools, pending })).toEqual(['ask cpu']);
    expect(doneBy({ ...young, pools, pending, recent: often })).toEqual(['ask cpu']);
    expect(doneBy({ ...young, pools })).toEqual([]);
  });

  it('never drains below min', () => {
    const floored = { ...pools, cpu: { idle: [HOUR, HOUR], config: { min: 2 } } };
    const limits = { maxTasks: 2 };
    expect(doneBy({ pools: floored, pending, limits })).toEqual([]);
    expect(doneBy({ recent: [], since: ago(30 * SECOND), pools: floored, pending, limits })).toEqual([]);
  });

  it.each([
    { min: 2, idle: 2, expected: [] },
    { min: 2, idle: 3, expected: ['ask cpu'] },
    { min: 1, idle: 3, expected: ['ask cpu', 'ask cpu'] },
  ])('keeps min $min of $idle idle daemons that the stock wants too', ({ min, idle, expected }) => {
    const floored = { ...pools, cpu: { idle: Array<number>(idle).fill(HOUR), config: { min } } };
    const world = { recent: often, pools: floored, pending: jobs(3, { tags: gpu }) };
    expect(doneBy({ ...world, limits: { maxTasks: idle } })).toEqual(expected);
  });

  it('drains no more daemons than jobs wait', () => {
    const many = jobs(7, { tags: gpu });
    expect(doneBy({ recent: often, pools, pending: many, limits: { maxTasks: 2 } })).toEqual([
      'ask cpu',
      'ask cpu',
    ]);
  });

  it.each([
    { hours: 22.9, expected: [], because: 'it makes the room' },
    { hours: 22, expected: ['ask cpu'], because: 'its guard may hang' },
  ])('handles a draining daemon with $hours h left on its lease: $because', ({ hours, expected }) => {
    const world = { recent: often, pools, pending, limits: { maxTasks: 2 }, change: withLease(hours) };
    expect(doneBy(world)).toEqual(expected);
  });

  it('stays when there is room for the job', () => {
    expect(doneBy({ recent: often, pools, pending, limits: { maxTasks: 3 } })).toEqual(['gpu 0->1']);
  });

  it('stays when the other pool is at its own max', () => {
    const full = { ...pools, gpu: { config: { tags: gpu, max: 1 }, busy: [MINUTE] } };
    expect(doneBy({ recent: often, pools: full, pending, limits: { maxTasks: 3 } })).toEqual([]);
  });

  it('stays when the job can run on the idle daemon', () => {
    const world = { recent: often, pools, pending: jobs(1), limits: { maxTasks: 2 } };
    expect(doneBy(world)).toEqual([]);
  });

  it('stays while jobs of its own pool need the daemons', () => {
    const busy = { ...pools, cpu: { idle: [HOUR, HOUR] } };
    const own = [...jobs(2), ...pending];
    expect(doneBy({ recent: often, pools: busy, pending: own, limits: { maxTasks: 2 } })).toEqual([]);
  });
});

it('drains idle stock while there are more tasks than maxTasks', () => {
  const pools = { cpu: { idle: [HOUR, HOUR, HOUR] } };
  expect(doneBy({ recent: often, pools, limits: { maxTasks: 2 } })).toEqual(['ask cpu']);
  expect(doneBy({ recent: often, pools, limits: { maxTasks: 2 }, change: withLease(22.9) })).toEqual([]);
});

describe('launches for prebuilds', () => {
  const prebuilds = (count: number) =>
    jobs(count, { initiator_id: PREBUILDS_USER, created_at: ago(22 * MINUTE) });
  const cpu = { config: { max: 10, prebuilds: { maxTasks: 6 } } };

  it('leave the rest of max to people', () => {
    expect(doneBy({ pools: { cpu }, pending: prebuilds(30) })).toEqual(['cpu 0->6']);
  });

  it('are reported when prebuilds.maxTasks holds prebuilds back and max does not', () => {
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
    expect(doneBy({ pools: busy, pending: [...prebuilds(30), ...jobs(3)] })).toEqual(['cpu 6->9']);
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

  it('keep the stock from launching, because prebuilds would take its daemons', () => {
    const only = doneBy({ pools: { cpu }, pending: prebuilds(30) });
    expect(doneBy({ pools: { cpu }, pending: prebuilds(30), recent: often })).toEqual(only);
  });

  it('leave free daemons to any job, because the cap limits only launches', () => {
    const idle = { cpu: { idle: Array<number>(8).fill(MINUTE), config: cpu.config } };
    const { plan } = deliberateOn({ pools: idle, pending: prebuilds(8) });
    expect(plan.assignment).toMatchObject([{ for: 'prebuilds', jobs: 8, served: 'by-free' }]);
  });
});

describe('a limit that holds back the stock', () => {
  const busy = comingEvery({ everyMinutes: 0.2, forHours: 24 });

  it('is a reason when it is max', () => {
    expect(codesOf({ recent: busy, pools: { cpu: { idle: [HOUR], config: { max: 1 } } } })).toContain(
      'capped-at-max',
    );
  });

  it('is a reason when it is maxTasks, with the minutes that people wait', () => {
    const world = { recent: busy, limits: { maxTasks: 2 }, pools: { cpu: { idle: [HOUR, HOUR] } } };
    const { why = [] } = deliberateOn(world).plan.pools[0] ?? {};
    const reason = why.find(({ code }) => code === 'capped-at-max-tasks');
    expect(reason).toMatchObject({ granted: 2, maxTasks: 2 });
    expect(reason).toHaveProperty('waitMinutesPerHour', expect.any(Number));
  });

  it('is no reason when one more daemon is not worth its price', () => {
    expect(codesOf({ recent: often, pools: { cpu: { idle: [HOUR, HOUR] } } })).not.toContain('capped-at-max');
  });
});
