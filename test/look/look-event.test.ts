/** The log event of a look, and its metrics. */
import { describe, expect, it } from 'vitest';
import { makeFleet } from '../../lab/bench/fleet.ts';
import { observeFleet } from '../../lab/bench/serve.ts';
import { parseSnapshot } from '../../lambda/adapters/snapshot-schema.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import { decide } from '../../lambda/decision/decide.ts';
import type { EpochMs, JobId, PoolName, TaskArn } from '../../lambda/decision/model/brands.ts';
import type { Action, DeadBuild, Finding, Plan } from '../../lambda/decision/model/plan.ts';
import type { Job, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { bytesOf, fitting } from '../../lambda/explain/truncate-rows.ts';
import { answerOf } from '../../lambda/look/answer.ts';
import type { LookResult } from '../../lambda/look/look.ts';
import { type LookEvent, lookEvent } from '../../lambda/look/look-event.ts';
import { OrphanEvents } from '../../lambda/look/orphan-event.ts';
import { alarmsOf } from '../../lambda/telemetry/alarm-limits.ts';
import { FullViewAge, isBlind } from '../../lambda/telemetry/full-view-age.ts';
import { lookMetrics, poolMetrics, rareMetrics } from '../../lambda/telemetry/look-metrics.ts';
import { ACTIVITY_METRICS, ALARM_METRICS } from '../../lambda/telemetry/metric-names.ts';
import {
  aConfig,
  ago,
  aJob,
  anOrganization,
  aPool,
  aSnapshot,
  jobId,
  MINUTE,
  reading,
} from '../support/parts.ts';
import { draw, type Picture } from '../support/picture.ts';

const NO_PROMISES = { pendingJobs: [], pendingJobsLeftOut: 0 };

/** The result of a look that applied its whole plan. */
function resultOf(snapshot: Snapshot, plan: Plan, changed: Partial<LookResult['outcome']> = {}): LookResult {
  const outcome = { applied: plan.actions, refused: [], failures: [], ...changed };
  return { snapshot, plan, promises: () => NO_PROMISES, outcome, failures: outcome.failures };
}

function resultOn(
  picture: Picture,
  changed?: (actions: readonly Action[]) => Partial<LookResult['outcome']>,
): LookResult {
  const { snapshot: document, config } = draw(picture);
  const snapshot = parseSnapshot(document);
  const plan = decide(snapshot, checkConfig(config).config);
  return resultOf(snapshot, plan, changed?.(plan.actions));
}

const CALLS = { coderd: { requests: 7, throttled: 1 }, ecs: { requests: 4, throttled: 0 } };
const eventOf = (result: LookResult): LookEvent => lookEvent({ result, calls: CALLS, durationMs: 120 });

const BUSY: Picture = {
  pools: {
    cpu: { tasks: 'B I9m I9m X L', max: 4, idleTimeout: '5m' },
    gpu: { tasks: 'B P', tags: { gpu: 'a' }, max: 2 },
  },
  pending: [
    { tags: { gpu: 'a' }, jobs: 3, ageS: 400 },
    { tags: { gpu: 'a' }, jobs: 1, ageS: 20, prebuilds: true },
    { tags: { tpu: 'x' }, jobs: 2, ageS: 700 },
  ],
};

describe('the log event of a look', () => {
  const event = eventOf(resultOn(BUSY));

  it('counts pending jobs, and unschedulable jobs separately', () => {
    expect(event).toMatchObject({ pending: 4, oldestPendingSeconds: 400, unserved: 2, durationMs: 120 });
  });

  it('has one row per pool with its tasks by state', () => {
    expect(event.pools).toMatchObject([
      { name: 'cpu', desiredFrom: 5, tasks: 5, busy: 1, idle: 2, left: 1, leaving: 1, asks: 2, atMax: 0 },
      { name: 'gpu', desiredFrom: 2, desiredTo: 2, tasks: 2, busy: 1, starting: 1, pending: 4, atMax: 1 },
    ]);
  });

  it('has the deployment and the overrides of a pool as words of one text, and none without', () => {
    expect(event.pools.map((row) => 'marks' in row)).toEqual([false, false]);
    const { snapshot, plan, ...rest } = resultOn(BUSY);
    const override = { until: plan.takenAt, by: 'me', why: 'test' };
    const overrides = [
      { kind: 'pin', count: 1, ...override },
      { kind: 'pause-scale-in', ...override },
    ] as const;
    const pools = plan.pools.map((pool, at) => ({
      ...pool,
      overrides: at === 0 ? overrides : [],
      why: [{ code: 'holding-for-deployment' } as const],
    }));
    const marked = eventOf({ snapshot, ...rest, plan: { ...plan, pools } });
    expect(marked.pools.map((row) => row.marks)).toEqual(['deployment pause-scale-in pin', 'deployment']);
  });

  it.each([
    { values: {}, failures: [], alarms: undefined },
    { values: { OldestPendingAge: 300, UnservedJobs: 0, TickAge: 300 }, failures: [], alarms: undefined },
    { values: { OldestPendingAge: 301, UnservedJobs: 1 }, failures: [], alarms: 'job-waits unserved-jobs' },
    { values: { TokenDaysLeft: 15, StuckTasks: 0 }, failures: [], alarms: undefined },
    {
      values: { TokenDaysLeft: 14, StuckTasks: 1, PendingJobs: 9 },
      failures: [],
      alarms: 'drain-stuck token-expires',
    },
    { values: {}, failures: ['no'], alarms: 'failing-ticks' },
  ])('has $alarms as the alarms whose limit $values crosses', ({ values, failures, alarms }) => {
    expect(alarmsOf({ failures }, values)).toEqual(alarms === undefined ? {} : { alarms });
  });

  it('has one row per tag group, the longest waiting first', () => {
    expect(event.groups).toMatchObject([
      { tags: 'tpu=x', pending: 2, oldestSeconds: 700, served: '2 unserved', pools: '' },
      {
        tags: 'gpu=a',
        pending: 4,
        oldestSeconds: 400,
        served: '1 by-starting, 3 when-there-is-room',
        pools: 'gpu',
        running: 1,
      },
      { tags: '(untagged)', pending: 0, oldestSeconds: 0, served: '', pools: '', running: 2 },
    ]);
    expect(event.groups[1]?.since).toBe('2026-11-20T08:53:20.000Z');
  });

  it('counts requests and throttles by API', () => {
    expect(event.calls).toEqual([
      { api: 'coderd', requests: 7, throttled: 1 },
      { api: 'ecs', requests: 4, throttled: 0 },
    ]);
  });

  it('leaves out nothing that fits', () => {
    expect(event.leftOut).toEqual({});
  });
});

describe('the queue wait of a tag group', () => {
  const waited = (waitS: number): Job =>
    aJob({ status: 'running', created_at: ago(40 * MINUTE), started_at: ago(40 * MINUTE - waitS * 1000) });
  const once = waited(10);
  const early = aJob({ status: 'running', created_at: ago(MINUTE), started_at: ago(2 * MINUTE) });
  const queued = aJob({ status: 'running', created_at: ago(MINUTE) });
  const groupOf = (jobs: readonly Job[]) => {
    const snapshot = aSnapshot({ organizations: [anOrganization({ jobs: reading(jobs) })] });
    return eventOf(resultOf(snapshot, decide(snapshot, aConfig(aPool())))).groups[0];
  };

  it.each([
    { jobs: [5, 10, 20, 300].map(waited), p50: 10, p95: 300, because: 'the second and the last of four' },
    { jobs: [waited(5)], p50: 5, p95: 5, because: 'a single job is both' },
    { jobs: [early], p50: 0, p95: 0, because: 'a wait is never negative if clocks differ' },
    {
      jobs: [once, once, queued],
      p50: 10,
      p95: 10,
      because: 'a row can be listed twice or lack its start',
    },
  ])(
    'is the time from creation until a daemon took the job: $p50 s and $p95 s ($because)',
    ({ jobs, p50, p95 }) => {
      expect(groupOf(jobs)).toMatchObject({ queueWaitP50Seconds: p50, queueWaitP95Seconds: p95 });
    },
  );

  it('is absent if no job runs', () => {
    expect(groupOf([aJob()])).not.toHaveProperty('queueWaitP50Seconds');
  });
});

describe('an action', () => {
  const spare: Picture = { pools: { cpu: { tasks: 'I9m I9m', idleTimeout: '5m' } } };
  const refuse = (actions: readonly Action[]): Partial<LookResult['outcome']> => ({
    refused: actions
      .slice(0, 1)
      .flatMap((action) =>
        action.kind === 'set-desired'
          ? []
          : [{ pool: action.pool, task: action.task, reason: 'DEPLOYMENT_BLOCKED' }],
      ),
  });

  it.each([
    { changed: () => ({}), outcomes: ['applied', 'applied'], asks: 2 },
    { changed: refuse, outcomes: ['refused', 'applied'], asks: 1 },
    { changed: () => ({ applied: [] }), outcomes: ['open', 'open'], asks: 0 },
  ])('has its outcome: $outcomes', ({ changed, outcomes, asks }) => {
    const event = eventOf(resultOn(spare, changed));
    expect(event.actions.map(({ outcome }) => outcome)).toEqual(outcomes);
    expect(event.pools[0]?.asks).toBe(asks);
  });

  it('has the task id and the reason of a refusal', () => {
    const [action] = eventOf(resultOn(spare, refuse)).actions;
    expect(action).toMatchObject({ kind: 'ask-to-leave', reason: 'DEPLOYMENT_BLOCKED' });
    expect(action?.task).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('the metrics of a look', () => {
  const metricsOf = (result: LookResult) => lookMetrics(result, eventOf(result), 0);

  it('are ten while anything happens', () => {
    expect(Object.keys(metricsOf(resultOn(BUSY)))).toEqual([...ACTIVITY_METRICS, ...ALARM_METRICS]);
  });

  it('are those of alarms while nothing happens, because CloudWatch bills the hours of a metric', () => {
    expect(Object.keys(metricsOf(resultOn({ pools: { cpu: {} } })))).toEqual([...ALARM_METRICS]);
  });

  it('sum over all pools', () => {
    expect(metricsOf(resultOn(BUSY))).toEqual({
      PendingJobs: 4,
      OldestPendingAge: 400,
      UnservedJobs: 2,
      BusyDaemons: 2,
      IdleDaemons: 2,
      StartingDaemons: 1,
      Launches: 0,
      FailedStarts: 0,
      PoolsAtMax: 1,
      TickAge: 0,
    });
  });

  const due: Picture = { pools: { cpu: { tasks: 'B' } }, pending: [{ jobs: 3 }] };
  it.each([
    { picture: due, changed: () => ({}), launches: 3, because: 'the count rises from 1 to 4' },
    { picture: due, changed: () => ({ applied: [] }), launches: 0, because: 'the action was not applied' },
    {
      picture: { pools: { cpu: { tasks: 'B B', desired: 1 } } },
      changed: () => ({}),
      launches: 0,
      because: 'a corrected count starts no task',
    },
  ])('count $launches launches because $because', ({ picture, changed, launches }) => {
    expect(metricsOf(resultOn(picture, changed)).Launches).toBe(launches);
  });

  it('do not count a pinned pool as at its max', () => {
    const result = resultOn(BUSY);
    const pin = { kind: 'pin', count: 2, until: '2026-11-21T00:00:00.000Z', by: 'me', why: 'test' } as const;
    const pools = result.plan.pools.map((pool) => ({ ...pool, overrides: [pin] }));
    expect(metricsOf({ ...result, plan: { ...result.plan, pools } }).PoolsAtMax).toBe(0);
  });

  it.each([
    { busy: 0, of: 4, atMax: 0, because: 'the daemons of a wrong key take no jobs' },
    { busy: 1, of: 4, atMax: 0, because: 'ECS has refused the other three, or they freeze' },
    { busy: 2, of: 4, atMax: 1, because: 'two more builds have just ended' },
    { busy: 0, of: 0, atMax: 1, because: 'other pools have all tasks that `maxTasks` allows' },
  ])('count a limited pool of which $busy of $of tasks build as $atMax: $because', ({ busy, of, atMax }) => {
    const { plan, ...result } = resultOn(BUSY);
    const pools = plan.pools.flatMap((pool) =>
      pool.name === 'gpu'
        ? [{ ...pool, daemons: { ...pool.daemons, busy }, desired: { ...pool.desired, to: of } }]
        : [],
    );
    expect(metricsOf({ ...result, plan: { ...plan, pools } }).PoolsAtMax).toBe(atMax);
  });

  it('include the remaining days of the token only before it expires', () => {
    const { plan } = resultOn(BUSY);
    expect(rareMetrics(plan).TokenDaysLeft).toBeUndefined();
    const finding: Finding = { code: 'token-expires', at: '2026-11-23T21:00:00.000Z' };
    expect(rareMetrics({ ...plan, findings: [finding] }).TokenDaysLeft).toBe(3.5);
  });
});

it.each<{ readonly findings: readonly Finding[]; readonly metrics: object }>([
  { findings: [], metrics: {} },
  {
    findings: [{ code: 'count-contested', pool: 'cpu' as PoolName, changes: 3 }],
    metrics: { ContestedPools: 1 },
  },
  { findings: [{ code: 'license-missing' }], metrics: { LicenseProblem: 1 } },
  { findings: [{ code: 'license-in-grace' }, { code: 'license-missing' }], metrics: { LicenseProblem: 1 } },
  { findings: [{ code: 'license-in-grace' }], metrics: { LicenseProblem: 1 } },
  { findings: [{ code: 'version-unknown' }], metrics: {} },
])('writes the rare metrics $metrics for $findings', ({ findings, metrics }) => {
  const { plan } = resultOn(BUSY);
  const written = Object.entries(rareMetrics({ ...plan, findings })).filter(
    ([, value]) => value !== undefined,
  );
  expect(Object.fromEntries(written)).toEqual(metrics);
});

it.each<{ readonly findings: readonly Finding[]; readonly failing: number; readonly failed: number }>([
  { findings: [], failing: 0, failed: 0 },
  { findings: [], failing: 2, failed: 2 },
  {
    findings: [{ code: 'starts-failing', pool: 'cpu' as PoolName, tasks: 3, reason: '' }],
    failing: 0,
    failed: 3,
  },
  {
    findings: [{ code: 'starts-failing', pool: 'cpu' as PoolName, tasks: 3, reason: '' }],
    failing: 1,
    failed: 1,
  },
  {
    findings: [
      { code: 'placement-failing', pool: 'cpu' as PoolName, tasks: 0, reason: '', since: '' },
      { code: 'placement-failing', pool: 'gpu' as PoolName, tasks: 4, reason: '', since: '' },
      { code: 'version-unknown' },
    ],
    failing: 0,
    failed: 5,
  },
])('counts $failed failed starts with $failing now and the findings $findings', (row) => {
  const { plan, ...result } = resultOn({ pools: { cpu: {} } });
  const pools = plan.pools.map((pool) => ({ ...pool, daemons: { ...pool.daemons, failing: row.failing } }));
  const given = { ...result, plan: { ...plan, pools, findings: row.findings } };
  expect(lookMetrics(given, eventOf(given), 0).FailedStarts).toBe(row.failed);
});

it('tells of a metric that its limit is crossed with the name of its alarm', () => {
  const limits = {
    ...{ OldestPendingAge: 300, UnservedJobs: 0, FailedStarts: 0, PoolsAtMax: 0, TickAge: 300 },
    ...{ StuckTasks: 0, DeadBuilds: 0, ContestedPools: 0, LicenseProblem: 0 },
  };
  const alarms = Object.entries(limits).map(([name, limit]) => {
    expect(alarmsOf({ failures: [] }, { [name]: limit })).toEqual({});
    return [name, alarmsOf({ failures: [] }, { [name]: limit + 1 }).alarms];
  });
  expect(Object.fromEntries(alarms)).toEqual({
    OldestPendingAge: 'job-waits',
    UnservedJobs: 'unserved-jobs',
    FailedStarts: 'starts-failing',
    PoolsAtMax: 'pool-at-max',
    TickAge: 'sight-lost',
    StuckTasks: 'drain-stuck',
    DeadBuilds: 'builds-died',
    ContestedPools: 'count-contested',
    LicenseProblem: 'license-ends',
  });
  for (const name of ['PendingJobs', 'Launches', 'LostJobs'])
    expect(alarmsOf({ failures: [] }, { [name]: 9 })).toEqual({});
});

it.each([
  'organization-unknown',
  'daemons-empty-while-leased',
  'jobs-empty-while-busy',
  'worker-unknown',
  'daemons-share-task',
  'heartbeats-old',
  'clocks-differ',
  'server-too-old',
  'tasks-fewer-than-counted',
  ...['jobs', 'daemons', 'previous-jobs', 'services', 'tasks', 'protections'].flatMap((list) =>
    ['truncated', 'forbidden', 'failed', 'stale'].map((status) => `${list}-${status}`),
  ),
])('has no full view with the finding %s', (code) => {
  const { plan } = resultOn(BUSY);
  let now = 0;
  const age = new FullViewAge({ now: () => now as EpochMs, sleep: async () => {} });
  now = 60_000;
  expect(age.after({ ...plan, findings: [{ code } as Finding] })).toBe(60);
});

it('counts stuck tasks only if there are any', () => {
  const { plan } = resultOn(BUSY);
  expect(rareMetrics(plan).StuckTasks).toBeUndefined();
  const pool = 'cpu' as PoolName;
  const tasks = ['a', 'b'] as unknown as readonly TaskArn[];
  const findings: readonly Finding[] = [
    { code: 'tasks-draining-for-long', pool, tasks },
    { code: 'tasks-draining-without-daemon', pool, tasks: tasks.slice(1) },
    { code: 'tasks-vacant', pool, tasks },
  ];
  expect(rareMetrics({ ...plan, findings }).StuckTasks).toBe(3);
});

describe('the metrics of a look that could not read everything', () => {
  const { snapshot, plan } = resultOn(BUSY);
  const [organization] = snapshot.coder.organizations;
  if (organization === undefined) throw new Error('the picture has an organization');
  const unread = { status: 'failed', error: 'no answer', items: [] } as const;
  const metricsWith = (coder: Partial<Snapshot['coder']>, ecs: Partial<Snapshot['ecs']> = {}) => {
    const partial = { ...snapshot, coder: { ...snapshot.coder, ...coder }, ecs: { ...snapshot.ecs, ...ecs } };
    const result = resultOf(partial, { ...plan, unserved: [], pools: [], assignment: [] });
    return Object.keys(lookMetrics(result, eventOf(result), 0));
  };
  const without = (list: 'jobs' | 'daemons') => ({ ...organization, [list]: unread });

  it('have no number of jobs while a list of jobs fails', () => {
    expect(metricsWith({ organizations: [without('jobs')] })).toEqual(['FailedStarts']);
    expect(metricsWith({ organizations: [organization, without('jobs')] })).toEqual([
      'FailedStarts',
      'TickAge',
    ]);
  });

  it('have no number of failed starts while a list that shows them fails', () => {
    for (const list of ['tasks', 'protections'] as const)
      expect(metricsWith({}, { [list]: unread })).toEqual(['OldestPendingAge', 'UnservedJobs', 'TickAge']);
    expect(metricsWith({}, { services: unread })).toEqual(['OldestPendingAge', 'UnservedJobs']);
    expect(metricsWith({ organizations: [without('daemons')] })).not.toContain('FailedStarts');
  });

  it('have what is bad already, because the rest could only be worse', () => {
    const stale = { ...organization, jobs: { ...organization.jobs, status: 'stale' as const } };
    const partial = { ...snapshot, coder: { ...snapshot.coder, organizations: [stale] } };
    const result = resultOf(partial, plan);
    const event = eventOf(result);
    expect(lookMetrics(result, event, 0)).toMatchObject({ OldestPendingAge: 400, UnservedJobs: 2 });
    expect(lookMetrics(result, event, 0)).not.toHaveProperty('PendingJobs');
  });

  it('have the numbers of the others while coderd refuses one organization for good', () => {
    const refused = { ...organization, jobs: { ...unread, status: 'forbidden' as const } };
    expect(metricsWith({ organizations: [organization, refused] })).toContain('OldestPendingAge');
    expect(metricsWith({ organizations: [refused] })).not.toContain('OldestPendingAge');
  });

  it('have of each pool only what was read', () => {
    const metricsOfPools = (ecs: Partial<Snapshot['ecs']>, coder: Partial<Snapshot['coder']> = {}) => {
      const partial = {
        ...snapshot,
        coder: { ...snapshot.coder, ...coder },
        ecs: { ...snapshot.ecs, ...ecs },
      };
      return poolMetrics({ snapshot: partial, plan }).map(([, values]) => Object.keys(values));
    };
    const each = (...names: readonly string[]) => plan.pools.map(() => names);
    expect(metricsOfPools({})).toEqual(each('PendingJobs', 'BusyDaemons', 'DesiredTasks'));
    expect(metricsOfPools({ tasks: unread })).toEqual(each('PendingJobs', 'DesiredTasks'));
    expect(metricsOfPools({ services: unread })).toEqual(each('PendingJobs'));
    expect(metricsOfPools({}, { organizations: [without('jobs')] })).toEqual(
      each('BusyDaemons', 'DesiredTasks'),
    );
  });

  it('lack the look itself, for the alarm no-tick, only if no pool can be judged', () => {
    const blind = (...organizations: readonly (typeof organization)[]): boolean =>
      isBlind({ ...snapshot, coder: { ...snapshot.coder, organizations } });
    expect(blind(organization, without('jobs'))).toBe(false);
    expect(blind(without('jobs'), without('jobs'))).toBe(true);
    expect(blind(without('daemons'))).toBe(true);
    expect(isBlind({ ...snapshot, ecs: { ...snapshot.ecs, services: unread } })).toBe(true);
    expect(isBlind({ ...snapshot, ecs: { ...snapshot.ecs, tasks: unread } })).toBe(false);
  });
});

describe('the age of the last full view', () => {
  const { plan } = resultOn(BUSY);
  const calm = { ...plan, findings: [] };
  const seen = (...findings: readonly Finding[]): Plan => ({ ...plan, findings });

  function ages(...looks: readonly (readonly [atS: number, plan: Plan])[]): readonly number[] {
    let nowS = 0;
    const age = new FullViewAge({ now: () => (nowS * 1000) as EpochMs, sleep: async () => {} });
    return looks.map(([atS, look]) => {
      nowS = atS;
      return age.after(look);
    });
  }

  it('is zero after a full view and grows until the next one', () => {
    const blind = seen({ code: 'jobs-failed', organization: 'default', error: 'no' });
    expect(ages([5, calm], [65, blind], [125, blind], [185, calm])).toEqual([0, 60, 120, 0]);
  });

  it('counts from the start of the instance without any full view, and never backwards', () => {
    const blind = seen({ code: 'tasks-failed' });
    expect(ages([10, blind], [-60, blind])).toEqual([10, 0]);
  });

  const token: Finding = { code: 'token-expires', at: '2026-11-23T21:00:00.000Z' };
  it.each([
    { finding: token, age: 0, because: 'the view is full' },
    {
      finding: {
        code: 'override-malformed',
        pool: 'cpu' as PoolName,
        tag: 't',
        seen: 'x',
        problem: 'no-end',
      } as const,
      age: 0,
      because: 'a person wrote the override',
    },
    {
      finding: { code: 'workspaces-failed', organization: 'a' } as const,
      age: 0,
      because: 'the forecast does not count',
    },
    {
      finding: { code: 'worker-unknown', organization: 'a', jobs: 1, jobIds: [], pools: [] } as const,
      age: 60,
      because: 'coderd contradicts itself',
    },
    {
      finding: { code: 'jobs-truncated', organization: 'a' } as const,
      age: 60,
      because: 'the oldest jobs are missing',
    },
  ])('is $age s after $finding.code: $because', ({ finding, age }) => {
    expect(ages([0, calm], [60, seen(finding)])[1]).toBe(age);
  });
});

const LARGE = { jobs: 500, pools: 50, daemons: 100, workspaces: 100 };
const large = await observeFleet(makeFleet(LARGE, 1));

describe('what does not fit', () => {
  /** The limits of Lambda and CloudWatch. */
  const LOG_EVENT = 256 * 1024;
  const ANSWER = 6 * 1024 * 1024;
  const ENVELOPE = 2 * 1024;
  const snapshot = inGroups(large.snapshot, 17);
  const plan = decide(snapshot, large.config);

  /** Copies each pending job so often, with one more tag: each copy is a tag group of its own. */
  function inGroups({ coder, ...rest }: Snapshot, copies: number): Snapshot {
    const copiesOf = (job: Job): readonly Job[] =>
      Array.from({ length: copies }, (_, copy) => {
        const id = jobId(`${job.id}-${copy}`);
        return { ...job, id, tags: { ...job.tags, ticket: id } };
      });
    const organizations = coder.organizations.map(({ jobs, ...organization }) => ({
      ...organization,
      jobs: {
        ...jobs,
        items: jobs.items.flatMap((job) => (job.status === 'pending' ? copiesOf(job) : [job])),
      },
    }));
    return { ...rest, coder: { ...coder, organizations } };
  }

  /** Gives each pool the most overrides, with the longest texts that a tag can have. */
  function withTexts(given: Plan): Plan {
    const text = 'x'.repeat(256);
    const override = { until: given.takenAt, by: text, why: text };
    const overrides = [
      { kind: 'pause', ...override },
      { kind: 'pause-scale-in', ...override },
      { kind: 'pin', count: 1, ...override },
    ] as const;
    return { ...given, pools: given.pools.map((pool) => ({ ...pool, overrides })) };
  }

  it('is left out and counted for 8,000 tag groups and 50 pools', () => {
    const full = withTexts(plan);
    const failures = Array.from({ length: 50 }, () => ({ message: 'é'.repeat(5_000) }));
    const event = eventOf({ ...resultOf(snapshot, full), failures });
    expect(bytesOf(event)).toBeLessThan(LOG_EVENT - ENVELOPE);
    expect(event.pools).toHaveLength(50);
    expect(event.groups.length).toBeGreaterThan(100);
    expect(event.groups.length + (event.leftOut.groups ?? 0)).toBeGreaterThan(8_000);
    expect(event.failures[0]).toBe(`${'é'.repeat(2_000)} …`);
    expect(event.groups.map(({ oldestSeconds }) => oldestSeconds)).toEqual(
      event.groups.map(({ oldestSeconds }) => oldestSeconds).toSorted((a, b) => b - a),
    );
  });

  it('is left out of the answer of a dry run, and its last line says so', () => {
    const answer = answerOf({ ...withTexts(plan), ...NO_PROMISES });
    expect(bytesOf(answer)).toBeLessThan(ANSWER);
    expect(answer.pools).toHaveLength(50);
    expect(answer.unserved.length + (answer.leftOut.unserved ?? 0)).toBe(plan.unserved.length);
    expect(answer.leftOut.unserved).toBeGreaterThan(0);
    expect(answer.text.split('\n').at(-1)).toMatch(
      /^left out because Lambda answers at most 6 MB: .*\d+ rows of unserved.*\. Run autoscaler plan to see all rows$/,
    );
  });

  it('cuts the promised starts of an answer, and says how many', () => {
    const pendingJobs = Array.from({ length: 5_000 }, (_, index) => ({
      ...{ id: `job-${index}` as never, organization: 'default', tags: { a: 'x'.repeat(100) } },
      ...{ type: 'workspace_build', workspace: 'é'.repeat(60), createdAt: plan.takenAt, pool: null },
      ...{ startsAt: { p50: plan.takenAt, p95: plan.takenAt }, why: null, failsAt: null },
      runningBuilds: 0,
    }));
    const answer = answerOf({ ...withTexts(plan), pendingJobs, pendingJobsLeftOut: 7 });
    expect(bytesOf(answer)).toBeLessThan(ANSWER);
    expect(answer.pendingJobs.length + (answer.leftOut.pendingJobs ?? 0)).toBe(5_000);
    expect(answer.pendingJobs.length).toBeGreaterThan(500);
    expect(answer.pendingJobsLeftOut).toBe(7);
  });

  it('is empty for a small plan', () => {
    const { plan: small } = resultOn(BUSY);
    const { text, leftOut, ...rest } = answerOf({ ...small, ...NO_PROMISES });
    expect(rest).toEqual({ ...small, ...NO_PROMISES });
    expect(leftOut).toEqual({});
    expect(text).not.toMatch(/left out/);
  });

  it.each([
    { rows: ['a', 'b'], bytes: 8, kept: ['a', 'b'], because: 'each row has quotes and a comma' },
    { rows: ['a', 'b'], bytes: 7, kept: ['a'], because: 'one byte is missing' },
    { rows: ['é', 'b'], bytes: 8, kept: ['é'], because: 'bytes are counted, not characters' },
    { rows: [], bytes: 0, kept: [], because: 'an empty list has no bytes' },
  ])('leaves $kept of $rows in $bytes bytes: $because', ({ rows, bytes, kept }) => {
    expect(fitting(rows, bytes)).toEqual(kept);
  });
});

// Which builds that died with their tasks a process logs, and when again.

const build = (job: string, given: Partial<DeadBuild> = {}): DeadBuild => ({
  job: job as JobId,
  workspace: 'dev',
  workspaceId: 'w',
  owner: null,
  transition: 'start',
  template: 'linux',
  startedAt: '2026-11-20T08:45:00.000Z',
  stoppedAt: '2026-11-20T08:50:00.000Z',
  task: '1',
  cause: 'spot',
  reason: 'Your Spot Task was interrupted.',
  ...given,
});

const planWith = (...builds: readonly DeadBuild[]): Plan =>
  ({
    findings: [
      { code: 'build-died-with-task', pool: 'cpu' as PoolName, organization: 'default', builds },
      { code: 'version-unknown' },
    ],
  }) as unknown as Plan;

it('logs a death once, with flat fields and its pool', () => {
  const events = new OrphanEvents();
  const plan = planWith(build('a'));
  expect(events.newOf(plan)).toEqual([{ pool: 'cpu', organization: 'default', ...build('a') }]);
  expect(events.newOf(plan)).toEqual([]);
  expect(events.newOf(planWith(build('b'), build('a'))).map(({ job }) => job)).toEqual(['b']);
});

it('logs a death again once more is known of it, and not when less is known', () => {
  const events = new OrphanEvents();
  events.newOf(planWith(build('a')));
  const more = build('a', { owner: 'alice' });
  expect(events.newOf(planWith(more))).toMatchObject([{ owner: 'alice' }]);
  expect(events.newOf(planWith(build('a')))).toEqual([]);
  expect(events.newOf(planWith(more))).toEqual([]);
});

it('does not log a death again after a look that did not see its task', () => {
  const events = new OrphanEvents();
  events.newOf(planWith(build('a')));
  events.newOf(planWith());
  expect(events.newOf(planWith(build('a')))).toEqual([]);
});

it('remembers 2,000 deaths', () => {
  const events = new OrphanEvents();
  const all = Array.from({ length: 2_000 }, (_, index) => build(`${index}`));
  events.newOf(planWith(...all));
  expect(events.newOf(planWith(...all))).toEqual([]);
  events.newOf(planWith(build('one more')));
  expect(events.newOf(planWith(...all.slice(0, 2).reverse())).map(({ job }) => job)).toEqual(['0']);
});

it('logs a death again in a new process', () => {
  new OrphanEvents().newOf(planWith(build('a')));
  expect(new OrphanEvents().newOf(planWith(build('a')))).toHaveLength(1);
});

it('counts the builds that died in the metric, and has no value without one', () => {
  expect(rareMetrics(planWith(build('a'), build('b'))).DeadBuilds).toBe(2);
  expect(rareMetrics(planWith()).DeadBuilds).toBeUndefined();
});
