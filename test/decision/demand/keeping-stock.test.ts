/** When idle daemons stay for the stock, when they drain, and what the stock must never do. */
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

/** The lease of the first task ends in so many hours: below 24 h it was asked to leave. */
const withLease =
  (hours: number): NonNullable<Stocked['change']> =>
  (snapshot) => {
    const { protections } = snapshot.ecs;
    const items = protections.items.map((item, index) =>
      index === 0 ? { ...item, expirationDate: ago(-hours * HOUR) } : item,
    );
    return { ...snapshot, ecs: { ...snapshot.ecs, protections: { ...protections, items } } };
  };

describe('an idle daemon', () => {
  it('stays while builds come often', () => {
    expect(doneBy({ recent: often, pools: { cpu: { idle: [HOUR] } } })).not.toContain('ask cpu');
    expect(codesOf({ recent: often, pools: { cpu: { idle: [HOUR] } } })).toContain('stock');
  });

  it('drains after 20 seconds where builds are rare', () => {
    expect(doneBy({ recent: rarely, pools: { cpu: { idle: [20 * SECOND] } } })).toEqual(['ask cpu']);
    expect(doneBy({ recent: rarely, pools: { cpu: { idle: [19 * SECOND] } } })).toEqual([]);
  });

  it('drains without a record as without builds', () => {
    expect(doneBy({ pools: { cpu: { idle: [MINUTE] } } })).toEqual(['ask cpu']);
  });

  it('drains when there are more than the stock wants: not all of many', () => {
    const idle = Array<number>(12).fill(MINUTE);
    const asked = doneBy({ recent: often, pools: { cpu: { idle } } });
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThan(12);
  });

  it('is not worth a launch at a price at which it stays', () => {
    const launched = deliberateOn({ recent: often, pools: { cpu: {} } }).pools[0]?.need.stock ?? 0;
    const idle = Array<number>(12).fill(MINUTE);
    const kept = deliberateOn({ recent: often, pools: { cpu: { idle } } }).pools[0]?.need.stock ?? 0;
    expect(kept).toBeGreaterThan(launched);
  });

  it('of a pool with warm 0 drains, however many builds come', () => {
    const pools = { cpu: { idle: [MINUTE], config: { warm: 0 } } };
    expect(doneBy({ recent: often, pools })).toEqual(['ask cpu']);
  });
});

it.each([0, 1])(
  'min %i: one look launches for a prebuild and for the stock, the next nothing more',
  (min) => {
    const pending = jobs(1, { initiator_id: PREBUILDS_USER });
    const world = { recent: often, pending, pools: { cpu: { config: { min } } } };
    const [action] = deliberateOn(world).plan.actions;
    if (action?.kind !== 'set-desired') throw new Error('nothing launched');
    expect(action.to).toBeGreaterThan(1);
    expect(doneBy({ ...world, change: withDesired(action.to) })).toEqual([]);
  },
);

it('stock is launched once: the next look counts the tasks that start', () => {
  const world = { recent: often, pools: { cpu: {} } };
  const [action] = deliberateOn(world).plan.actions;
  if (action?.kind !== 'set-desired') throw new Error('nothing launched');
  expect(doneBy({ ...world, change: withDesired(action.to) })).toEqual([]);
});

it.each([
  { min: 0, why: 'stock' },
  { min: 1, why: 'floor' },
])('min $min: a launch for the stock is explained by a reason of its pool: $why', ({ min, why }) => {
  const { plan } = deliberateOn({ recent: often, pools: { cpu: { config: { min } } } });
  expect(plan.actions).toMatchObject([{ kind: 'set-desired', why }]);
  expect(plan.pools[0]?.why.map(({ code }) => code)).toContain(why);
});

describe('while the jobs or the daemons are in doubt', () => {
  const statuses: readonly ReadingStatus[] = ['failed', 'forbidden', 'truncated', 'stale'];
  const cases = statuses.flatMap((status) =>
    (['jobs', 'daemons'] as const).map((list) => ({ status, list })),
  );

  it.each(cases)('$list $status: the stock launches nothing', ({ status, list }) => {
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
    // nor through a pending job that an idle daemon can run
    const pools = { cpu: { idle: [MINUTE] } };
    expect(doneBy({ recent: often, pending: jobs(1), pools, change })).toEqual([]);
  });

  it.each(cases)('$list $status: no daemon of the stock drains', ({ status, list }) => {
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

describe('while the workspaces are in doubt', () => {
  const withWorkspaces = (status: ReadingStatus): Pick<Stocked, 'organization'> => ({
    organization: {
      workspaces: reading(status === 'failed' ? [] : [aWorkspace()], status),
      templates: reading([aTemplate()]),
      activeVersionTags: { template: {} },
    },
  });
  const pools = { cpu: { idle: [HOUR, HOUR] } };

  it.each<ReadingStatus>(['failed', 'stale'])('%s: daemons that are idle for minutes stay', (status) => {
    expect(doneBy({ recent: rarely, pools, ...withWorkspaces(status) })).toEqual([]);
    expect(codesOf({ recent: rarely, pools, ...withWorkspaces(status) })).toContain('holding-for-record');
  });

  it('ok: they drain', () => {
    expect(doneBy({ recent: rarely, pools, ...withWorkspaces('ok') })).toEqual(['ask cpu', 'ask cpu']);
  });

  it.each<ReadingStatus>(['failed', 'stale'])(
    '%s: the stock still rises by the jobs that were seen',
    (status) => {
      const launched = doneBy({ recent: often, pools: { cpu: {} }, ...withWorkspaces(status) });
      expect(launched).toEqual(doneBy({ recent: often, pools: { cpu: {} } }));
      expect(launched).toHaveLength(1);
    },
  );
});

describe('after a cold start', () => {
  const young = { recent: [], since: ago(30 * SECOND) };

  it('daemons that an earlier process kept stay, and the plan says why', () => {
    const world = { ...young, pools: { cpu: { idle: [HOUR, 10 * MINUTE, 5 * MINUTE] } } };
    expect(doneBy(world)).toEqual([]);
    expect(codesOf(world)).toContain('holding-for-record');
  });

  it('a daemon whose last job was for a person stays', () => {
    expect(doneBy({ ...young, pools: { cpu: { idle: [30 * SECOND] } } })).toEqual([]);
  });

  it('a daemon whose last job coderd made by itself drains', () => {
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

  it('nothing is launched to replace what the record forgot', () => {
    expect(doneBy({ ...young, pools: { cpu: {} } })).toEqual([]);
  });

  it('pools with warm 0 hold nothing back', () => {
    const pools = { cpu: { idle: [HOUR], config: { warm: 0 } } };
    expect(doneBy({ ...young, pools })).toEqual(['ask cpu']);
  });

  it('max still limits what stays', () => {
    const pools = { cpu: { idle: [HOUR, HOUR, HOUR], config: { max: 1 } } };
    expect(doneBy({ ...young, pools })).toEqual(['ask cpu', 'ask cpu']);
  });

  it('a process that has recorded for hours drains them', () => {
    const world = { recent: [], since: ago(5 * HOUR), pools: { cpu: { idle: [HOUR, HOUR] } } };
    expect(doneBy(world)).toEqual(['ask cpu', 'ask cpu']);
  });
});

describe('idle stock makes room for another pool', () => {
  const pools = {
    cpu: { idle: [HOUR, HOUR] },
    gpu: { config: { tags: gpu } },
  };
  const pending = jobs(1, { tags: gpu });

  it('when maxTasks holds back its pending job', () => {
    const world = { recent: often, pools, pending, limits: { maxTasks: 2 } };
    expect(doneBy(world)).toEqual(['ask cpu']);
    expect(codesOf(world)).toContain('making-room');
  });

  it('when dollarsPerHour holds back its pending job', () => {
    const limits = { maxTasks: 100, dollarsPerHour: 2.1 * 0.0395 };
    expect(doneBy({ recent: often, pools, pending, limits })).toEqual(['ask cpu']);
  });

  it('after a cold start as well', () => {
    const young = { recent: [], since: ago(30 * SECOND), limits: { maxTasks: 2 } };
    expect(doneBy({ ...young, pools, pending })).toEqual(['ask cpu']);
    expect(doneBy({ ...young, pools, pending, recent: often })).toEqual(['ask cpu']);
    expect(doneBy({ ...young, pools })).toEqual([]);
  });

  it('never below min', () => {
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

  it('as far as jobs wait', () => {
    const many = jobs(7, { tags: gpu });
    expect(doneBy({ recent: often, pools, pending: many, limits: { maxTasks: 2 } })).toEqual([
      'ask cpu',
      'ask cpu',
    ]);
  });

  it.each([
    { hours: 22.9, expected: [], because: 'it makes the room' },
    { hours: 22, expected: ['ask cpu'], because: 'its guard may hang' },
  ])('beside a daemon that was asked and has $hours h of its lease: $because', ({ hours, expected }) => {
    const world = { recent: often, pools, pending, limits: { maxTasks: 2 }, change: withLease(hours) };
    expect(doneBy(world)).toEqual(expected);
  });

  it('not when there is room for the job', () => {
    expect(doneBy({ recent: often, pools, pending, limits: { maxTasks: 3 } })).toEqual(['gpu 0->1']);
  });

  it('not when the other pool is at its own max', () => {
    const full = { ...pools, gpu: { config: { tags: gpu, max: 1 }, busy: [MINUTE] } };
    expect(doneBy({ recent: often, pools: full, pending, limits: { maxTasks: 3 } })).toEqual([]);
  });

  it('not when the job could run on the idle daemon', () => {
    const world = { recent: often, pools, pending: jobs(1), limits: { maxTasks: 2 } };
    expect(doneBy(world)).toEqual([]);
  });

  it('not while its own jobs keep the daemons', () => {
    const busy = { ...pools, cpu: { idle: [HOUR, HOUR] } };
    const own = [...jobs(2), ...pending];
    expect(doneBy({ recent: often, pools: busy, pending: own, limits: { maxTasks: 2 } })).toEqual([]);
  });
});

it('idle stock drains as far as more tasks are there than maxTasks', () => {
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

  it('are told where prebuilds.maxTasks holds prebuilds back, and max does not', () => {
    const { plan } = deliberateOn({ pools: { cpu }, pending: prebuilds(30) });
    expect(plan.pools[0]?.why.slice(1)).toEqual([
      { code: 'capped-at-prebuilds-max-tasks', jobs: 24, maxTasks: 6 },
    ]);
  });

  it('take no task that starts for a person: looks at one state launch for the person once', () => {
    const world = { pools: { cpu }, pending: [...prebuilds(30), ...jobs(1)] };
    expect(doneBy(world)).toEqual(['cpu 0->7']);
    expect(doneBy({ ...world, change: withDesired(7) })).toEqual([]);
  });

  it('cost people no minutes where maxTasks holds them back', () => {
    const given = { pools: { cpu }, limits: { maxTasks: 5 } };
    const { plan } = deliberateOn({ ...given, pending: [...prebuilds(30), ...jobs(7)] });
    const told = plan.pools[0]?.why.find(({ code }) => code === 'capped-at-max-tasks');
    expect(told).toMatchObject({ granted: 5, waitMinutesPerHour: 120 });
  });

  it('count what is there: the others are for people', () => {
    const busy = { cpu: { ...cpu, busy: Array<number>(6).fill(MINUTE) } };
    expect(doneBy({ pools: busy, pending: prebuilds(30) })).toEqual([]);
    expect(doneBy({ pools: busy, pending: [...prebuilds(30), ...jobs(3)] })).toEqual(['cpu 6->9']);
  });

  it('come after those for people under maxTasks', () => {
    const { plan } = deliberateOn({
      pools: { cpu },
      pending: [...prebuilds(30), ...jobs(4)],
      limits: { maxTasks: 5 },
    });
    const launched = (audience: string) =>
      plan.assignment.find((row) => row.for === audience && row.served === 'by-launch')?.jobs;
    expect([launched('people'), launched('prebuilds')]).toEqual([4, 1]);
  });

  it('are not limited where a floor brings the tasks in any case', () => {
    const floored = { cpu: { config: { ...cpu.config, min: 8 } } };
    expect(doneBy({ pools: floored, pending: prebuilds(30) })).toEqual(['cpu 0->8']);
  });

  it('keep the stock from launching: prebuilds would take its daemons', () => {
    const only = doneBy({ pools: { cpu }, pending: prebuilds(30) });
    expect(doneBy({ pools: { cpu }, pending: prebuilds(30), recent: often })).toEqual(only);
  });

  it('leave free daemons to any job: a cap limits launches, not who takes what', () => {
    const idle = { cpu: { idle: Array<number>(8).fill(MINUTE), config: cpu.config } };
    const { plan } = deliberateOn({ pools: idle, pending: prebuilds(8) });
    expect(plan.assignment).toMatchObject([{ for: 'prebuilds', jobs: 8, served: 'by-free' }]);
  });
});

describe('a limit that keeps the stock from what it is worth', () => {
  const busy = comingEvery({ everyMinutes: 0.2, forHours: 24 });

  it('is a reason where it is max', () => {
    expect(codesOf({ recent: busy, pools: { cpu: { idle: [HOUR], config: { max: 1 } } } })).toContain(
      'capped-at-max',
    );
  });

  it('is a reason where it is maxTasks, with the minutes that people wait for it', () => {
    const world = { recent: busy, limits: { maxTasks: 2 }, pools: { cpu: { idle: [HOUR, HOUR] } } };
    const { why = [] } = deliberateOn(world).plan.pools[0] ?? {};
    const reason = why.find(({ code }) => code === 'capped-at-max-tasks');
    expect(reason).toMatchObject({ granted: 2, maxTasks: 2 });
    expect(reason).toHaveProperty('waitMinutesPerHour', expect.any(Number));
  });

  it('is no reason where nothing more is worth its price', () => {
    expect(codesOf({ recent: often, pools: { cpu: { idle: [HOUR, HOUR] } } })).not.toContain('capped-at-max');
  });
});
