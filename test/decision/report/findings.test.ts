/** The findings: each one in its case, and in no other. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { ServiceArn } from '../../../lambda/decision/model/brands.ts';
import { DAY_MS as DAY } from '../../../lambda/decision/model/units.ts';
import { unservedSentence } from '../../../lambda/explain/text.ts';
import {
  aConfig,
  aDaemon,
  aJob,
  anOrganization,
  aPool,
  aService,
  aSnapshot,
  MINUTE,
  NOW,
  reading,
  taskIdOf,
} from '../../support/parts.ts';
import { idOf, type Picture } from '../../support/picture.ts';
import {
  actionsOf,
  addFailedStarts,
  all,
  type Change,
  codesInWords,
  edit,
  failing,
  listIs,
  organizationIn,
  planOf,
  poolIs,
  poolOf,
  protectionIs,
  serviceIs,
  taskIs,
  versionIs,
} from '../../support/planned.ts';
import { table } from '../../support/table.ts';

const gpu = { cluster: 'gpu' };
const iso = (msAgo: number): string => new Date(NOW - msAgo).toISOString();

type Row = {
  readonly world?: string;
  readonly change?: Change;
  readonly expected: string;
  readonly scenario: string;
};

const findingsIn = (world: string, change?: Change): string => codesInWords(planOf(world, change).findings);

const tookFor = (tookMs: number): Change => listIs('jobs', { tookMs });
const allUnread = all(versionIs(undefined), ({ coder }) => {
  for (const { jobs } of coder.organizations) Object.assign(jobs, { status: 'failed', error: 'no answer' });
});
const TEAM = { key: 'team', value: 'cpu' };
const poolTag = (value: string) => ({ key: 'coder-autoscaler:pool', value });
/** Another service of the pool, before or after the first one. */
const beside =
  (isAfter: boolean): Change =>
  ({ ecs }) => {
    ecs.services.items.unshift({ ...ecs.services.items[0], serviceName: 'a', serviceArn: 'arn:a' });
    if (isAfter) ecs.services.items.reverse();
  };
const twice: Change = ({ ecs }) => {
  ecs.services.items.push({ ...ecs.services.items[0] });
};
/** Services of three pools that are no longer configured. One of them is deleted. */
const removed: Change = ({ ecs }) => {
  for (const name of ['old', 'ancient', 'past'])
    ecs.services.items.push({
      ...ecs.services.items[0],
      serviceName: `Stack-${name}`,
      serviceArn: `arn:${name}`,
      tags: [TEAM, poolTag(name)],
      status: name === 'past' ? 'INACTIVE' : 'ACTIVE',
    });
};
const startedAgo = (ms: number): Change => taskIs(0, { startedAt: iso(ms) });
const stoppedLongAgo = (...indices: readonly number[]): Change =>
  all(...indices.map((index) => taskIs(index, { stoppedAt: iso(11 * MINUTE) })));
const withoutFirstTask: Change = (snapshot, config) => {
  snapshot.ecs.tasks.items.shift();
  serviceIs({ desiredCount: 1, runningCount: 1 })(snapshot, config);
};
const withoutFirstTaskInDoubt: Change = (snapshot, config) => {
  snapshot.ecs.tasks.items.shift();
  all(listIs('tasks', { status: 'truncated' }), serviceIs({ runningCount: 1 }))(snapshot, config);
};

/** A server of this version, and an image that is not newer. */
const onServer = (version: string): Change => all(versionIs(version), poolIs({ image: 'coder:v2.18.0' }));

const servers = table<Row>`
  change                              | expected                                         | scenario
  ${tookFor(6_000)}                   | nothing                                          | a look a minute takes a tenth of a core
  ${tookFor(6_100)}                   | jobs-list-slow seconds 6.1 jobs 0                | it takes more
  ${versionIs(undefined)}             | version-unknown                                  | coderd did not answer
  ${allUnread}                        | jobs-failed organization default error no answer | a coderd that nothing could be read from
  ${onServer('v0.0.0-devel+3006da5')} | version-unknown                                  | a build without a release
  ${onServer('v2.20.0')}              | nothing                                          | the oldest server that will do
  ${onServer('v2.19.3')}              | server-too-old version v2.19.3 oldest 2.20       | one older than that
`;

const withToken =
  (msLeft: number): Change =>
  ({ coder }) => {
    Object.assign(coder, { token: { expiresAt: iso(-msLeft) } });
  };

const tokens = table<Row>`
  scenario                       | change                     | expected
  a token that holds for 14 days | ${withToken(14 * DAY)}     | nothing
  one that holds for less        | ${withToken(14 * DAY - 1)} | token-expires at 2026-12-04T08:59:59.999Z
  one that has expired since     | ${withToken(-MINUTE)}      | token-expires at 2026-11-20T08:59:00.000Z
`;

const withLicense =
  (license: string): Change =>
  ({ coder }) => {
    Object.assign(coder, { license });
  };

const licenses = table<Row>`
  scenario                   | change                         | expected
  a license                  | ${withLicense('entitled')}     | nothing
  a license that has expired | ${withLicense('grace_period')} | license-in-grace
  no license                 | ${withLicense('not_entitled')} | license-missing
`;

const services = table<Row>`
  change                               | expected                                        | scenario
  ${listIs('services', { items: [] })} | service-missing pool cpu                        | none
  ${serviceIs({ status: 'DRAINING' })} | service-missing pool cpu                        | one that is being deleted
  ${serviceIs({ tags: [TEAM, poolTag('cpu')] })} | nothing                                         | one with further tags
  ${serviceIs({ tags: [TEAM] })}       | service-missing pool cpu                        | one with the pool's name under another key
  ${beside(true)}                      | service-ambiguous pool cpu services Stack-cpu+a | two, in whatever order
  ${beside(false)}                     | service-ambiguous pool cpu services Stack-cpu+a | two, in the other order
  ${twice}                             | nothing                                         | one that is listed twice
  ${removed}                           | service-without-pool pool ancient service Stack-ancient drains false, service-without-pool pool old service Stack-old drains false | those of pools that are in no configuration
`;

/** The time left on the protection of the only task, and how long ago its daemon was last seen. */
const draining =
  (leftMinutes: number, seenMinutesAgo = 0): Change =>
  (snapshot) => {
    edit(snapshot.ecs.protections.items, 0, { expirationDate: iso(-leftMinutes * MINUTE) });
    if (seenMinutesAgo === 0) return;
    const { daemons, jobs } = organizationIn(snapshot);
    edit(daemons.items, 0, { last_seen_at: iso(seenMinutesAgo * MINUTE), current_job: null });
    jobs.items = [];
  };
const H = 60;
const runsFor =
  (minutes: number): Change =>
  (snapshot) => {
    const { items } = organizationIn(snapshot).jobs;
    for (const index of items.keys()) edit(items, index, { started_at: iso(minutes * MINUTE) });
  };
const ofUnknownWorker: Change = (snapshot, config) => {
  const { jobs } = organizationIn(snapshot);
  const [job] = jobs.items;
  draining(23 * H - 30, 30)(snapshot, config);
  jobs.items = [{ ...job, id: 'a', worker_id: 'gone' }];
};

const drains = table<Row>`
  change                       | expected                                                      | scenario
  ${draining(17 * H + 1)}      | nothing                                                       | a build that drains for less than 6 h
  ${draining(17 * H)}          | tasks-draining-for-long pool cpu tasks cpu#0                  | a build that drains for 6 h
  ${draining(24 * H - 1, 90)}  | nothing                                                       | a protection longer than that of a drain request
  ${draining(23 * H - 29, 30)} | nothing                                                       | a daemon offline for 30 min, drain request 29 min ago
  ${draining(23 * H - 30, 29)} | nothing                                                       | a daemon offline for 29 min, drain request 30 min ago
  ${draining(23 * H - 30, 30)} | tasks-draining-without-daemon pool cpu tasks cpu#0            | a daemon offline for 30 min, drain request 30 min ago
  ${draining(17 * H, 30)}      | tasks-draining-without-daemon pool cpu tasks cpu#0            | a daemon offline for 30 min, drain request 6 h ago
  ${ofUnknownWorker}           | worker-unknown organization default jobs 1 jobIds a pools cpu | the same, while a running job has an unknown worker
  ${draining(29)}              | nothing                                                       | a build without a guard, which the autoscaler protects for half an hour
`;

const tasks = table<Row>`
  world       | change                                           | expected                                    | scenario
              | ${failing('cpu', 1)}                             | starts-failing pool cpu tasks 1 reason pull | one failed start
              | ${all(failing('cpu', 1), stoppedLongAgo(0))}     | nothing                                     | one failed start, long ago
              | ${all(failing('cpu', 3), stoppedLongAgo(0, 1, 2))} | starts-failing pool cpu tasks 3 reason pull notTriedSince 2026-11-20T08:49:00.000Z | three failed starts, long ago, and none since
              | ${all(failing('cpu', 2), stoppedLongAgo(0, 1))} | starts-failing pool cpu tasks 2 reason pull notTriedSince 2026-11-20T08:49:00.000Z | two failed starts, long ago, and none since
  cpu P       | ${all(failing('cpu', 2), stoppedLongAgo(1, 2))} | nothing                                     | the same, and a task that starts
  cpu I1m P, daemons [gpu] |                                                  | daemon-tags-differ pool cpu daemons cpu#0   | daemons with the tags of another pool
  cpu B B     | ${protectionIs(1, { protectionEnabled: false })} | tasks-unguarded pool cpu tasks cpu#1        | a busy daemon without a lease
  cpu U26m    |                                                  | nothing                                     | an idle daemon without a lease, which has most likely just left
  cpu B I1m   | ${runsFor(24 * H)}                               | tasks-busy-for-long pool cpu tasks cpu#0    | a build that runs for a day
  cpu B I1m   | ${runsFor(24 * H - 1)}                           | nothing                                     | a build that runs for less than a day
  cpu L       | ${runsFor(24 * H)}                               | nothing                                     | a build that runs for a day while it drains
  cpu B U26m  | ${listIs('protections', { items: [] })}          | nothing                                     | busy daemons whose leases were not read
  cpu B R Z   |                                                  | tasks-without-daemon pool cpu tasks cpu#2   | a lease without a daemon
  cpu B B     | ${protectionIs(1, { expirationDate: iso(1 - 47 * H * MINUTE) })} | tasks-lease-late pool cpu tasks cpu#1 | a lease that the guard has not renewed for an hour
  cpu N       | ${startedAgo(5 * MINUTE)}                             | tasks-lease-late pool cpu tasks cpu#0       | no lease for five minutes
  cpu N       | ${startedAgo(5 * MINUTE - 1)}                         | nothing                                     | no lease for less than five minutes
  cpu P       | ${startedAgo(5 * MINUTE)}                             | nothing                                     | a task that does not run
  cpu N       | ${all(startedAgo(5 * MINUTE), listIs('protections', { items: [] }))} | nothing                      | no lease that was read
  cpu B Z N X | ${protectionIs(1, { protectionEnabled: false })} | tasks-vacant pool cpu tasks cpu#1           | neither lease nor daemon
  cpu I1m B   | ${withoutFirstTask}                              | daemons-without-task pool cpu daemons cpu#0 | a live daemon without a task
  cpu X B     | ${withoutFirstTask}                              | nothing                                     | a daemon that is as gone as its task
  cpu I1m B   | ${withoutFirstTaskInDoubt}                       | tasks-truncated                             | a live daemon whose task could not be read
  cpu I1m     | ${listIs('services', { items: [] })}             | service-missing pool cpu                    | a live daemon without a service
`;

const onlyDefault: Change = ({ coder }) => {
  coder.organizations = coder.organizations.filter(({ name }) => name === 'default');
};
const pools = table<Row>`
  world                                         | change         | expected                                   | scenario
  b [gpu]; a [gpu], organization org-default; c | ${onlyDefault} | pools-alike organization default pools a+b | of one organization and tag set, one by its id
  b [gpu]; a [gpu], organization data           |                | nothing                                    | of two organizations
`;

describe.each([
  { name: 'servers', rows: servers },
  { name: 'tokens', rows: tokens },
  { name: 'licenses', rows: licenses },
  { name: 'services', rows: services },
  { name: 'tasks', rows: tasks },
  { name: 'drains', world: 'cpu L', rows: drains },
  { name: 'pools', rows: pools },
])('$name', ({ rows, world: common = 'cpu' }) => {
  it.each(rows)('reports the findings of $scenario', ({ world = common, change, expected }) => {
    expect(findingsIn(world, change)).toBe(expected);
  });
});

it.each(table<{ image: string; isNewer: boolean; scenario: string }>`
  image                                             | isNewer | scenario
  ghcr.io/coder/coder:v2.30.9                       | false   | as old as the server
  ghcr.io/coder/coder:v2.29.0                       | false   | older
  ghcr.io/coder/coder:v2.31.0                       | false   | newer, with the same API
  ghcr.io/coder/coder:v2.31.1                       | true    | newer, with a newer API
  ghcr.io/coder/coder:v2.99.0                       | false   | a release with an unknown API
  ghcr.io/coder/coder:v2.31.1-rc.1                  | false   | a candidate
  ${`coder/coder:v2.32.0@sha256:${'0'.repeat(64)}`} | true    | newer, pinned
  myrepo/coder:2024.1                               | false   | an image of their own, with versions of its own
  ghcr.io/coder/coder:latest                        | false   | latest
  ghcr.io/coder/coder                               | false   | no tag
  coder/coder:v2.36.0                               | true    | newer, under its short name
  coder/coder:9                                     | false   | newer, without a v
  ghcr.io/somebody/coder:v9.0.0                     | false   | an image of another publisher
  mirror/ghcr.io/coder/coder:v2.33.2                | true    | the official one by a mirror
`)('finds the image $image newer than the server: $isNewer', ({ image, isNewer }) => {
  const finding = `image-newer-than-server pool cpu image ${image} version v2.30.0`;
  expect(findingsIn('cpu', poolIs({ image }))).toBe(isNewer ? finding : 'nothing');
});

it('compares no image with a server of unknown version', () => {
  const change = all(versionIs(undefined), poolIs({ image: 'coder/coder:v9.0.0' }));
  expect(findingsIn('cpu', change)).toBe('version-unknown');
});

it("reports a daemon with the id of a task and another pool's key", () => {
  const plan = planOf('cpu I1m P', (snapshot) => {
    const { items } = organizationIn(snapshot).daemons;
    const name = `x-${idOf('cpu', 0)}`;
    items.push({ ...items[0], id: 'fake', name, key_name: 'gpu', tags: gpu });
    items.push({ ...items[0], id: 'older', name: `a${name}`, key_name: undefined });
  });
  const daemons = [
    { name: `ax-${idOf('cpu', 0)}`, key: null },
    { name: `x-${idOf('cpu', 0)}`, key: 'gpu' },
  ];
  expect(plan.findings).toEqual([{ code: 'possible-intruder', pool: 'cpu', daemons }]);
});

describe('a failed start', () => {
  const exited: Change = (snapshot) => {
    addFailedStarts(snapshot, 'cpu', 3);
    for (const item of snapshot.ecs.tasks.items)
      Object.assign(item, { stopCode: 'EssentialContainerExited' });
  };
  const oneCame: Change = (snapshot) => {
    organizationIn(snapshot).daemons.items.push({
      id: 'came',
      organization_id: 'org-default',
      name: `cpu-${idOf('cpu', 101)}`,
      created_at: iso(2 * MINUTE),
      last_seen_at: iso(2 * MINUTE),
      tags: {},
      status: 'offline',
    });
  };
  it.each(table<{ scenario: string; change?: Change; failing: number; because: string }>`
    scenario                             | change                               | failing | because
    no daemon came                       |                                      | 3       | a wrong key ends a daemon
    the daemon of one came and went      | ${oneCame}                           | 0       | it was the newest, so failures before it no longer count
    the list of daemons is cut off       | ${listIs('daemons', { status: 'truncated' })} | 0       | their rows may be among those that are missing
    the server may be one that does not list offline daemons | ${versionIs(undefined)}              | 0       | their rows may have been left out
    the release of the server is unknown | ${versionIs('v0.0.0-devel+3006da5')} | 0       | offline daemons are not requested
  `)('is $failing for $scenario, because $because', ({ change, failing }) => {
    const plan = planOf('cpu', change === undefined ? exited : all(exited, change));
    expect(poolOf(plan, 'cpu').daemons.failing).toBe(failing);
  });
});

describe('unserved jobs', () => {
  const closest = (picture: Picture | string) =>
    planOf(picture).unserved.map((row) => [row.why, row.closest?.pool]);
  const job = { tags: { cluster: 'gpu', region: 'eu', size: 'xl' } };

  it.each(table<{ world: string; expected: string; because: string }>`
    world                                  | expected | because
    a [gpu]; b [gpu eu]                    | b        | it lacks less
    a [gpu eu]; b [gpu eu size=s]          | b        | a slip is more likely than an omission
    a [gpu x=1]; b [gpu]                   | b        | it has fewer surplus tags
    b [gpu]; a [eu]                        | a        | one order decides
    a [gpu eu], organization data; b [gpu] | b        | pools of others are no help
  `)('name $expected as the closest pool of $world, because $because', ({ world, expected }) => {
    expect(closest(`${world}; job [gpu eu size=xl]`)).toEqual([['no-pool-has-these-tags', expected]]);
  });

  it('name a tag of the closest pool that differs in case only', () => {
    const plan = planOf({ pools: { a: { tags: { Cluster: 'gpu' } } }, pending: [{ tags: gpu }] });
    expect(plan.unserved.map((row) => unservedSentence(row, plan.takenAt))).toEqual([
      expect.stringMatching(/it lacks cluster=gpu. Its tag "Cluster" differs in upper and lower case only\./),
    ]);
  });

  it('are about to fail, and have no time in the past, once coderd may fail them', () => {
    const sentences = (ageS: number) => {
      const { unserved, takenAt } = planOf({ pools: { a: {} }, pending: [{ tags: gpu, ageS }] });
      return unserved.map((row) => unservedSentence(row, takenAt));
    };
    expect(sentences(29 * 60)).toEqual([
      expect.stringMatching(
        / waits for 29 min\. .*\. coderd fails the oldest at 20 November 2026 09:01:00 UTC$/,
      ),
    ]);
    expect(sentences(31 * 60)).toEqual([
      expect.stringMatching(/ waits for 31 min\. .*\. coderd is about to fail the oldest$/),
    ]);
  });

  it('have their own reason if their scope is a user, whatever tags the pools have', () => {
    const pending = [{ tags: { ...gpu, scope: 'user', owner: 'ada' } }];
    expect(closest({ pools: { a: { tags: gpu } }, pending })).toEqual([['scope-is-user', undefined]]);
    const plan = planOf({ pools: { a: { tags: gpu } }, pending });
    expect(plan.unserved.map((row) => unservedSentence(row, plan.takenAt))).toEqual([
      expect.stringMatching(
        /1 job \(workspace_build\), .*They have scope=user, and no pool has this scope and owner. Add a pool with the token of this user and tags: { scope: user, owner: ada }, or remove scope from the tags of the template\./,
      ),
    ]);
  });

  const ADA = '7d9bd02c-0d1c-4b0b-8d4c-0b0a7d4f6a11';
  const BOB = '7d9bd02c-0d1c-4b0b-8d4c-0b0a7d4f6a12';

  it.each<{ scenario: string; pools: Picture['pools']; expected: unknown; because: string }>([
    {
      scenario: 'a pool of their user lacks a tag',
      pools: { a: { tags: { scope: 'user', owner: ADA } }, b: { tags: gpu } },
      expected: ['no-pool-has-these-tags', 'a'],
      because: 'a tag is missing, not a user',
    },
    {
      scenario: 'the pool of another user has their tags',
      pools: { a: { tags: { ...gpu, scope: 'user', owner: BOB } } },
      expected: ['scope-is-user', undefined],
      because: 'its daemons run the jobs of that user only',
    },
    {
      scenario: 'the pool of their user is retiring',
      pools: { a: { tags: { ...gpu, scope: 'user', owner: ADA }, retiring: true } },
      expected: ['pool-is-retiring', 'a'],
      because: 'it launches nothing',
    },
    {
      scenario: 'no pool is in their organization',
      pools: { a: { tags: { ...gpu, scope: 'user', owner: ADA }, organization: 'data' } },
      expected: ['scope-is-user', undefined],
      because: 'a pool of this user is what is missing',
    },
  ])('of one user name what is missing: $scenario, because $because', ({ pools, expected }) => {
    const pending = [{ tags: { ...gpu, scope: 'user', owner: ADA } }];
    expect(closest({ pools, pending })).toEqual([expected]);
  });

  it('of the organization do not name the pool of a user as the closest', () => {
    const pools = { a: { tags: { ...gpu, scope: 'user', owner: ADA } }, b: { tags: { region: 'eu' } } };
    expect(closest({ pools, pending: [{ tags: gpu }] })).toEqual([['no-pool-has-these-tags', 'b']]);
  });

  it('are reported with their distinct types', () => {
    const snapshot = aSnapshot({
      organizations: [
        anOrganization({
          jobs: reading(
            ['template_version_import', 'workspace_build', 'template_version_import'].map((type) =>
              aJob({ tags: { size: 'xl' }, type }),
            ),
          ),
        }),
      ],
    });
    expect(decide(snapshot, aConfig(aPool())).unserved.map(({ types }) => types)).toEqual([
      ['template_version_import', 'workspace_build'],
    ]);
  });

  it('are reported with missing, different and surplus tags', () => {
    const [row] = planOf({
      pools: { a: { tags: { cluster: 'gpu', region: 'us', spare: '1' } } },
      pending: [job],
    }).unserved;
    expect(row?.closest).toEqual({
      pool: 'a',
      missing: { region: 'eu', size: 'xl' },
      has: { region: 'us' },
      surplus: { spare: '1' },
    });
  });

  it('are reported for an organization without any pool', () => {
    const plan = planOf({ pools: { a: {} }, pending: [{ organization: 'data' }] });
    expect(plan.unserved).toMatchObject([{ why: 'no-pool-in-this-organization', closest: null }]);
  });

  it('ignore a pool of an unknown organization', () => {
    const plan = planOf('a, organization nowhere; job', onlyDefault);
    expect(plan.unserved).toMatchObject([{ why: 'no-pool-in-this-organization', closest: null }]);
  });
});

it('finds the organization of a pool by id', () => {
  const plan = planOf({ pools: { cpu: {} }, pending: [{}] }, (_, config) =>
    edit(config.pools as object[], 0, { organization: 'org-default' }),
  );
  expect([actionsOf(plan), plan.findings]).toEqual([['cpu 0->1 pending-jobs'], []]);
});

it('reports tasks in the same order for every order of the list', () => {
  const plan = planOf({ pools: { cpu: { tasks: 'B Z Z Z' } } });
  const mixed = planOf({ pools: { cpu: { tasks: 'B Z Z Z' } } }, ({ ecs }) => ecs.tasks.items.reverse());
  expect(mixed.findings).toEqual(plan.findings);
});

it('reports a daemon without a task once in a pool that has two parts', () => {
  const spot = aService({
    ...{ serviceArn: 'arn:service/spot' as ServiceArn, serviceName: 'Stack-spot' },
    tags: [poolTag('cpu/spot')],
  });
  const snapshot = aSnapshot({
    organizations: [anOrganization({ daemons: reading([aDaemon({ name: `cpu-${taskIdOf(9)}` })]) })],
    services: [aService(), spot],
  });
  const { findings } = decide(snapshot, aConfig(aPool({ capacity: ['spot', 'on-demand'] })));
  expect(findings).toEqual([{ code: 'daemons-without-task', pool: 'cpu', daemons: [`cpu-${taskIdOf(9)}`] }]);
});

it('reports daemons without a task in the same order for every order of the list', () => {
  const plan = planOf({ pools: { cpu: { tasks: 'B' } } }, (snapshot) => {
    const { daemons } = organizationIn(snapshot);
    for (const index of [9, 8])
      daemons.items.push({ ...daemons.items[0], id: `z${10 - index}`, name: `cpu-${taskIdOf(index)}` });
  });
  expect(plan.findings).toMatchObject([
    { code: 'daemons-without-task', daemons: [`cpu-${taskIdOf(8)}`, `cpu-${taskIdOf(9)}`] },
  ]);
});
