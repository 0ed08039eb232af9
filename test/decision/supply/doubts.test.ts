import { describe, expect, it } from 'vitest';
import { planSnapshot } from '../../../lambda/plan-snapshot.ts';
import { type Drawn, draw, type Picture } from '../../support/picture.ts';

/** A pool with a task to drain, a count to lower, and two jobs that need launches. */
const picture: Picture = {
  pools: { cpu: { tasks: 'I20m X' }, gpu: { tags: { cluster: 'gpu' }, organization: 'data' } },
  pending: [{ tags: { cluster: 'gpu' }, jobs: 2, organization: 'data' }],
};

type Change = (snapshot: Drawn['snapshot']) => void;

function planAfter(change: Change) {
  const { snapshot, config } = draw(picture);
  change(snapshot);
  return planSnapshot(snapshot, config);
}

function organization(snapshot: Drawn['snapshot'], name: string) {
  const found = snapshot.coder.organizations.find((item) => item.name === name);
  if (found === undefined) throw new Error(`no organization ${name}`);
  return found;
}

const SCALE_IN = ['ask-to-leave cpu', 'set-desired cpu'];
const SCALE_OUT = 'set-desired gpu';
const kindsOf = (plan: ReturnType<typeof planSnapshot>) =>
  plan.actions.map(({ kind, pool }) => `${kind} ${pool}`);

it('scales in and out without doubts', () => {
  const plan = planAfter(() => {});
  expect(kindsOf(plan)).toEqual([SCALE_OUT, ...SCALE_IN]);
  expect(plan.findings).toEqual([]);
});

describe('a doubt', () => {
  const unread = (status: string) => ({ status, error: 'seen', items: [] });
  it.each<{ scenario: string; change: Change; code: string }>([
    {
      scenario: 'jobs failed',
      change: (s) => Object.assign(organization(s, 'default').jobs, unread('failed')),
      code: 'jobs-failed',
    },
    {
      scenario: 'jobs forbidden',
      change: (s) => Object.assign(organization(s, 'default').jobs, unread('forbidden')),
      code: 'jobs-forbidden',
    },
    {
      scenario: 'jobs truncated',
      change: (s) => Object.assign(organization(s, 'default').jobs, { status: 'truncated' }),
      code: 'jobs-truncated',
    },
    {
      scenario: 'daemons failed',
      change: (s) => Object.assign(organization(s, 'default').daemons, unread('failed')),
      code: 'daemons-failed',
    },
    {
      scenario: 'daemons stale',
      change: (s) => Object.assign(organization(s, 'default').daemons, { status: 'stale' }),
      code: 'daemons-stale',
    },
    {
      scenario: 'previous jobs failed',
      change: (s) => Object.assign(organization(s, 'default').previousJobs, { status: 'failed' }),
      code: 'previous-jobs-failed',
    },
    {
      scenario: 'an empty 200 while tasks hold leases',
      change: (s) => Object.assign(organization(s, 'default').daemons, { items: [] }),
      code: 'daemons-empty-while-leased',
    },
    {
      scenario: 'no job although a daemon is busy',
      change: (s) =>
        Object.assign(organization(s, 'default').daemons.items[1] ?? {}, {
          current_job: { id: 'x', status: 'running' },
          last_seen_at: s.takenAt,
        }),
      code: 'jobs-empty-while-busy',
    },
    {
      scenario: 'a running job whose worker is not listed',
      change: (s) =>
        organization(s, 'default').jobs.items.push({
          id: 'stray',
          created_at: s.takenAt,
          status: 'running',
          worker_id: 'gone',
          organization_id: 'org-default',
          tags: {},
          type: 'workspace_build',
        }),
      code: 'worker-unknown',
    },
    {
      scenario: 'ECS counts more than it lists',
      change: (s) => Object.assign(s.ecs.services.items[0] ?? {}, { runningCount: 3 }),
      code: 'tasks-fewer-than-counted',
    },
  ])('holds scale-in of the affected pools only, with $scenario', ({ change, code }) => {
    const plan = planAfter(change);
    expect(kindsOf(plan)).toEqual([SCALE_OUT]);
    expect(plan.findings.map((finding) => finding.code)).toContain(code);
  });

  it.each<{ scenario: string; change: Change }>([
    {
      scenario: 'protections failed',
      change: (s) => Object.assign(s.ecs.protections, { status: 'failed', items: [] }),
    },
    {
      scenario: 'protections truncated',
      change: (s) => Object.assign(s.ecs.protections, { status: 'truncated' }),
    },
    { scenario: 'tasks failed', change: (s) => Object.assign(s.ecs.tasks, { status: 'failed', items: [] }) },
  ])('holds scale-in of the whole cluster, with $scenario', ({ change }) => {
    expect(kindsOf(planAfter(change))).toEqual([SCALE_OUT]);
  });

  it('plans no action and reports no missing service if services are unavailable', () => {
    const plan = planAfter((s) => Object.assign(s.ecs.services, { status: 'failed', items: [] }));
    expect(plan.actions).toEqual([]);
    expect(plan.findings.map(({ code }) => code)).toEqual(['services-failed']);
    expect(plan.pools[0]).toMatchObject({ service: null, desired: { from: null, to: null } });
  });
});

describe('an organization that is gone', () => {
  it('holds its pools and is a finding, while other pools continue', () => {
    const plan = planAfter((s) => {
      s.coder.organizations = s.coder.organizations.filter(({ name }) => name !== 'default');
    });
    expect(kindsOf(plan)).toEqual([SCALE_OUT]);
    expect(plan.findings).toContainEqual({ code: 'organization-unknown', organization: 'default' });
  });
});

describe('unavailable readings', () => {
  it('count working tasks as free if daemons are unavailable', () => {
    const { snapshot, config } = draw({ pools: { cpu: { tasks: 'B B' } }, pending: [{ jobs: 2 }] });
    Object.assign(organization(snapshot, 'default').daemons, { status: 'failed', items: [] });
    expect(planSnapshot(snapshot, config).actions).toEqual([]);
  });

  it.each([
    { tasks: 'I1m I1m', expected: [], because: 'desired tasks count as starting' },
    {
      tasks: 'B B',
      expected: [{ from: 2, to: 4 }],
      because: 'daemons that are busy are no supply, wherever they run',
    },
  ])(
    'give the right count if tasks are unavailable ($tasks, 2 pending jobs): $because',
    ({ tasks, expected }) => {
      const { snapshot, config } = draw({ pools: { cpu: { tasks } }, pending: [{ jobs: 2 }] });
      Object.assign(snapshot.ecs.tasks, { status: 'failed', items: [] });
      expect(planSnapshot(snapshot, config).actions).toMatchObject(expected);
    },
  );
});

describe('the match of daemons and tasks', () => {
  it('does not count an idle daemon whose task is gone', () => {
    const { snapshot, config } = draw({ pools: { cpu: { tasks: 'I1m' } }, pending: [{}] });
    snapshot.ecs.tasks.items = [];
    Object.assign(snapshot.ecs.services.items[0] ?? {}, { desiredCount: 0, runningCount: 0 });
    expect(planSnapshot(snapshot, config).actions).toMatchObject([{ kind: 'set-desired', from: 0, to: 1 }]);
  });

  it('finds a daemon named after its host by the private address of its task', () => {
    const { snapshot, config } = draw({ pools: { cpu: { tasks: 'I20m' } } });
    Object.assign(organization(snapshot, 'default').daemons.items[0] ?? {}, { name: 'ip-10-0-1-17' });
    Object.assign(snapshot.ecs.tasks.items[0] ?? {}, {
      containers: [{ networkInterfaces: [{ privateIpv4Address: '10.0.1.17' }] }],
    });
    expect(planSnapshot(snapshot, config).actions).toMatchObject([{ kind: 'ask-to-leave' }]);
  });

  it('ignores the row of an earlier task with the same address', () => {
    const { snapshot, config } = draw({ pools: { cpu: { tasks: 'N' } } });
    organization(snapshot, 'default').daemons.items.push({
      id: 'old',
      organization_id: 'org-default',
      name: 'ip-10-0-1-17',
      created_at: '2026-11-19T09:00:00Z',
      last_seen_at: '2026-11-20T08:50:00Z',
      tags: {},
      status: 'offline',
      current_job: null,
      previous_job: null,
    });
    Object.assign(snapshot.ecs.tasks.items[0] ?? {}, {
      containers: [{ networkInterfaces: [{ privateIpv4Address: '10.0.1.17' }] }],
    });
    expect(planSnapshot(snapshot, config).pools[0]?.daemons).toMatchObject({ starting: 1, left: 0 });
  });

  it('reports a daemon with the tags of another pool', () => {
    const { snapshot, config } = draw({ pools: { cpu: { tasks: 'I1m', daemonTags: { cluster: 'gpu' } } } });
    expect(planSnapshot(snapshot, config).findings).toMatchObject([
      { code: 'daemon-tags-differ', pool: 'cpu' },
    ]);
  });

  it('touches neither of two services with the same pool tag', () => {
    const { snapshot, config } = draw({ pools: { cpu: {} }, pending: [{}] });
    snapshot.ecs.services.items.push({
      ...snapshot.ecs.services.items[0],
      serviceName: 'other',
      serviceArn: 'arn:other',
    });
    const plan = planSnapshot(snapshot, config);
    expect(plan.actions).toEqual([]);
    expect(plan.findings).toEqual([
      { code: 'service-ambiguous', pool: 'cpu', services: ['Stack-cpu', 'other'] },
    ]);
  });
});

it('plans the same for every order of the input', () => {
  const big: Picture = {
    pools: {
      a: { tasks: 'I20m I21m B X', min: 1 },
      b: { tasks: 'B P L', tags: { x: '1' } },
      c: { tags: { x: '1', y: '2' } },
    },
    pending: [
      { jobs: 3 },
      { jobs: 2, tags: { x: '1' } },
      { prebuilds: true, tags: { y: '2' } },
      { tags: { z: '9' } },
    ],
    strangers: [{}, { busy: true, tags: { z: '9' } }],
  };
  const { snapshot, config } = draw(big);
  const shuffled = JSON.parse(JSON.stringify(snapshot), (_, value: unknown) =>
    Array.isArray(value) ? value.reverse() : value,
  );
  expect(planSnapshot(shuffled, config)).toEqual(planSnapshot(snapshot, config));
});

describe('invalid input', () => {
  const { snapshot, config } = draw({ pools: { cpu: {} } });
  it.each([
    { scenario: 'an empty object', value: {}, message: /version/ },
    { scenario: 'a list', value: [], message: /the whole answer/ },
    { scenario: 'null', value: null, message: /the whole answer.*null/ },
    {
      scenario: 'a time that is none',
      value: { ...snapshot, takenAt: 'yesterday' },
      message: /takenAt: expected an RFC 3339 time, saw "yesterday"/,
    },
    { scenario: 'a later version', value: { ...snapshot, version: 2 }, message: /version: .*1.*saw 2/ },
  ])('reading a snapshot with $scenario fails and shows the wrong value', ({ value, message }) => {
    expect(() => planSnapshot(value, config)).toThrow(message);
  });

  it('accepts unknown fields and new status words', () => {
    const strange = structuredClone(snapshot) as unknown as {
      coder: { organizations: { jobs: { items: unknown[] } }[] };
      news: string;
    };
    strange.news = 'yes';
    strange.coder.organizations[0]?.jobs.items.push({
      id: 'x',
      created_at: '2026-11-20T08:00:00.123456789+01:00',
      status: 'paused',
      organization_id: 'org-default',
      tags: {},
      type: 'new',
      extra: 1,
    });
    expect(planSnapshot(strange, config).actions).toEqual([]);
  });
});
