/** A retiring pool: all its tasks drain, and none is launched. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { Reason } from '../../../lambda/decision/model/plan.ts';
import { NOW } from '../../support/parts.ts';
import type { Picture, PoolPicture } from '../../support/picture.ts';
import { actionsOf, type Change, edit, organizationIn, planOf, poolOf } from '../../support/planned.ts';
import { runs } from '../../support/runs.ts';
import { uglyStates } from '../../support/ugly/ugly.ts';

const unreadable: Change = (snapshot) =>
  Object.assign(organizationIn(snapshot).jobs, { status: 'truncated' });
/** Tasks without a guard, each with this many minutes of protection. */
const confirming =
  (...minutes: readonly number[]): Change =>
  (snapshot, config) => {
    edit((config as { pools: object[] }).pools, 0, { scaleIn: 'confirm' });
    for (const [index, left] of minutes.entries())
      edit(snapshot.ecs.protections.items, index, {
        protectionEnabled: left > 0,
        expirationDate: new Date(NOW + left * 60_000).toISOString(),
      });
  };
const schedules = [{ from: '08:00', to: '10:00', timezone: 'UTC', min: 5, warm: 2 }];
const pinned = { pin: '3', 'pin-until': '2026-11-20T10:00:00Z' };

type Row = {
  readonly pool: PoolPicture;
  readonly jobs?: number;
  readonly change?: Change;
  readonly expected: readonly string[];
  readonly why?: readonly Reason[];
  readonly because: string;
};

const plannedOf = ({ pool, jobs = 0, change }: Row) =>
  planOf(
    { pools: { cpu: { retiring: true, ...pool } }, pending: jobs === 0 ? [] : [{ jobs }] } satisfies Picture,
    change,
  );

it.each<Row>([
  {
    pool: { tasks: 'B I1m B' },
    expected: ['ask cpu#0', 'ask cpu#1', 'ask cpu#2'],
    why: [{ code: 'retiring', tasks: 3, asked: 3 }],
    because: 'all drain at once, busy ones too: their guards let builds finish',
  },
  {
    pool: { tasks: 'I1m' },
    jobs: 3,
    expected: ['ask cpu#0'],
    because: 'nothing is launched, whatever jobs wait',
  },
  {
    pool: { min: 2, warm: 1, schedules },
    expected: [],
    why: [{ code: 'retired' }],
    because: 'no floor launches a task',
  },
  { pool: { tasks: 'B', overrides: pinned }, expected: ['ask cpu#0'], because: 'a pin does not keep it' },
  {
    pool: { tasks: 'P', desired: 2 },
    expected: [],
    why: [{ code: 'retiring-waits', starting: 2, leaving: 0, unguarded: 0 }],
    because: 'a starting task gets a drain request once it works',
  },
  {
    pool: { tasks: 'L' },
    expected: [],
    why: [{ code: 'retiring-waits', starting: 0, leaving: 1, unguarded: 0 }],
    because: 'it has a drain request',
  },
  { pool: { tasks: 'X' }, expected: ['cpu 1->0 tasks-left'], because: 'it has left' },
  { pool: { tasks: 'L X' }, expected: ['cpu 2->1 tasks-left'], because: 'a draining task is not stopped' },
  {
    pool: { tasks: 'B I20m' },
    change: unreadable,
    expected: [],
    why: [{ code: 'holding-for-doubt', doubts: ['jobs-truncated'] }],
    because: 'with doubts nothing scales in',
  },
  { pool: {}, change: unreadable, expected: [], because: 'unseen tasks may exist' },
  {
    pool: { tasks: 'B', deploying: true },
    expected: ['ask cpu#0'],
    because: 'a deployment waits for it too',
  },
  {
    pool: { tasks: 'B U1m' },
    expected: [],
    why: [
      { code: 'retiring-waits', starting: 0, leaving: 1, unguarded: 0 },
      { code: 'retiring', tasks: 1, asked: 0 },
      { code: 'holding-for-unguarded', tasks: 1 },
    ],
    because: 'one without a lease may have a job, and ECS could choose it',
  },
])('plans $expected for $pool (pending jobs: $jobs), because $because', (row) => {
  const plan = plannedOf(row);
  expect(actionsOf(plan).toSorted()).toEqual(row.expected);
  if (row.why !== undefined) expect(poolOf(plan, 'cpu').why).toEqual(row.why);
  expect(poolOf(plan, 'cpu').retiring).toBe(true);
});

it.each([
  { tasks: 'I1m', minutes: [0], expected: [[1, 0]], because: 'it need not be idle for long' },
  { tasks: 'B I1m', minutes: [30, 0], expected: [[2, 1]], because: 'the busy one is protected' },
  { tasks: 'I1m', minutes: [12], expected: [], because: 'the autoscaler never removes a protection' },
])(
  'gives $expected for tasks $tasks without a guard and $minutes min of protection, because $because',
  (row) => {
    const { actions } = plannedOf({
      pool: row,
      change: confirming(...row.minutes),
      expected: [],
      because: '',
    });
    const lowered = actions.map((action) =>
      action.kind === 'set-desired' ? [action.from, action.to] : action,
    );
    expect(lowered).toEqual(row.expected);
  },
);

describe('the jobs of a retiring pool', () => {
  const gpu = { cluster: 'gpu' };

  it('are unserved if no other pool can run them', () => {
    const plan = planOf({
      pools: { cpu: { retiring: true, tasks: 'B' }, gpu: { tags: gpu } },
      pending: [{ jobs: 2 }],
    });
    expect(plan.unserved).toMatchObject([{ jobs: 2, why: 'pool-is-retiring', closest: { pool: 'cpu' } }]);
  });

  it('are assigned to existing daemons while no task may drain; the others are unserved', () => {
    const plan = planOf(
      { pools: { cpu: { retiring: true, tasks: 'I1m R' } }, pending: [{ jobs: 3 }] },
      unreadable,
    );
    expect(plan.assignment).toMatchObject([{ jobs: 1, pool: 'cpu', served: 'by-free' }]);
    expect(plan.unserved).toMatchObject([{ jobs: 2, oldest: '2026-11-20T08:59:31.000Z' }]);
  });

  it('are assigned to its successor, which may have the same tags', () => {
    const plan = planOf({
      pools: { old: { retiring: true, tasks: 'I1m' }, new: {} },
      pending: [{ jobs: 2 }],
    });
    expect(actionsOf(plan)).toEqual(['new 0->2 pending-jobs', 'ask old#0']);
    expect(plan.findings).toEqual([]);
  });

  it('are reported before they exist, if no other pool can wake for them', () => {
    const retiring = { retiring: true, tasks: 'I1m' };
    const workspaces = [{ startsInS: 10 }];
    expect(planOf({ pools: { old: retiring }, workspaces }).findings).toMatchObject([
      { code: 'transitions-without-pool', transitions: 1 },
    ]);
    const followed = planOf({ pools: { old: retiring, new: {} }, workspaces });
    expect(actionsOf(followed)).toEqual(['new 0->1 prewarm', 'ask old#0']);
    expect(followed.findings).toEqual([]);
  });
});

it('launches nothing in a retiring pool in random states', () => {
  fc.assert(
    fc.property(uglyStates({ view: 'any' }), ({ snapshot, config }) => {
      const pools = config.pools.map((pool) => ({ ...pool, retiring: true }));
      const { actions, assignment } = decide(snapshot, { ...config, pools });
      for (const action of actions)
        if (action.kind === 'set-desired' && action.to > action.from)
          expect(action.why).toBe('count-below-tasks');
      expect(assignment.filter(({ pool, served }) => pool !== null && served !== 'by-free')).toEqual([]);
    }),
    runs(500),
  );
});
