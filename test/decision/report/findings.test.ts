/** The findings: each one in its case, and in no other. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import { DAY_MS as DAY } from '../../../lambda/decision/model/units.ts';
import { unservedSentence } from '../../../lambda/explain/text.ts';
import {
  aConfig,
  aJob,
  anOrganization,
  aPool,
  aSnapshot,
  MINUTE,
  NOW,
  reading,
  taskIdOf,
} from '../../support/parts.ts';
import { idOf, type Picture, taskArn } from '../../support/picture.ts';
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
import { table } from '../../support/table.ts';

const gpu = { cluster: 'gpu' };
const iso = (msAgo: number): string => new Date(NOW - msAgo).toISOString();
const none: Change = () => {};

type Row = {
  readonly scenario: string;
  readonly picture?: Picture;
  readonly change?: Change;
  /** Findings with plain strings instead of branded names. */
  readonly expected: readonly object[];
};

const findingsOf = ({ picture = { pools: { cpu: {} } }, change = none }: Row): readonly Finding[] =>
  planOf(picture, change).findings;

/** A server of this version, and an image that is not newer. */
const onServer =
  (version: string): Change =>
  ({ coder }, config) => {
    coder.buildInfo = { version };
    edit(config.pools as object[], 0, { image: 'coder:v2.18.0' });
  };
const withImage =
  (image: string): Change =>
  (_, config) =>
    edit(config.pools as object[], 0, { image });
const isNewer = (image: string): readonly object[] => [
  { code: 'image-newer-than-server', pool: 'cpu', image, version: 'v2.30.0' },
];

const servers: readonly Row[] = [
  {
    scenario: 'coderd did not answer',
    change: ({ coder }) => {
      delete coder.buildInfo;
    },
    expected: [{ code: 'version-unknown' }],
  },
  {
    scenario: 'a coderd that nothing could be read from',
    change: ({ coder }) => {
      delete coder.buildInfo;
      for (const { jobs } of coder.organizations)
        Object.assign(jobs, { status: 'failed', error: 'no answer' });
    },
    expected: [{ code: 'jobs-failed', error: 'no answer', organization: 'default' }],
  },
  {
    scenario: 'a build without a release',
    change: onServer('v0.0.0-devel+3006da5'),
    expected: [{ code: 'version-unknown' }],
  },
  { scenario: 'the oldest server that will do', change: onServer('v2.20.0'), expected: [] },
  {
    scenario: 'one older than that',
    change: onServer('v2.19.3'),
    expected: [{ code: 'server-too-old', version: 'v2.19.3', oldest: '2.20' }],
  },
];

const withToken =
  (msLeft: number): Change =>
  ({ coder }) => {
    Object.assign(coder, { token: { expiresAt: iso(-msLeft) } });
  };

const tokens = table<Row>`
  scenario                       | change                     | expected
  a token that holds for 14 days | ${withToken(14 * DAY)}     | ${[]}
  one that holds for less        | ${withToken(14 * DAY - 1)} | ${[{ code: 'token-expires', at: iso(1 - 14 * DAY) }]}
  one that has expired since     | ${withToken(-MINUTE)}      | ${[{ code: 'token-expires', at: iso(MINUTE) }]}
`;

const withLicense =
  (license: string): Change =>
  ({ coder }) => {
    Object.assign(coder, { license });
  };

const licenses = table<Row>`
  scenario                   | change                         | expected
  a license                  | ${withLicense('entitled')}     | ${[]}
  a license that has expired | ${withLicense('grace_period')} | ${[{ code: 'license-in-grace' }]}
  no license                 | ${withLicense('not_entitled')} | ${[{ code: 'license-missing' }]}
`;

const images: readonly Row[] = [
  { scenario: 'as old as the server', change: withImage('ghcr.io/coder/coder:v2.30.9'), expected: [] },
  { scenario: 'older', change: withImage('ghcr.io/coder/coder:v2.29.0'), expected: [] },
  { scenario: 'newer, with the same API', change: withImage('ghcr.io/coder/coder:v2.31.0'), expected: [] },
  {
    scenario: 'newer, with a newer API',
    change: withImage('ghcr.io/coder/coder:v2.31.1'),
    expected: isNewer('ghcr.io/coder/coder:v2.31.1'),
  },
  {
    scenario: 'a release with an unknown API',
    change: withImage('ghcr.io/coder/coder:v2.99.0'),
    expected: [],
  },
  { scenario: 'a candidate', change: withImage('ghcr.io/coder/coder:v2.31.1-rc.1'), expected: [] },
  {
    scenario: 'newer, pinned',
    change: withImage(`coder/coder:v2.32.0@sha256:${'0'.repeat(64)}`),
    expected: isNewer(`coder/coder:v2.32.0@sha256:${'0'.repeat(64)}`),
  },
  {
    scenario: 'an image of their own, with versions of its own',
    change: withImage('myrepo/coder:2024.1'),
    expected: [],
  },
  { scenario: 'latest', change: withImage('ghcr.io/coder/coder:latest'), expected: [] },
  { scenario: 'no tag', change: withImage('ghcr.io/coder/coder'), expected: [] },
  {
    scenario: 'newer, under its short name',
    change: withImage('coder/coder:v2.36.0'),
    expected: isNewer('coder/coder:v2.36.0'),
  },
  { scenario: 'newer, without a v', change: withImage('coder/coder:9'), expected: [] },
  {
    scenario: 'an image of another publisher',
    change: withImage('ghcr.io/somebody/coder:v9.0.0'),
    expected: [],
  },
  {
    scenario: 'the official one by a mirror',
    change: withImage('mirror/ghcr.io/coder/coder:v2.33.2'),
    expected: isNewer('mirror/ghcr.io/coder/coder:v2.33.2'),
  },
  {
    scenario: 'a newer image on a server of unknown version',
    change: (snapshot, config) => {
      withImage('coder/coder:v9.0.0')(snapshot, config);
      delete snapshot.coder.buildInfo;
    },
    expected: [{ code: 'version-unknown' }],
  },
];

const services: readonly Row[] = [
  {
    scenario: 'none',
    change: ({ ecs }) => {
      ecs.services.items = [];
    },
    expected: [{ code: 'service-missing', pool: 'cpu' }],
  },
  {
    scenario: 'one that is being deleted',
    change: ({ ecs }) => edit(ecs.services.items, 0, { status: 'DRAINING' }),
    expected: [{ code: 'service-missing', pool: 'cpu' }],
  },
  {
    scenario: 'one with further tags',
    change: ({ ecs }) =>
      edit(ecs.services.items, 0, {
        tags: [
          { key: 'team', value: 'platform' },
          { key: 'coder-autoscaler:pool', value: 'cpu' },
        ],
      }),
    expected: [],
  },
  {
    scenario: "one with the pool's name under another key",
    change: ({ ecs }) => edit(ecs.services.items, 0, { tags: [{ key: 'team', value: 'cpu' }] }),
    expected: [{ code: 'service-missing', pool: 'cpu' }],
  },
  {
    scenario: 'two, in whatever order',
    change: ({ ecs }) => {
      ecs.services.items.unshift({ ...ecs.services.items[0], serviceName: 'a', serviceArn: 'arn:a' });
      ecs.services.items.reverse();
    },
    expected: [{ code: 'service-ambiguous', pool: 'cpu', services: ['Stack-cpu', 'a'] }],
  },
  {
    scenario: 'two, in the other order',
    change: ({ ecs }) => {
      ecs.services.items.unshift({ ...ecs.services.items[0], serviceName: 'a', serviceArn: 'arn:a' });
    },
    expected: [{ code: 'service-ambiguous', pool: 'cpu', services: ['Stack-cpu', 'a'] }],
  },
  {
    scenario: 'one that is listed twice',
    change: ({ ecs }) => {
      ecs.services.items.push({ ...ecs.services.items[0] });
    },
    expected: [],
  },
  {
    scenario: 'those of pools that are in no configuration',
    change: ({ ecs }) => {
      const gone = (name: string) => ({
        ...ecs.services.items[0],
        serviceName: `Stack-${name}`,
        serviceArn: `arn:${name}`,
        tags: [
          { key: 'team', value: 'cpu' },
          { key: 'coder-autoscaler:pool', value: name },
        ],
      });
      ecs.services.items.push(gone('old'), gone('ancient'), { ...gone('past'), status: 'INACTIVE' });
    },
    expected: [
      { code: 'service-without-pool', pool: 'ancient', service: 'Stack-ancient', drains: false },
      { code: 'service-without-pool', pool: 'old', service: 'Stack-old', drains: false },
    ],
  },
];

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
const one: Picture = { pools: { cpu: { tasks: 'L' } } };
const isLong = [{ code: 'tasks-draining-for-long', pool: 'cpu', tasks: [taskArn('cpu', 0)] }];
const isVain = [{ code: 'tasks-draining-without-daemon', pool: 'cpu', tasks: [taskArn('cpu', 0)] }];

const drains: readonly Row[] = [
  {
    scenario: 'a build that drains for less than 6 h',
    picture: one,
    change: draining(17 * H + 1),
    expected: [],
  },
  { scenario: 'a build that drains for 6 h', picture: one, change: draining(17 * H), expected: isLong },
  {
    scenario: 'a protection longer than that of a drain request',
    picture: one,
    change: draining(24 * H - 1, 90),
    expected: [],
  },
  {
    scenario: 'a daemon offline for 30 min, drain request 29 min ago',
    picture: one,
    change: draining(23 * H - 29, 30),
    expected: [],
  },
  {
    scenario: 'a daemon offline for 29 min, drain request 30 min ago',
    picture: one,
    change: draining(23 * H - 30, 29),
    expected: [],
  },
  {
    scenario: 'a daemon offline for 30 min, drain request 30 min ago',
    picture: one,
    change: draining(23 * H - 30, 30),
    expected: isVain,
  },
  {
    scenario: 'a daemon offline for 30 min, drain request 6 h ago',
    picture: one,
    change: draining(17 * H, 30),
    expected: isVain,
  },
  {
    scenario: 'the same, while a running job has an unknown worker',
    picture: one,
    change: (snapshot, config) => {
      const { jobs } = organizationIn(snapshot);
      const [job] = jobs.items;
      draining(23 * H - 30, 30)(snapshot, config);
      jobs.items = [{ ...job, id: 'a', worker_id: 'gone' }];
    },
    expected: [{ code: 'worker-unknown', organization: 'default', jobs: 1, jobIds: ['a'], pools: ['cpu'] }],
  },
  {
    scenario: 'a build without a guard, which the autoscaler protects for half an hour',
    picture: one,
    change: draining(29),
    expected: [],
  },
];

const tasks: readonly Row[] = [
  {
    scenario: 'one failed start',
    change: (snapshot) => addFailedStarts(snapshot, 'cpu', 1),
    expected: [{ code: 'starts-failing', pool: 'cpu', tasks: 1, reason: PULL_FAILURE }],
  },
  {
    scenario: 'one failed start, long ago',
    change: (snapshot) => {
      addFailedStarts(snapshot, 'cpu', 1);
      edit(snapshot.ecs.tasks.items, 0, { stoppedAt: iso(11 * MINUTE) });
    },
    expected: [],
  },
  {
    scenario: 'three failed starts, long ago, and none since',
    change: (snapshot) => {
      addFailedStarts(snapshot, 'cpu', 3);
      for (const index of [0, 1, 2]) edit(snapshot.ecs.tasks.items, index, { stoppedAt: iso(11 * MINUTE) });
    },
    expected: [{ code: 'starts-failing', pool: 'cpu', tasks: 3, reason: PULL_FAILURE }],
  },
  {
    scenario: 'daemons with the tags of another pool',
    picture: { pools: { cpu: { tasks: 'I1m P', daemonTags: gpu } } },
    expected: [{ code: 'daemon-tags-differ', pool: 'cpu', daemons: [`cpu-${idOf('cpu', 0)}`] }],
  },
  {
    scenario: "a daemon with the id of a task and another pool's key",
    picture: { pools: { cpu: { tasks: 'I1m P' } } },
    change: (snapshot) => {
      const { items } = organizationIn(snapshot).daemons;
      const name = `x-${idOf('cpu', 0)}`;
      items.push({ ...items[0], id: 'fake', name, key_name: 'gpu', tags: gpu });
      items.push({ ...items[0], id: 'older', name: `a${name}`, key_name: undefined });
    },
    expected: [
      {
        code: 'possible-intruder',
        pool: 'cpu',
        daemons: [
          { name: `ax-${idOf('cpu', 0)}`, key: null },
          { name: `x-${idOf('cpu', 0)}`, key: 'gpu' },
        ],
      },
    ],
  },
  {
    scenario: 'a busy daemon without a lease',
    picture: { pools: { cpu: { tasks: 'B B' } } },
    change: ({ ecs }) => edit(ecs.protections.items, 1, { protectionEnabled: false }),
    expected: [{ code: 'tasks-unguarded', pool: 'cpu', tasks: [taskArn('cpu', 1)] }],
  },
  {
    scenario: 'an idle daemon without a lease, which has most likely just left',
    picture: { pools: { cpu: { tasks: 'U26m' } } },
    expected: [],
  },
  {
    scenario: 'busy daemons whose leases were not read',
    picture: { pools: { cpu: { tasks: 'B U26m' } } },
    change: ({ ecs }) => {
      ecs.protections.items = [];
    },
    expected: [],
  },
  {
    scenario: 'a lease without a daemon',
    picture: { pools: { cpu: { tasks: 'B R Z' } } },
    expected: [{ code: 'tasks-without-daemon', pool: 'cpu', tasks: [taskArn('cpu', 2)] }],
  },
  {
    scenario: 'neither lease nor daemon',
    picture: { pools: { cpu: { tasks: 'B Z N X' } } },
    change: ({ ecs }) => edit(ecs.protections.items, 1, { protectionEnabled: false }),
    expected: [{ code: 'tasks-vacant', pool: 'cpu', tasks: [taskArn('cpu', 1)] }],
  },
  {
    scenario: 'a live daemon without a task',
    picture: { pools: { cpu: { tasks: 'I1m B' } } },
    change: ({ ecs }) => {
      ecs.tasks.items.shift();
      edit(ecs.services.items, 0, { desiredCount: 1, runningCount: 1 });
    },
    expected: [{ code: 'daemons-without-task', pool: 'cpu', daemons: [`cpu-${idOf('cpu', 0)}`] }],
  },
  {
    scenario: 'a daemon that is as gone as its task',
    picture: { pools: { cpu: { tasks: 'X B' } } },
    change: ({ ecs }) => {
      ecs.tasks.items.shift();
      edit(ecs.services.items, 0, { desiredCount: 1, runningCount: 1 });
    },
    expected: [],
  },
  {
    scenario: 'a live daemon whose task could not be read',
    picture: { pools: { cpu: { tasks: 'I1m B' } } },
    change: ({ ecs }) => {
      ecs.tasks.items.shift();
      ecs.tasks.status = 'truncated';
      edit(ecs.services.items, 0, { runningCount: 1 });
    },
    expected: [{ code: 'tasks-truncated' }],
  },
  {
    scenario: 'a live daemon without a service',
    picture: { pools: { cpu: { tasks: 'I1m' } } },
    change: ({ ecs }) => {
      ecs.services.items = [];
    },
    expected: [{ code: 'service-missing', pool: 'cpu' }],
  },
];

const pools: readonly Row[] = [
  {
    scenario: 'of one organization and tag set, one by its id',
    picture: { pools: { b: { tags: gpu }, a: { tags: gpu, organization: 'org-default' }, c: {} } },
    change: ({ coder }) => {
      coder.organizations = coder.organizations.filter(({ name }) => name === 'default');
    },
    expected: [{ code: 'pools-alike', organization: 'default', pools: ['a', 'b'] }],
  },
  {
    scenario: 'of two organizations',
    picture: { pools: { b: { tags: gpu }, a: { tags: gpu, organization: 'data' } } },
    expected: [],
  },
];

describe.each([
  { name: 'servers', rows: servers },
  { name: 'tokens', rows: tokens },
  { name: 'licenses', rows: licenses },
  { name: 'images', rows: images },
  { name: 'services', rows: services },
  { name: 'tasks', rows: tasks },
  { name: 'drains', rows: drains },
  { name: 'pools', rows: pools },
])('$name', ({ rows }) => {
  it.each(rows)('reports the findings of $scenario', (row) => {
    expect(findingsOf(row)).toEqual(row.expected);
  });
});

describe('a failed start', () => {
  const exited: Change = (snapshot) => {
    addFailedStarts(snapshot, 'cpu', 3);
    for (const item of snapshot.ecs.tasks.items)
      Object.assign(item, { stopCode: 'EssentialContainerExited' });
  };
  it.each<{ scenario: string; change: Change; failing: number; because: string }>([
    { scenario: 'no daemon came', change: none, failing: 3, because: 'a wrong key ends a daemon' },
    {
      scenario: 'the daemon of one came and went',
      change: (snapshot) =>
        organizationIn(snapshot).daemons.items.push({
          id: 'came',
          organization_id: 'org-default',
          name: `cpu-${idOf('cpu', 101)}`,
          created_at: iso(2 * MINUTE),
          last_seen_at: iso(2 * MINUTE),
          tags: {},
          status: 'offline',
        }),
      failing: 0,
      because: 'it was the newest, so failures before it no longer count',
    },
    {
      scenario: 'the list of daemons is cut off',
      change: (snapshot) => Object.assign(organizationIn(snapshot).daemons, { status: 'truncated' }),
      failing: 0,
      because: 'their rows may be among those that are missing',
    },
    {
      scenario: 'the server may be one that does not list offline daemons',
      change: ({ coder }) => {
        delete coder.buildInfo;
      },
      failing: 0,
      because: 'their rows may have been left out',
    },
    {
      scenario: 'the release of the server is unknown',
      change: ({ coder }) => {
        coder.buildInfo = { version: 'v0.0.0-devel+3006da5' };
      },
      failing: 0,
      because: 'offline daemons are not requested',
    },
  ])('is $failing for $scenario, because $because', ({ change, failing }) => {
    const plan = planOf({ pools: { cpu: {} } }, (snapshot, config) => {
      exited(snapshot, config);
      change(snapshot, config);
    });
    expect(poolOf(plan, 'cpu').daemons.failing).toBe(failing);
  });
});

describe('unserved jobs', () => {
  const closest = (picture: Picture) => planOf(picture).unserved.map((row) => [row.why, row.closest?.pool]);
  const job = { tags: { cluster: 'gpu', region: 'eu', size: 'xl' } };

  it.each<{ scenario: string; pools: Picture['pools']; expected: string; because: string }>([
    {
      scenario: 'one pool lacks a tag, the other two',
      pools: { a: { tags: gpu }, b: { tags: { ...gpu, region: 'eu' } } },
      expected: 'b',
      because: 'it lacks less',
    },
    {
      scenario: 'one lacks a tag, the other has it otherwise',
      pools: { a: { tags: { ...gpu, region: 'eu' } }, b: { tags: { ...gpu, region: 'eu', size: 's' } } },
      expected: 'b',
      because: 'a slip is more likely than an omission',
    },
    {
      scenario: 'one has a tag more than the other',
      pools: { a: { tags: { ...gpu, x: '1' } }, b: { tags: gpu } },
      expected: 'b',
      because: 'it has fewer surplus tags',
    },
    {
      scenario: 'both are as close',
      pools: { b: { tags: gpu }, a: { tags: { region: 'eu' } } },
      expected: 'a',
      because: 'one order decides',
    },
    {
      scenario: 'a closer pool of another organization',
      pools: { a: { tags: { ...gpu, region: 'eu' }, organization: 'data' }, b: { tags: gpu } },
      expected: 'b',
      because: 'pools of others are no help',
    },
  ])('name $expected as the closest pool for $scenario, because $because', ({ pools: given, expected }) => {
    expect(closest({ pools: given, pending: [job] })).toEqual([['no-pool-has-these-tags', expected]]);
  });

  it('have their own reason if their scope is a user, whatever tags the pools have', () => {
    const pending = [{ tags: { ...gpu, scope: 'user', owner: 'ada' } }];
    expect(closest({ pools: { a: { tags: gpu } }, pending })).toEqual([['scope-is-user', undefined]]);
    const plan = planOf({ pools: { a: { tags: gpu } }, pending });
    expect(plan.unserved.map((row) => unservedSentence(row, plan.takenAt))).toEqual([
      expect.stringMatching(
        /1 job \(workspace_build\), .*They have scope=user, and no pool has this scope and owner. Add a pool with the token of this user and tags: { scope: user, owner: ada }, or remove scope from the tags of the template$/,
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
    const plan = planOf({ pools: { a: { organization: 'nowhere' } }, pending: [{}] }, ({ coder }) => {
      coder.organizations = coder.organizations.filter(({ name }) => name === 'default');
    });
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
