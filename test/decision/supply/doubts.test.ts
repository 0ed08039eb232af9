import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../lambda/decision/model/plan.ts';
import { NOW } from '../../support/parts.ts';
import { draw } from '../../support/picture.ts';
import { planSnapshot } from '../../support/plan-snapshot.ts';
import {
  all,
  type Change,
  codesInWords,
  daemonIs,
  listIs,
  organizationIn,
  planOf,
  serviceIs,
  taskIs,
} from '../../support/planned.ts';
import { table } from '../../support/table.ts';

/** A pool with a task to drain, a count to lower, and two jobs that need launches. */
const picture = 'cpu I20m X; gpu [gpu], organization data; 2 jobs of data [gpu]';

const planAfter = (change: Change) => planOf(picture, change);

const SCALE_IN = ['ask-to-leave cpu', 'set-desired cpu'];
const SCALE_OUT = 'set-desired gpu';
const kindsOf = ({ actions }: Plan) => actions.map(({ kind, pool }) => `${kind} ${pool}`);

it('scales in and out without doubts', () => {
  const plan = planAfter(() => {});
  expect(kindsOf(plan)).toEqual([SCALE_OUT, ...SCALE_IN]);
  expect(plan.findings).toEqual([]);
});

describe('a doubt', () => {
  const iso = (time: number) => new Date(time).toISOString();
  const ofUnlistedWorker: Change = (snapshot) => {
    organizationIn(snapshot).jobs.items.push({
      id: 'stray',
      created_at: snapshot.takenAt,
      status: 'running',
      worker_id: 'gone',
      organization_id: 'org-default',
      tags: {},
      type: 'workspace_build',
    });
  };
  const unread = (status: string) => ({ status, error: 'seen', items: [] });
  it.each(table<{ code: string; change: Change }>`
    code                       | change
    jobs-failed                | ${listIs('jobs', unread('failed'))}
    jobs-forbidden             | ${listIs('jobs', unread('forbidden'))}
    jobs-truncated             | ${listIs('jobs', { status: 'truncated' })}
    daemons-failed             | ${listIs('daemons', unread('failed'))}
    daemons-stale              | ${listIs('daemons', { status: 'stale' })}
    previous-jobs-failed       | ${listIs('previousJobs', { status: 'failed' })}
    daemons-empty-while-leased | ${all(listIs('daemons', { items: [] }), taskIs(0, { createdAt: iso(NOW) }))}
    jobs-empty-while-busy      | ${daemonIs(1, { current_job: { id: 'x', status: 'running' }, last_seen_at: iso(NOW) })}
    worker-unknown             | ${ofUnlistedWorker}
    tasks-fewer-than-counted   | ${serviceIs({ runningCount: 3 })}
  `)('holds scale-in of the affected pools only, with $code', ({ change, code }) => {
    const plan = planAfter(change);
    expect(kindsOf(plan)).toEqual([SCALE_OUT]);
    expect(plan.findings.map((finding) => finding.code)).toContain(code);
  });

  it.each(table<{ scenario: string; change: Change }>`
    scenario              | change
    protections failed    | ${listIs('protections', { status: 'failed', items: [] })}
    protections truncated | ${listIs('protections', { status: 'truncated' })}
    tasks failed          | ${listIs('tasks', { status: 'failed', items: [] })}
  `)('holds scale-in of the whole cluster, with $scenario', ({ change }) => {
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
    const plan = planOf('cpu B B; 2 jobs', listIs('daemons', { status: 'failed', items: [] }));
    expect(plan.actions).toEqual([]);
  });

  it.each([
    { tasks: 'I1m I1m', expected: [], because: 'desired tasks count as starting' },
    {
      tasks: 'B B',
      expected: [{ from: 2, to: 3 }],
      because: 'daemons that are busy are no supply, wherever they run, and a new process tries one task',
    },
  ])(
    'give the right count if tasks are unavailable ($tasks, 2 pending jobs): $because',
    ({ tasks, expected }) => {
      const plan = planOf(`cpu ${tasks}; 2 jobs`, listIs('tasks', { status: 'failed', items: [] }));
      expect(plan.actions).toMatchObject(expected);
    },
  );
});

it('touches neither of two services with the same pool tag', () => {
  const plan = planOf('cpu; job', ({ ecs }) => {
    ecs.services.items.push({ ...ecs.services.items[0], serviceName: 'other', serviceArn: 'arn:other' });
  });
  expect(plan.actions).toEqual([]);
  const [ambiguous, ...others] = plan.findings;
  expect(codesInWords(ambiguous ? [ambiguous] : [])).toBe(
    'service-ambiguous pool cpu services Stack-cpu+other',
  );
  expect(others).toMatchObject([{ code: 'jobs-about-to-fail', limits: ['no-service'] }]);
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
