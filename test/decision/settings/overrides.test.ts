/**
 * Overrides: how the tags of a service are parsed and written, and how they change the plan of its
 * pool.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Override, Plan, Reason } from '../../../lambda/decision/model/plan.ts';
import {
  deriveOverrides,
  overrideTextProblem,
  tagKeysOf,
  tagsOfOverride,
} from '../../../lambda/decision/settings/overrides.ts';
import { NOW } from '../../support/parts.ts';
import {
  actionsOf,
  type Change,
  codesInWords,
  edit,
  inWords,
  listIs,
  planOf,
  poolOf,
} from '../../support/planned.ts';
import { runs } from '../../support/runs.ts';
import { table } from '../../support/table.ts';
import { NOTE } from '../../support/world-in-words.ts';

const UNTIL = NOTE.until;

/** Tags in the notation of a picture of a pool. */
const set = (kind: 'pause' | 'pin' | 'floor', value: string): Readonly<Record<string, string>> => ({
  [kind]: value,
  [`${kind}-until`]: UNTIL,
  [`${kind}-by`]: NOTE.by,
  [`${kind}-why`]: NOTE.why,
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
    { tags: pin(3), active: [{ kind: 'pin', count: 3, ...NOTE }], because: 'it is written in full' },
    { tags: pin(0), active: [{ kind: 'pin', count: 0, ...NOTE }], because: 'such a count is impossible' },
    { tags: floor(2), active: [{ kind: 'floor', count: 2, ...NOTE }], because: 'it is written in full' },
    { tags: paused, active: [{ kind: 'pause', ...NOTE }], because: 'all is paused' },
    { tags: scaleInPaused, active: [{ kind: 'pause-scale-in', ...NOTE }], because: 'only scale-in is' },
    {
      tags: { ...floor(2), ...pin(1), ...paused },
      active: [
        { kind: 'pause', ...NOTE },
        { kind: 'pin', count: 1, ...NOTE },
        { kind: 'floor', count: 2, ...NOTE },
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
      tags: set('pause', 'constructor'),
      malformed: [{ tag: 'coder-autoscaler:pause', seen: 'constructor', problem: 'unknown-value' }],
      because: 'a word that every object has is no kind of pause',
    },
    {
      tags: { ...set('pause', 'yes'), ...pin(1) },
      active: [{ kind: 'pin', count: 1, ...NOTE }],
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
  readonly world: string;
  readonly change?: Change;
  readonly expected: string;
  /** The reasons. NOTE is the end, the author and the reason of an override. */
  readonly why?: string;
  readonly because: string;
};

const unreadable = listIs('jobs', { status: 'truncated' });
const protectedFor =
  (...protectedMinutes: readonly number[]): Change =>
  (snapshot) => {
    for (const [index, minutes] of protectedMinutes.entries())
      edit(snapshot.ecs.protections.items, index, {
        protectionEnabled: minutes > 0,
        expirationDate: new Date(NOW + minutes * 60_000).toISOString(),
      });
  };

/** Plans, and compares actions and reasons with those of the row. */
function checked({ world, change, expected, why }: Row): Plan {
  const plan = planOf(world, change);
  expect(inWords(actionsOf(plan))).toBe(expected);
  const note = codesInWords([{ code: '', ...NOTE }]).trim();
  if (why !== undefined) expect(codesInWords(poolOf(plan, 'cpu').why)).toBe(why.replaceAll('NOTE', note));
  return plan;
}

describe('a pin', () => {
  it.each(table<Row>`
    world                   | change | why                    | expected       | because
    cpu, pin 3              |        | floor count 3 from pin | cpu 0->3 floor | the pin holds without jobs
    cpu B I20m, pin 2       |        | floor count 2 from pin | nothing        | idle ones stay too
    cpu B B, pin 2; 3 jobs  |        | pending-jobs jobs 3, pinned wanted 5 count 2 NOTE | nothing        | no more tasks are launched, and the reason is the pin, not max
    cpu B B I20m I5m, pin 1 |        | pinned wanted 2 count 1 NOTE, above-pin tasks 3, idle-long-enough tasks 1, idle-too-briefly tasks 1 | ask cpu#2      | idle ones above it go by idleTimeout, and busy ones stay
    cpu I20m, pin 0         |        |                        | ask cpu#0      | none is wanted
    cpu, min 2, warm 1, scheduled, pin 0; 2 jobs |        |                        | nothing        | no other setting launches tasks
    cpu, warm 2, scheduled, pin 3 |        |                        | cpu 0->3 floor | warm and schedules do not come on top
    cpu, max 4, pin 9       |        | floor count 9 from pin, capped-at-max wanted 9 max 4 | cpu 0->4 floor | max of the configuration is the limit, and is reported
    cpu B B B B B, max 4, pin 6 |        | floor count 6 from pin, capped-at-max wanted 6 max 4 | nothing        | there are not more than the pin wants
    cpu, pin 1, floor 4     |        |                        | cpu 0->1 floor | a pin beats a floor
    cpu, min 1, pin 2, pin-until 2026-11-20T09:00:00Z |        |                        | cpu 0->1 floor | it has expired
    cpu I20m I20m, pin 1    | ${unreadable} |                        | nothing        | doubt holds, pin or not
  `)('plans $expected for $world, because $because', (row) => {
    checked(row);
  });

  it('leaves due transitions to a pool that may start if it is at zero', () => {
    const plan = planOf('cpu [gpu], pin 0, cpu 256; spare [gpu eu], cpu 4096; start in 60s [gpu]');
    expect(actionsOf(plan)).toEqual(['spare 0->1 prewarm']);
  });
});

describe('a floor', () => {
  it.each(table<Row>`
    world                   | why                         | expected       | because
    cpu, floor 2            | floor count 2 from override | cpu 0->2 floor | the floor holds without jobs
    cpu, min 3, floor 2     | floor count 3 from min      | cpu 0->3 floor | the higher one holds
    cpu, min 3, floor 3     | floor count 3 from min      | cpu 0->3 floor | between equals the setting is named
    cpu, floor 2; 5 jobs    |                             | cpu 0->5 pending-jobs | jobs may need more
    cpu, scheduled, floor 2 | floor count 5 from schedule | cpu 0->5 floor | schedules go on
    cpu, max 4, floor 9     | floor count 9 from override, capped-at-max wanted 9 max 4 | cpu 0->4 floor | max is the bound
    cpu I20m I20m I20m, floor 2 |                             | ask cpu#1      | the other tasks have to stay
  `)('plans $expected for $world, because $because', (row) => {
    checked(row);
  });
});

describe('a pause', () => {
  const reason: Reason = { code: 'paused', ...NOTE };
  it.each(table<Row>`
    world                                                 | expected                | because
    cpu, min 3, paused; 4 jobs                            | nothing                 | nothing is launched
    cpu I20m, paused                                      | nothing                 | no task gets a drain request
    cpu B X, paused                                       | nothing                 | no count is lowered
    cpu B B, desired 1, paused                            | nothing                 | no count is raised
    cpu, paused, pin 3                                    | nothing                 | it beats a pin
    cpu I20m, retiring, paused                            | nothing                 | it beats retiring
    cpu I1m P [gpu], paused; spare [gpu eu]; 3 jobs [gpu] | spare 0->1 pending-jobs | its existing tasks are offered, and the rest is launched elsewhere
  `)('plans $expected for $world, because $because', (row) => {
    const plan = checked(row);
    expect(poolOf(plan, 'cpu').why).toContainEqual(reason);
    expect(poolOf(plan, 'cpu').floor.count).toBe(0);
  });

  it('protects the builds of tasks without a guard', () => {
    const plan = planOf('cpu B I20m, paused', protectedFor(5, 5));
    expect(plan.actions).toMatchObject([{ kind: 'protect', why: 'may-hold-a-job' }]);
    expect(poolOf(plan, 'cpu').why).toEqual([reason, { code: 'protecting', tasks: 1 }]);
  });

  it('lets a pool that is awake open the gate, and wakes another pool instead of one at zero', () => {
    const spare = 'spare [gpu eu], cpu 4096; start in 60s [gpu]; autostarts cost 0';
    expect(actionsOf(planOf(`cpu I1m [gpu], paused, cpu 256; ${spare}`))).toEqual([]);
    expect(actionsOf(planOf(`cpu [gpu], paused, cpu 256; ${spare}`))).toEqual(['spare 0->1 awake-for']);
  });
});

describe('a pause of scale-in', () => {
  it.each(table<Row>`
    world                        | change        | why                                       | expected       | because
    cpu I20m, scaleInPaused      |               | scale-in-paused NOTE                      | nothing        | no task gets a drain request
    cpu B X, scaleInPaused       |               | scale-in-paused NOTE                      | nothing        | no count is lowered
    cpu B Z, scaleInPaused       |               | scale-in-paused NOTE                      | nothing        | no task is replaced
    cpu B, scaleInPaused; 2 jobs |               | scale-in-paused NOTE, pending-jobs jobs 2 | cpu 1->3 pending-jobs | scale-out continues
    cpu I20m I20m, scaleInPaused, pin 3 |               |                                           | cpu 2->3 floor | a pin holds beside it
    cpu I20m, scaleInPaused      | ${unreadable} | scale-in-paused NOTE, holding-for-doubt doubts jobs-truncated+scale-in-paused | nothing        | other doubts are reported too
  `)('plans $expected for $world, because $because', (row) => {
    checked(row);
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
  expect(poolOf(plan, 'cpu').overrides).toEqual([{ kind: 'pin', count: 3, ...NOTE }]);
  expect(poolOf(plan, 'gpu').overrides).toEqual([]);
});
