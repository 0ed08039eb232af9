/** The requests of a look for the forecast and the record, and what it derives from the answers. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../lambda/decision/decide.ts';
import type { EpochMs, OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import type { Daemon, ForecastReadings, Job, Reading } from '../../lambda/decision/model/snapshot.ts';
import { observe } from '../../lambda/look/observe.ts';
import type { Coderd, Ecs, Organization, SecretList, SeenJobs } from '../../lambda/look/ports.ts';
import { TimeLimit } from '../../lambda/look/time-limit.ts';
import { startLab } from '../support/lab.ts';
import {
  aConfig,
  aDaemon,
  ago,
  aJob,
  aLease,
  aPool,
  arnOf,
  aService,
  aTask,
  aTemplate,
  aWorkspace,
  jobId,
  MINUTE,
  NOW,
  poolName,
  reading,
  SECOND,
  taskIdOf,
} from '../support/parts.ts';

const organization = (name: string): Organization => ({ id: `org-${name}` as OrganizationId, name });

const FORECAST: ForecastReadings = {
  workspaces: { ...reading([aWorkspace()]), takenAt: ago(3 * MINUTE) },
  templates: { ...reading([aTemplate()]), takenAt: ago(4 * MINUTE) },
  activeVersionTags: { template: { size: 'big' } },
};

type Asked = { readonly organizations: readonly string[]; readonly now: EpochMs; readonly refreshMs: number };

const at = <T>(items: readonly T[], takenAt: EpochMs): Reading<T> => ({ status: 'ok', takenAt, items });

const RECENT: Reading<Job> = at([aJob()], NOW);

/** A coderd with these empty organizations. It records its calls. */
function coderdOf(names: readonly string[]) {
  const asked: Asked[] = [];
  const recorded: (SeenJobs & { readonly name: string })[] = [];
  const coderd: Coderd = {
    buildInfo: async () => at([{ version: 'v2.30.0' }], NOW),
    organizations: async () => reading(names.map(organization)),
    jobs: async () => at([], NOW),
    daemons: async () => at([], NOW),
    jobsByIds: async () => reading([]),
    forecast: async (organizations, when) => {
      asked.push({ organizations: organizations.map(({ name }) => name), ...when });
      return new Map(organizations.map(({ id }) => [id, FORECAST]));
    },
    recentJobs: ({ name }, seen) => {
      recorded.push({ name, ...seen });
      return RECENT;
    },
    knowsEnd: () => false,
    gone: () => [],
    tokenExpiry: async () => undefined,
    license: async () => ({}),
  };
  return { coderd, asked, recorded };
}

const ecs: Ecs = {
  cluster: 'coder',
  services: async () => reading([]),
  tasks: async () => reading([]),
  protections: async () => reading([]),
  setDesired: async () => {},
  requestDrain: async () => [],
  protect: async () => [],
};
const clock = { now: () => ago(-SECOND), sleep: async () => {} };

async function observed({ coderd }: { readonly coderd: Coderd }, ...pools: readonly PoolConfig[]) {
  return observe({ coderd, ecs, clock }, aConfig(...pools));
}

describe('the forecast', () => {
  it('is read only for organizations with a pool that can wake', async () => {
    const own = coderdOf(['default', 'data']);
    const { coder, takenAt } = await observed(
      own,
      aPool(),
      aPool({ organization: 'data', wake: false }),
      aPool({ organization: 'missing' }),
    );
    const [data, known, missing] = coder.organizations;
    expect(known).toMatchObject({ name: 'default', ...FORECAST });
    expect(data).not.toHaveProperty('workspaces');
    expect(missing).not.toHaveProperty('workspaces');
    const build = { version: 'v2.30.0' };
    expect(own.asked).toEqual([
      { organizations: ['default'], now: NOW, build, refreshMs: (10 * MINUTE) / 3 },
    ]);
    // the forecast is minutes old, but the decision is of now
    expect(takenAt).toBe(NOW);
  });

  it('is not read if no pool can wake', async () => {
    const own = coderdOf(['default']);
    await observed(own, aPool({ wake: false }));
    expect(own.asked).toEqual([]);
  });

  it('is read for an organization that is named by its id', async () => {
    const own = coderdOf(['default']);
    await observed(own, aPool({ organization: 'org-default' }));
    expect(own.asked.map(({ organizations }) => organizations)).toEqual([['default']]);
  });

  it('is kept between invocations', async () => {
    const requests: string[] = [];
    const lab = await startLab({
      pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 }],
      onRequest: ({ operation }) => requests.push(operation),
    });
    for (const seconds of [60, 60, 200]) {
      const { coder } = await observe(lab.ports(), lab.config);
      expect(coder.organizations[0]?.workspaces?.status).toBe('ok');
      lab.pass(seconds);
    }
    await observe(lab.ports(), lab.config);
    expect(requests.filter((operation) => operation.endsWith('/workspaces'))).toHaveLength(2);
  });

  it("uses this machine's clock if coderd sends no time", async () => {
    const { coderd, asked } = coderdOf(['default']);
    const mute: Coderd = {
      ...coderd,
      buildInfo: async () => ({ status: 'failed', error: 'none', items: [] }),
    };
    await observed({ coderd: mute }, aPool());
    expect(asked.map(({ now }) => now)).toEqual([ago(-SECOND)]);
  });
});

it('is a look of the earliest time that coderd sent with its lists', async () => {
  const { coderd } = coderdOf(['default', 'data']);
  const times = [ago(SECOND), ago(3 * SECOND)];
  const ahead: Coderd = {
    ...coderd,
    jobs: async () => at([], times.shift() ?? NOW),
    daemons: async () => at([], ago(-2 * SECOND)),
  };
  const { takenAt } = await observed({ coderd: ahead }, aPool(), aPool({ organization: 'data' }));
  expect(takenAt).toBe(ago(3 * SECOND));
});

it("is a look of AWS's time if coderd sent none, and of its own without both", async () => {
  const coderd: Coderd = {
    ...coderdOf(['default']).coderd,
    jobs: async () => reading([]),
    daemons: async () => reading([]),
  };
  const timed: Ecs = { ...ecs, services: async () => at([], ago(4 * SECOND)) };
  expect((await observe({ coderd, ecs: timed, clock }, aConfig(aPool()))).takenAt).toBe(ago(4 * SECOND));
  expect((await observed({ coderd }, aPool())).takenAt).toBe(clock.now());
});

it('reads the tasks of hidden services, and the protections of running tasks of services only', async () => {
  const asked: unknown[] = [];
  const cut = 'arn:aws:ecs:eu-central-1:1:service/coder/hidden';
  const tasks = [
    aTask({ taskArn: arnOf(1) }),
    aTask({ taskArn: arnOf(2), group: 'service:hidden' }),
    aTask({ taskArn: arnOf(3), group: 'service:others' }),
    aTask({ taskArn: arnOf(4), lastStatus: 'PENDING' }),
    aTask({ taskArn: arnOf(5), desiredStatus: 'STOPPED' }),
  ];
  const asking: Ecs = {
    ...ecs,
    services: async () => ({
      ...reading([aService({ serviceName: 'Stack-cpu' })]),
      leftOut: [
        { row: cut, why: 'no count' },
        { row: 'row 3', why: 'no ARN' },
      ],
    }),
    tasks: async (services) => {
      asked.push(services.map(({ serviceName }) => serviceName));
      return reading(tasks);
    },
    protections: async (arns) => {
      asked.push(arns);
      return reading([]);
    },
  };
  await observe({ coderd: coderdOf([]).coderd, ecs: asking, clock }, aConfig(aPool()));
  expect(asked).toEqual([
    ['Stack-cpu', 'hidden'],
    [arnOf(1), arnOf(2)],
  ]);
});

it('asks for secrets that are older than the oldest task that has not stopped', async () => {
  const wanted: unknown[] = [];
  const secrets: SecretList = {
    entries: async (all) => {
      wanted.push(...all.map(({ oldestTaskAt }) => oldestTaskAt));
      return reading([]);
    },
  };
  const tasks = [
    aTask({ taskArn: arnOf(1), createdAt: ago(9 * MINUTE), lastStatus: 'STOPPED' }),
    aTask({ taskArn: arnOf(2), createdAt: ago(5 * MINUTE) }),
    aTask({ taskArn: arnOf(3), createdAt: ago(3 * MINUTE) }),
    aTask({ taskArn: arnOf(4), createdAt: ago(7 * MINUTE), group: 'service:others' }),
  ];
  const asking: Ecs = {
    ...ecs,
    services: async () => reading([aService()]),
    tasks: async () => reading(tasks),
  };
  await observe({ coderd: coderdOf([]).coderd, ecs: asking, secrets, clock }, aConfig(aPool()));
  expect(wanted).toEqual([ago(5 * MINUTE)]);
});

describe('unreadable organizations', () => {
  it('have failed lists while the list of organizations is cut: absence proves nothing', async () => {
    const own = coderdOf([]);
    const cut: Reading<never> = { status: 'truncated', error: 'too many', items: [] };
    const { coder } = await observed({ coderd: { ...own.coderd, organizations: async () => cut } }, aPool());
    expect(coder.organizations).toMatchObject([
      { jobs: { status: 'failed', error: 'too many' }, daemons: { status: 'failed', error: 'too many' } },
    ]);
  });

  it('stay distinct: their pools are not reported as duplicates', async () => {
    const own = coderdOf([]);
    const failed: Reading<never> = { status: 'failed', error: 'no answer from coderd', items: [] };
    const coderd: Coderd = { ...own.coderd, organizations: async () => failed };
    const pools = [
      aPool({ name: poolName('cpu') }),
      aPool({ name: poolName('data-cpu'), organization: 'data' }),
    ];
    const snapshot = await observed({ coderd }, ...pools);
    expect(snapshot.coder.organizations.map(({ jobs }) => jobs.status)).toEqual(['failed', 'failed']);
    const codes = decide(snapshot, aConfig(...pools)).findings.map(({ code }) => code);
    expect(codes).toContain('jobs-failed');
    expect(codes).not.toContain('pools-alike');
  });
});

describe('readings that are late', () => {
  const never = () => new Promise<never>(() => {});
  const lateBy = (what: string) => ({
    status: 'failed',
    items: [],
    error: `${what}: the readings of this look took longer than 0.02 s; check the load of coderd and its database, and the network`,
  });

  it('fail together when the time of the look is up, and the others count', async () => {
    const own = coderdOf(['default', 'data']);
    const waiting = at([aJob({ organization_id: organization('default').id, status: 'pending' })], NOW);
    const coderd: Coderd = {
      ...own.coderd,
      jobs: async ({ name }) => (name === 'default' ? waiting : never()),
      tokenExpiry: never,
      license: never,
    };
    const pools = [aPool(), aPool({ name: poolName('data-cpu'), organization: 'data' })];
    const clusters: Ecs = { ...ecs, tasks: never };
    const snapshot = await observe(
      { coderd, ecs: clusters, clock },
      aConfig(...pools),
      new TimeLimit({ ms: 20 }),
    );
    const [data, known] = snapshot.coder.organizations;
    expect(data?.jobs).toEqual({ ...lateBy('listing provisioner jobs of organization "data"'), tookMs: 20 });
    expect(known?.jobs).toBe(waiting);
    expect(snapshot.ecs.tasks).toMatchObject(lateBy('listing tasks of cluster "coder"'));
  });

  it('end their requests when the time of the look is up', async () => {
    const own = coderdOf(['default']);
    const signals: (AbortSignal | undefined)[] = [];
    const pending = (signal: AbortSignal | undefined) => {
      signals.push(signal);
      return never();
    };
    const coderd: Coderd = {
      ...own.coderd,
      jobs: (_organization, _build, signal) => pending(signal),
      daemons: (_organization, _build, signal) => pending(signal),
    };
    const clusters: Ecs = { ...ecs, services: (signal) => pending(signal) };
    const secrets: SecretList = {
      entries: async (_wanted, _now, signal) => {
        signals.push(signal);
        return reading([]);
      },
    };
    await observe({ coderd, ecs: clusters, secrets, clock }, aConfig(aPool()), new TimeLimit({ ms: 20 }));
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true, true, true]);
  });

  it('end with the invocation', async () => {
    const own = coderdOf(['default']);
    const over = new AbortController();
    const mute: Ecs = { ...ecs, services: never };
    const observing = observe(
      { ...own, ecs: mute, clock },
      aConfig(aPool()),
      new TimeLimit({ until: over.signal }),
    );
    over.abort();
    expect((await observing).ecs.services).toMatchObject({
      status: 'failed',
      error:
        'listing services of cluster "coder": the invocation ended before the answer came; the next one looks again',
    });
  });

  it('fail one after another without any answer', async () => {
    const own = coderdOf(['default']);
    const coderd: Coderd = { ...own.coderd, buildInfo: never, organizations: never };
    const mute: Ecs = { ...ecs, services: never, tasks: never, protections: never };
    const { coder, ...snapshot } = await observe(
      { coderd, ecs: mute, clock },
      aConfig(aPool()),
      new TimeLimit({ ms: 20 }),
    );
    expect(coder.organizations[0]?.jobs).toEqual(lateBy('listing organizations'));
    expect(snapshot.ecs.services).toMatchObject(lateBy('listing services of cluster "coder"'));
  });
});

it('names the pools that need a service, both parts of one on Spot with fail-over', async () => {
  const wanted: unknown[] = [];
  const asking: Ecs = {
    ...ecs,
    services: async (_, now, pools) => {
      wanted.push(now, pools);
      return reading([]);
    },
  };
  const both = aPool({ name: poolName('both'), capacity: ['spot', 'on-demand'] });
  await observe({ coderd: coderdOf([]).coderd, ecs: asking, clock }, aConfig(aPool(), both));
  expect(wanted).toEqual([clock.now(), ['cpu', 'both', 'both/spot']]);
});

describe('the license', () => {
  const lease = aLease();
  const clusters: Ecs = {
    ...ecs,
    services: async () => reading([aService()]),
    tasks: async () => reading([aTask()]),
  };
  const own = aDaemon({ name: `cpu-${taskIdOf(1)}` });

  it.each<{
    daemons: Reading<Daemon>;
    license?: 'not_entitled';
    released?: true;
    doubts: boolean;
    because: string;
  }>([
    {
      ...{ daemons: at([], NOW), license: 'not_entitled', doubts: false },
      because: 'coderd has said that there is none',
    },
    { daemons: at([], NOW), released: true, doubts: false, because: 'the task has no lease any more' },
    { daemons: at([], NOW), doubts: true, because: 'coderd may have refused the daemon of a leased task' },
    { daemons: at([own], NOW), doubts: false, because: 'coderd lists the daemon of each leased task' },
    {
      daemons: { status: 'failed', error: 'none', items: [] },
      doubts: false,
      because: 'the list could not be read, and says nothing about daemons',
    },
    {
      daemons: { status: 'truncated', error: 'none', items: [] },
      doubts: false,
      because: 'the list has not all rows',
    },
  ])('is asked for again ($doubts): $because', async ({ daemons, doubts, released, license }) => {
    const asked: boolean[] = [];
    const protections = async () => reading([released ? { ...lease, protectionEnabled: false } : lease]);
    const coderd: Coderd = {
      ...coderdOf(['default']).coderd,
      daemons: async () => daemons,
      license: async (_, isDoubted) => {
        asked.push(isDoubted);
        return { license: license ?? 'entitled' };
      },
    };
    await observe({ coderd, ecs: { ...clusters, protections }, clock }, aConfig(aPool()));
    expect(asked).toEqual(doubts ? [false, true] : [false]);
  });
});

describe('the record of recent jobs', () => {
  it('gets the lists of this look for each organization that coderd lists', async () => {
    const own = coderdOf(['default', 'data']);
    const [jobs, previous] = [at([aJob()], NOW), at([aJob()], NOW)];
    const idle = aDaemon({ previous_job: { id: jobId('previous'), status: 'succeeded' } });
    const coderd: Coderd = {
      ...own.coderd,
      jobs: async () => jobs,
      daemons: async () => at([idle], NOW),
      jobsByIds: async () => previous,
    };
    const pools = [aPool(), aPool({ organization: 'data', wake: false }), aPool({ organization: 'missing' })];
    const { coder } = await observed({ coderd }, ...pools);
    expect(coder.organizations.map(({ recentJobs }) => recentJobs)).toEqual([RECENT, RECENT, undefined]);
    expect(coder.organizations.at(-1)).not.toHaveProperty('recentJobs');
    expect(own.recorded.map(({ name }) => name)).toEqual(['data', 'default']);
    const [data, known] = own.recorded;
    expect(known).toEqual({
      name: 'default',
      jobs,
      previousJobs: previous,
      workspaces: FORECAST.workspaces,
      now: NOW,
    });
    // the record recognizes a list by its object
    expect(known?.workspaces).toBe(FORECAST.workspaces);
    expect(data?.workspaces).toBeUndefined();
  });

  it('gets the readable lists when others fail', async () => {
    const own = coderdOf(['default']);
    const failed: Reading<never> = { status: 'failed', error: 'none', items: [] };
    const coderd: Coderd = {
      ...own.coderd,
      buildInfo: async () => failed,
      jobs: async () => failed,
      forecast: async () => new Map(),
    };
    const { coder } = await observed({ coderd }, aPool());
    expect(coder.organizations.map(({ recentJobs }) => recentJobs)).toEqual([RECENT]);
    expect(own.recorded).toMatchObject([{ jobs: failed, previousJobs: { status: 'ok' }, now: ago(-SECOND) }]);
  });

  it('is kept between invocations', async () => {
    const lab = await startLab({
      pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 1 }],
    });
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 20 * SECOND });
    const items: (readonly Job[])[] = [];
    for (const seconds of [0, 300, 10, 10]) {
      lab.pass(seconds);
      const { coder } = await observe(lab.ports(), lab.config);
      items.push(coder.organizations[0]?.recentJobs?.items ?? []);
    }
    expect(items.map((jobs) => jobs.map(({ status }) => status))).toEqual([
      ['pending'],
      ['succeeded'],
      ['succeeded'],
      ['succeeded'],
    ]);
    expect(items[3]).toBe(items[1]);
  });
});

describe('previous jobs are read', () => {
  const failed = { id: jobId('failed'), status: 'failed' };
  const gone = aDaemon({ status: 'offline', last_seen_at: ago(30 * MINUTE), previous_job: failed });
  const late = { ...gone, previous_job: { ...failed, status: 'succeeded' } };
  it.each([
    { daemon: aDaemon({ previous_job: failed }), asked: ['failed'], because: 'of an idle daemon' },
    { daemon: gone, asked: ['failed'], because: 'of a daemon that is gone, whose job failed' },
    {
      daemon: { ...gone, previous_job: { ...failed, status: 'succeeded' } },
      asked: [],
      because: 'not if the job of a daemon that is gone succeeded',
    },
    {
      daemon: { ...late, last_seen_at: ago(150 * SECOND) },
      asked: ['failed'],
      because: 'of one whose heartbeat is late, which may be idle',
    },
    {
      daemon: { ...late, last_seen_at: ago(151 * SECOND) },
      asked: [],
      because: 'not of one whose heartbeat is more than late',
    },
    {
      daemon: { ...gone, last_seen_at: ago(70 * MINUTE) },
      asked: [],
      because: 'not if ECS has long forgotten its task',
    },
    { daemon: { ...gone, current_job: failed }, asked: [], because: 'not beside a current job' },
    { daemon: gone, knows: true, asked: [], because: 'not if an earlier look saw how the job ended' },
  ])('$because', async ({ daemon, knows = false, asked }) => {
    const { coderd } = coderdOf(['default']);
    const ids: string[] = [];
    await observed(
      {
        coderd: {
          ...coderd,
          daemons: async () => at([daemon], NOW),
          knowsEnd: () => knows,
          jobsByIds: async (_, wanted) => {
            ids.push(...wanted);
            return reading([]);
          },
        },
      },
      aPool(),
    );
    expect(ids).toEqual(asked);
  });

  it('and jobs that have left the queue, which coderd may have failed', async () => {
    const { coderd } = coderdOf(['default']);
    const ids: string[] = [];
    const jobsByIds: Coderd['jobsByIds'] = async (_, wanted) => {
      ids.push(...wanted);
      return reading([]);
    };
    await observed({ coderd: { ...coderd, gone: () => [jobId('lost')], jobsByIds } }, aPool());
    expect(ids).toEqual(['lost']);
  });
});
