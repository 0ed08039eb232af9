/**
 * Overrides: how the tags of a service are parsed and written, and how they change the plan of its
 * pool.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import type { Action, Override, Plan, Reason } from '../../../lambda/decision/model/plan.ts';
import {
  deriveOverrides,
  overrideTextProblem,
  tagKeysOf,
  tagsOfOverride,
} from '../../../lambda/decision/settings/overrides.ts';
import { HOUR, NOW } from '../../support/parts.ts';
import type { Picture, PoolPicture } from '../../support/picture.ts';
import { actionsOf, type Change, edit, organizationIn, planOf, poolOf } from '../../support/planned.ts';
import { runs } from '../../support/runs.ts';
import { type Ugly, uglyStates } from '../../support/ugly/ugly.ts';

const UNTIL = new Date(NOW + HOUR).toISOString();
const note = { until: UNTIL, by: 'anna', why: 'load test' };

/** Tags in the notation of a picture of a pool. */
const set = (kind: 'pause' | 'pin' | 'floor', value: string): Readonly<Record<string, string>> => ({
  [kind]: value,
  [`${kind}-until`]: UNTIL,
  [`${kind}-by`]: 'anna',
  [`${kind}-why`]: 'load test',
});
const pin = (count: number) => set('pin', `${count}`);
const floor = (count: number) => set('floor', `${count}`);
const paused = set('pause', 'all');
const scaleInPaused = set('pause', 'scale-in');

const toTags = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([key, value]) => ({ key, value }));
const read = (values: Readonly<Record<string, string>>) =>
  deriveOverrides(
    { tags: toTags(values).map(({ key, value }) => ({ key: `coder-autoscaler:${key}`, value })) },
    NOW,
  );

describe('deriveOverrides', () => {
  it.each<{
    tags: Readonly<Record<string, string>>;
    active?: readonly Override[];
    malformed?: readonly object[];
    because: string;
  }>([
    { tags: {}, because: 'there is none' },
    { tags: pin(3), active: [{ kind: 'pin', count: 3, ...note }], because: 'it is written in full' },
    { tags: pin(0), active: [{ kind: 'pin', count: 0, ...note }], because: 'such a count is impossible' },
    { tags: floor(2), active: [{ kind: 'floor', count: 2, ...note }], because: 'it is written in full' },
    { tags: paused, active: [{ kind: 'pause', ...note }], because: 'all is paused' },
    { tags: scaleInPaused, active: [{ kind: 'pause-scale-in', ...note }], because: 'only scale-in is' },
    {
      tags: { ...floor(2), ...pin(1), ...paused },
      active: [
        { kind: 'pause', ...note },
        { kind: 'pin', count: 1, ...note },
        { kind: 'floor', count: 2, ...note },
      ],
      because: 'all of them are in force, whatever they do',
    },
    {
      tags: { pin: ' 3 ', 'pin-until': '2026-11-20T11:00:00+01:00' },
      active: [{ kind: 'pin', count: 3, until: UNTIL, by: 'somebody', why: 'no reason given' }],
      because: 'a person wrote it by hand, and gave no reason',
    },
    { tags: { ...pin(3), 'pin-until': '2026-11-20T09:00:00Z' }, because: 'it has just expired' },
    { tags: { pin: 'lots', 'pin-until': '2026-11-20T08:00:00Z' }, because: 'whatever it was, it is over' },
    { tags: { 'pin-until': 'tomorrow', 'pin-by': 'anna' }, because: 'the rest of an override has no effect' },
    {
      tags: { pinn: '3', paused: 'all' },
      malformed: ['paused', 'pinn'].map((name) => ({
        tag: `coder-autoscaler:${name}`,
        seen: name === 'pinn' ? '3' : 'all',
        problem: 'unknown-tag',
      })),
      because: 'several are reported in order, whatever the order in ECS',
    },
    {
      tags: { ...pin(3), 'pin-until': ` ${UNTIL} `, 'pin-by': ' anna ', 'pin-why': ' ' },
      active: [{ kind: 'pin', count: 3, until: UNTIL, by: 'anna', why: 'no reason given' }],
      because: 'white space around a value is not part of it',
    },
    {
      tags: { paused: 'all', pool: 'cpu', 'log-group': 'looks', stack: 'Coder' },
      malformed: [{ tag: 'coder-autoscaler:paused', seen: 'all', problem: 'unknown-tag' }],
      because: 'a person meant an override and mistyped its name',
    },
    {
      tags: { pin: '3' },
      malformed: [{ tag: 'coder-autoscaler:pin-until', seen: '', problem: 'no-end' }],
      because: 'an override without an end might never be removed',
    },
    ...[
      'tomorrow',
      '2026-11-20',
      '18:00',
      'x2026-11-20T18:00:00Z',
      '2026-11-20T18:00:00Z or so',
      '2026-11-20T18:00:00',
      '2026-13-20T18:00:00Z',
    ].map((end) => ({
      tags: { ...pin(3), 'pin-until': end },
      malformed: [{ tag: 'coder-autoscaler:pin-until', seen: end, problem: 'unreadable-end' }],
      because: 'that is no time, or one of no zone',
    })),
    ...['many', '-1', '2.5', '', '100000'].map((seen) => ({
      tags: set('floor', seen),
      malformed: [{ tag: 'coder-autoscaler:floor', seen, problem: 'unknown-value' }],
      because: 'that is no number of tasks',
    })),
    {
      tags: { ...set('pause', 'yes'), ...pin(1) },
      active: [{ kind: 'pin', count: 1, ...note }],
      malformed: [{ tag: 'coder-autoscaler:pause', seen: 'yes', problem: 'unknown-value' }],
      because: 'one that is malformed does not take another along',
    },
  ])('parses $tags, because $because', ({ tags, active = [], malformed = [] }) => {
    expect(read(tags)).toEqual({ active, malformed });
  });
});

describe('tagsOfOverride', () => {
  const text = fc
    .string({ unit: fc.constantFrom('a', 'Ä', '7', ' ', '-', '@', '/') })
    .map((given) => `x${given}x`);
  const kinds = fc.oneof(
    fc.record({ kind: fc.constantFrom<'pause' | 'pause-scale-in'>('pause', 'pause-scale-in') }),
    fc.record({
      kind: fc.constantFrom<'pin' | 'floor'>('pin', 'floor'),
      count: fc.integer({ min: 0, max: 9999 }),
    }),
  );

  it('round-trips an override, and removing its tags removes it', () => {
    fc.assert(
      fc.property(kinds, fc.integer({ min: 1, max: 1e10 }), text, text, (kind, ms, by, why) => {
        const override = { ...kind, until: new Date(NOW + ms).toISOString(), by, why };
        const tags = tagsOfOverride(override);
        expect(deriveOverrides({ tags: toTags(tags) }, NOW)).toEqual({ active: [override], malformed: [] });
        expect(Object.keys(tags).toSorted()).toEqual([...tagKeysOf(kind.kind)].toSorted());
        expect([by, why].map(overrideTextProblem)).toEqual([undefined, undefined]);
      }),
      runs(200),
    );
  });

  it.each([
    { text: 'x'.repeat(256), problem: undefined },
    { text: 'x'.repeat(257), problem: 'it has 257 characters; a tag holds 256' },
    { text: 'Über 4+4=8, or so', problem: /can not hold ","/ },
    { text: 'two\nlines', problem: /can not hold "\\n"/ },
    { text: 'load test @ 9:30 / v2.30_b - ok', problem: undefined },
  ])('explains why a tag cannot hold $text', ({ text: given, problem }) => {
    const seen = overrideTextProblem(given);
    if (problem instanceof RegExp) expect(seen).toMatch(problem);
    else expect(seen).toBe(problem);
  });
});

type Row = {
  readonly pool: PoolPicture;
  readonly others?: Picture['pools'];
  readonly jobs?: number;
  readonly change?: Change;
  readonly expected: readonly string[];
  readonly why?: readonly Reason[];
  readonly because: string;
};

const gpu = { cluster: 'gpu' };
const gpuEu = { cluster: 'gpu', region: 'eu' };
const schedules = [{ from: '08:00', to: '10:00', timezone: 'UTC', min: 5, warm: 2 }];
const unreadable: Change = (snapshot) =>
  Object.assign(organizationIn(snapshot).jobs, { status: 'truncated' });
const withRung =
  (scaleIn: PoolConfig['scaleIn'], protectedMinutes: readonly number[]): Change =>
  (snapshot, config) => {
    edit((config as { pools: object[] }).pools, 0, { scaleIn });
    for (const [index, minutes] of protectedMinutes.entries())
      edit(snapshot.ecs.protections.items, index, {
        protectionEnabled: minutes > 0,
        expirationDate: new Date(NOW + minutes * 60_000).toISOString(),
      });
  };

function plannedOf({ pool, others, jobs = 0, change }: Row): Plan {
  return planOf(
    { pools: { cpu: pool, ...others }, pending: jobs === 0 ? [] : [{ jobs, tags: pool.tags ?? {} }] },
    change,
  );
}

describe('a pin', () => {
  const pinned = (wanted: number, count: number): Reason => ({ code: 'pinned', wanted, count, ...note });
  it.each<Row>([
    {
      pool: { overrides: pin(3) },
      expected: ['cpu 0->3 floor'],
      why: [{ code: 'floor', from: 'pin', count: 3 }],
      because: 'the pin holds without jobs',
    },
    {
      pool: { tasks: 'B I20m', overrides: pin(2) },
      expected: [],
      why: [{ code: 'floor', from: 'pin', count: 2 }],
      because: 'idle ones stay too',
    },
    {
      pool: { tasks: 'B B', overrides: pin(2) },
      jobs: 3,
      expected: [],
      why: [{ code: 'pending-jobs', jobs: 3 }, pinned(5, 2)],
      because: 'no more tasks are launched, and the reason is the pin, not max',
    },
    {
      pool: { tasks: 'B B I20m I5m', overrides: pin(1) },
      expected: ['ask cpu#2'],
      why: [
        pinned(2, 1),
        { code: 'above-pin', tasks: 3 },
        { code: 'idle-long-enough', tasks: 1 },
        { code: 'idle-too-briefly', tasks: 1 },
      ],
      because: 'idle ones above it go by idleTimeout, and busy ones stay',
    },
    { pool: { tasks: 'I20m', overrides: pin(0) }, expected: ['ask cpu#0'], because: 'none is wanted' },
    {
      pool: { overrides: pin(0), min: 2, warm: 1, schedules },
      jobs: 2,
      expected: [],
      because: 'no other setting launches tasks',
    },
    {
      pool: { overrides: pin(3), warm: 2, schedules },
      expected: ['cpu 0->3 floor'],
      because: 'warm and schedules do not come on top',
    },
    {
      pool: { overrides: pin(9), max: 4 },
      expected: ['cpu 0->4 floor'],
      why: [
        { code: 'floor', from: 'pin', count: 9 },
        { code: 'capped-at-max', wanted: 9, max: 4 },
      ],
      because: 'max of the configuration is the limit, and is reported',
    },
    {
      pool: { tasks: 'B B B B B', overrides: pin(6), max: 4 },
      expected: [],
      why: [
        { code: 'floor', from: 'pin', count: 6 },
        { code: 'capped-at-max', wanted: 6, max: 4 },
      ],
      because: 'there are not more than the pin wants',
    },
    {
      pool: { overrides: { ...pin(1), ...floor(4) } },
      expected: ['cpu 0->1 floor'],
      because: 'a pin beats a floor',
    },
    {
      pool: { overrides: { ...pin(2), 'pin-until': '2026-11-20T09:00:00Z' }, min: 1 },
      expected: ['cpu 0->1 floor'],
      because: 'it has expired',
    },
    {
      pool: { tasks: 'I20m I20m', overrides: pin(1) },
      change: unreadable,
      expected: [],
      because: 'doubt holds, pin or not',
    },
  ])('plans $expected for $pool (pending jobs: $jobs), because $because', (row) => {
    const plan = plannedOf(row);
    expect(actionsOf(plan)).toEqual(row.expected);
    if (row.why !== undefined) expect(poolOf(plan, 'cpu').why).toEqual(row.why);
  });

  it('leaves due transitions to a pool that may start if it is at zero', () => {
    const plan = planOf({
      pools: { cpu: { tags: gpu, overrides: pin(0), cpu: 256 }, spare: { tags: gpuEu, cpu: 4096 } },
      workspaces: [{ startsInS: 60, tags: gpu }],
    });
    expect(actionsOf(plan)).toEqual(['spare 0->1 prewarm']);
  });
});

describe('a floor', () => {
  it.each<Row>([
    {
      pool: { overrides: floor(2) },
      expected: ['cpu 0->2 floor'],
      why: [{ code: 'floor', from: 'override', count: 2 }],
      because: 'the floor holds without jobs',
    },
    {
      pool: { overrides: floor(2), min: 3 },
      expected: ['cpu 0->3 floor'],
      why: [{ code: 'floor', from: 'min', count: 3 }],
      because: 'the higher one holds',
    },
    {
      pool: { overrides: floor(3), min: 3 },
      expected: ['cpu 0->3 floor'],
      why: [{ code: 'floor', from: 'min', count: 3 }],
      because: 'between equals the setting is named',
    },
    {
      pool: { overrides: floor(2) },
      jobs: 5,
      expected: ['cpu 0->5 pending-jobs'],
      because: 'jobs may need more',
    },
    {
      pool: { overrides: floor(2), schedules },
      expected: ['cpu 0->5 floor'],
      why: [{ code: 'floor', from: 'schedule', count: 5 }],
      because: 'schedules go on',
    },
    {
      pool: { overrides: floor(9), max: 4 },
      expected: ['cpu 0->4 floor'],
      why: [
        { code: 'floor', from: 'override', count: 9 },
        { code: 'capped-at-max', wanted: 9, max: 4 },
      ],
      because: 'max is the bound',
    },
    {
      pool: { tasks: 'I20m I20m I20m', overrides: floor(2) },
      expected: ['ask cpu#1'],
      because: 'the other tasks have to stay',
    },
  ])('plans $expected for $pool (pending jobs: $jobs), because $because', (row) => {
    const plan = plannedOf(row);
    expect(actionsOf(plan)).toEqual(row.expected);
    if (row.why !== undefined) expect(poolOf(plan, 'cpu').why).toEqual(row.why);
  });
});

describe('a pause', () => {
  const reason: Reason = { code: 'paused', ...note };
  it.each<Row>([
    { pool: { overrides: paused, min: 3 }, jobs: 4, expected: [], because: 'nothing is launched' },
    { pool: { tasks: 'I20m', overrides: paused }, expected: [], because: 'no task gets a drain request' },
    { pool: { tasks: 'B X', overrides: paused }, expected: [], because: 'no count is lowered' },
    { pool: { tasks: 'B B', desired: 1, overrides: paused }, expected: [], because: 'no count is raised' },
    { pool: { overrides: { ...paused, ...pin(3) } }, expected: [], because: 'it beats a pin' },
    {
      pool: { tasks: 'I20m', retiring: true, overrides: paused },
      expected: [],
      because: 'it beats retiring',
    },
    {
      pool: { tasks: 'I1m P', tags: gpu, overrides: paused },
      others: { spare: { tags: gpuEu } },
      jobs: 3,
      expected: ['spare 0->1 pending-jobs'],
      because: 'its existing tasks are offered, and the rest is launched elsewhere',
    },
  ])('plans $expected for $pool (pending jobs: $jobs), because $because', (row) => {
    const plan = plannedOf(row);
    expect(actionsOf(plan)).toEqual(row.expected);
    expect(poolOf(plan, 'cpu').why).toContainEqual(reason);
    expect(poolOf(plan, 'cpu').floor.count).toBe(0);
  });

  it.each(['confirm', 'never', 'lease'] as const)(
    'protects the builds of tasks without a guard with rung %s',
    (scaleIn) => {
      const plan = planOf(
        { pools: { cpu: { tasks: 'B I20m', overrides: paused } } },
        withRung(scaleIn, [5, 5]),
      );
      expect(plan.actions).toMatchObject([{ kind: 'protect', why: 'may-hold-a-job' }]);
      expect(poolOf(plan, 'cpu').why).toEqual([reason, { code: 'protecting', tasks: 1 }]);
    },
  );

  it('lets a pool that is awake open the gate, and wakes another pool instead of one at zero', () => {
    const wakes = (tasks: string): readonly string[] =>
      actionsOf(
        planOf({
          pools: {
            cpu: { tasks, tags: gpu, overrides: paused, cpu: 256 },
            spare: { tags: gpuEu, cpu: 4096, prewarm: { max: 0 } },
          },
          workspaces: [{ startsInS: 60, tags: gpu }],
        }),
      );
    expect([wakes('I1m'), wakes('')]).toEqual([[], ['spare 0->1 awake-for']]);
  });
});

describe('a pause of scale-in', () => {
  const reason: Reason = { code: 'scale-in-paused', ...note };
  it.each<Row>([
    {
      pool: { tasks: 'I20m', overrides: scaleInPaused },
      expected: [],
      why: [reason],
      because: 'no task gets a drain request',
    },
    {
      pool: { tasks: 'B X', overrides: scaleInPaused },
      expected: [],
      why: [reason],
      because: 'no count is lowered',
    },
    {
      pool: { tasks: 'B Z', overrides: scaleInPaused },
      expected: [],
      why: [reason],
      because: 'no task is replaced',
    },
    {
      pool: { tasks: 'B', overrides: scaleInPaused },
      jobs: 2,
      expected: ['cpu 1->3 pending-jobs'],
      why: [reason, { code: 'pending-jobs', jobs: 2 }],
      because: 'scale-out continues',
    },
    {
      pool: { tasks: 'I20m I20m', overrides: { ...scaleInPaused, ...pin(3) } },
      expected: ['cpu 2->3 floor'],
      because: 'a pin holds beside it',
    },
    {
      pool: { tasks: 'I20m', overrides: scaleInPaused },
      change: unreadable,
      expected: [],
      why: [reason, { code: 'holding-for-doubt', doubts: ['jobs-truncated', 'scale-in-paused'] }],
      because: 'other doubts are reported too',
    },
    {
      pool: { tasks: 'I20m', overrides: scaleInPaused },
      change: withRung('confirm', [0]),
      expected: [],
      because: 'rung confirm stops no task either',
    },
  ])('plans $expected for $pool (pending jobs: $jobs), because $because', (row) => {
    const plan = plannedOf(row);
    expect(actionsOf(plan)).toEqual(row.expected);
    if (row.why !== undefined) expect(poolOf(plan, 'cpu').why).toEqual(row.why);
  });
});

describe('a malformed override', () => {
  const malformed = { pin: '3' };
  it('is a finding and holds scale-in, while scale-out continues', () => {
    const plan = planOf({
      pools: { cpu: { tasks: 'I20m', overrides: malformed }, gpu: { tasks: 'I20m', tags: { gpu: '1' } } },
      pending: [{ jobs: 2 }],
    });
    expect(plan.findings).toEqual([
      {
        code: 'override-malformed',
        pool: 'cpu',
        tag: 'coder-autoscaler:pin-until',
        seen: '',
        problem: 'no-end',
      },
    ]);
    expect(actionsOf(plan)).toEqual(['cpu 1->2 pending-jobs', 'ask gpu#0']);
  });

  it('holds scale-in, and the plan reports it', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I20m', overrides: malformed } } });
    expect(plan.actions).toEqual([]);
    expect(poolOf(plan, 'cpu').why).toEqual([{ code: 'holding-for-doubt', doubts: ['override-malformed'] }]);
  });
});

it('reports overrides in the plan', () => {
  const plan = planOf({ pools: { cpu: { overrides: pin(3) }, gpu: { tags: { gpu: '1' } } } });
  expect(poolOf(plan, 'cpu').overrides).toEqual([{ kind: 'pin', count: 3, ...note }]);
  expect(poolOf(plan, 'gpu').overrides).toEqual([]);
});

describe('overrides in random states', () => {
  /** Adds these tags to all services, replacing earlier values. */
  const withTags = ({ snapshot, config }: Ugly, values: Readonly<Record<string, string>>): Plan => {
    const added = toTags(values).map(({ key, value }) => ({ key: `coder-autoscaler:${key}`, value }));
    const { services } = snapshot.ecs;
    const items = services.items.map((service) => ({
      ...service,
      tags: [...service.tags.filter(({ key }) => key.endsWith(':pool')), ...added],
    }));
    return decide({ ...snapshot, ecs: { ...snapshot.ecs, services: { ...services, items } } }, config);
  };
  const lowersOrAsks = ({ actions }: Plan): readonly Action[] =>
    actions.filter(
      (action) =>
        action.kind === 'ask-to-leave' || (action.kind === 'set-desired' && action.to < action.from),
    );
  const all = uglyStates({ view: 'any' });

  it('pause plans no action except protect', () => {
    fc.assert(
      fc.property(all, (ugly) => {
        const { actions } = withTags(ugly, paused);
        expect(actions.filter(({ kind }) => kind !== 'protect')).toEqual([]);
      }),
      runs(500),
    );
  });

  it.each([
    ['a pause of scale-in', scaleInPaused],
    ['one that is malformed', { floor: '2' }],
  ])('%s drains nothing and lowers no count', (_, tags) => {
    fc.assert(
      fc.property(all, (ugly) => {
        expect(lowersOrAsks(withTags(ugly, tags))).toEqual([]);
      }),
      runs(500),
    );
  });

  it('a pin at zero launches nothing', () => {
    fc.assert(
      fc.property(all, (ugly) => {
        for (const action of withTags(ugly, pin(0)).actions)
          if (action.kind === 'set-desired' && action.to > action.from)
            expect(action.why).toBe('count-below-tasks');
      }),
      runs(500),
    );
  });

  it('an expired override changes nothing', () => {
    fc.assert(
      fc.property(all, (ugly) => {
        const expired = { ...paused, 'pause-until': new Date(NOW).toISOString() };
        expect(withTags(ugly, expired)).toEqual(withTags(ugly, {}));
      }),
      runs(300),
    );
  });
});
