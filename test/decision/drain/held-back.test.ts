/**
 * Transitions that wait for people: no pool wakes for them, because every pool that could is paused
 * or pinned.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { ForecastRow, Plan, Reason } from '../../../lambda/decision/model/plan.ts';
import { NOW } from '../../support/parts.ts';
import type { Picture } from '../../support/picture.ts';
import { addFailedStarts, type Change, planOf, poolOf } from '../../support/planned.ts';
import { runs } from '../../support/runs.ts';
import { uglyStates } from '../../support/ugly/ugly.ts';

const UNTIL = '2026-11-20T10:00:00.000Z';
const paused = { pause: 'all', 'pause-until': UNTIL };
const pin = (count: number) => ({ pin: `${count}`, 'pin-until': UNTIL });
const floor = { floor: '1', 'floor-until': UNTIL };
const scaleInPaused = { pause: 'scale-in', 'pause-until': UNTIL };
const gpu = { cluster: 'gpu' };
const gpuEu = { cluster: 'gpu', region: 'eu' };
const asleep = { tags: gpu, overrides: paused };
/** This pool could open the gate, but does not wake for it. */
const unwoken = { tags: gpuEu, wake: { autostop: false } };
const LATE_S = -3600;

/**
 * The findings about transitions in a plan: `held 2 autostop by cpu (pause)`, `late 1 autostart`.
 */
function foundIn({ findings }: Plan): readonly string[] {
  return findings.flatMap((finding) => {
    if (!('transitions' in finding)) return [];
    const what = `${finding.code.replace('transitions-', '')} ${finding.transitions} ${finding.kind}`;
    if (finding.code !== 'transitions-held') return [what];
    const pools = finding.pools.map(({ name, override }) => `${name} (${override.kind})`);
    return [`${what} by ${pools.join(', ')}`];
  });
}

type Row = {
  readonly scenario: string;
  readonly pools: Picture['pools'];
  readonly strangers?: Picture['strangers'];
  /**
   * Default: two autostops that have been overdue for a minute, so their waiting costs as much as a
   * start.
   */
  readonly workspaces?: Picture['workspaces'];
  readonly change?: Change;
  readonly expected: readonly string[];
  readonly because: string;
};

const planFor = ({ pools, strangers = [], workspaces, change }: Row): Plan =>
  planOf({ pools, strangers, workspaces: workspaces ?? [{ tags: gpu, stopsInS: -60, count: 2 }] }, change);

it.each<Row>([
  {
    scenario: 'a paused pool that sleeps',
    pools: { cpu: asleep },
    expected: ['held 2 autostop by cpu (pause)'],
    because: 'it would have been woken',
  },
  {
    scenario: 'a pool that is pinned at none',
    pools: { cpu: { tags: gpu, overrides: pin(0) } },
    expected: ['held 2 autostop by cpu (pin)'],
    because: 'the pool should have no task',
  },
  {
    scenario: 'a pool that is paused and pinned',
    pools: { cpu: { tags: gpu, overrides: { ...pin(0), ...paused } } },
    expected: ['held 2 autostop by cpu (pause)'],
    because: 'the pause beats the pin',
  },
  {
    scenario: 'a pool that is pinned at none, its scale-in paused',
    pools: { cpu: { tags: gpu, overrides: { ...pin(0), ...scaleInPaused } } },
    expected: ['held 2 autostop by cpu (pin)'],
    because: 'a pause of scale-in does not prevent waking',
  },
  {
    scenario: 'one paused, one pinned',
    pools: { eu: { tags: gpuEu, overrides: pin(0) }, cpu: asleep },
    expected: ['held 2 autostop by cpu (pause), eu (pin)'],
    because: 'either would do',
  },
  {
    scenario: 'overdue for an hour',
    pools: { cpu: asleep },
    workspaces: [{ tags: gpu, stopsInS: LATE_S }],
    expected: ['held 1 autostop by cpu (pause)'],
    because: 'the delay is reported once, with its cause',
  },
  {
    scenario: 'autostops that are overdue for half a minute',
    pools: { cpu: asleep },
    workspaces: [{ tags: gpu, stopsInS: -30, count: 2 }],
    expected: [],
    because: 'several stops share one start, so no pool would start for them yet',
  },
  {
    scenario: 'an autostart in a minute, an autostop long ago',
    pools: { cpu: asleep },
    workspaces: [
      { tags: gpu, startsInS: 60 },
      { tags: gpu, stopsInS: LATE_S },
    ],
    expected: ['held 1 autostart by cpu (pause)', 'held 1 autostop by cpu (pause)'],
    because: 'a task would have to start now to be in time',
  },
  {
    scenario: 'an autostop in half an hour',
    pools: { cpu: asleep },
    workspaces: [{ tags: gpu, stopsInS: 1800 }],
    expected: [],
    because: 'by then the pause may be over',
  },
  {
    scenario: 'a paused pool with a daemon',
    pools: { cpu: { ...asleep, tasks: 'I20m' } },
    expected: [],
    because: 'it stays and opens the gate',
  },
  {
    scenario: 'a paused pool with a starting daemon',
    pools: { cpu: { ...asleep, tasks: 'P' } },
    expected: [],
    because: 'it will open the gate soon',
  },
  {
    scenario: 'a paused pool with a last daemon that drains',
    pools: { cpu: { ...asleep, tasks: 'L' } },
    expected: ['held 2 autostop by cpu (pause)'],
    because: 'no daemon follows it',
  },
  {
    scenario: 'a daemon that is not there for long any more',
    pools: { cpu: { tags: gpu, overrides: pin(0), tasks: 'B' } },
    expected: [],
    because: 'as long as it is there the gate is open',
  },
  {
    scenario: 'a pin at one',
    pools: { cpu: { tags: gpu, overrides: pin(1) } },
    expected: [],
    because: 'it brings a daemon, though not for this',
  },
  {
    scenario: 'a pin at one with failing starts',
    pools: { cpu: { tags: gpu, overrides: pin(1) } },
    workspaces: [{ tags: gpu, stopsInS: LATE_S }],
    change: (snapshot) => addFailedStarts(snapshot, 'cpu', 3),
    expected: ['late 1 autostop'],
    because: 'it does not wait for the pin',
  },
  {
    scenario: 'a floor of one',
    pools: { cpu: { tags: gpu, overrides: floor } },
    expected: [],
    because: 'no pool is kept from waking',
  },
  {
    scenario: 'a pool beside it that can be woken',
    pools: { cpu: asleep, eu: { tags: gpuEu } },
    expected: [],
    because: 'it is woken instead',
  },
  {
    scenario: 'a pool beside it that could be woken, without a service',
    pools: { cpu: asleep, eu: { tags: gpuEu } },
    change: ({ ecs }) => {
      ecs.services.items.pop();
    },
    expected: ['held 2 autostop by cpu (pause)'],
    because: 'there is no pool to wake',
  },
  {
    scenario: 'no pool but one without a service',
    pools: { eu: { tags: gpuEu } },
    change: ({ ecs }) => {
      ecs.services.items.pop();
    },
    expected: [],
    because: 'no override prevents waking; the missing service is reported',
  },
  {
    scenario: 'a pool beside it that is not woken and sleeps',
    pools: { cpu: asleep, eu: unwoken },
    expected: ['held 2 autostop by cpu (pause)'],
    because: 'it is no help, and was not meant to be',
  },
  {
    scenario: 'a pool beside it that is not woken and has a daemon for now',
    pools: { cpu: asleep, eu: { ...unwoken, tasks: 'B' } },
    expected: [],
    because: 'that opens the gate as long as it is there',
  },
  ...[{ min: 1 }, { warm: 1 }].map((kept) => ({
    scenario: `a pool beside it that is not woken and is to keep one: ${Object.keys(kept)}`,
    pools: { cpu: asleep, eu: { ...unwoken, ...kept } },
    expected: [],
    because: 'its daemon is about to come',
  })),
  {
    scenario: 'a pool beside it without a service that would keep one',
    pools: { cpu: asleep, eu: { ...unwoken, min: 1 } },
    change: ({ ecs }) => {
      ecs.services.items.pop();
    },
    expected: ['held 2 autostop by cpu (pause)'],
    because: 'no task is launched',
  },
  {
    scenario: "others' daemons",
    pools: { cpu: asleep },
    strangers: [{ tags: gpu, busy: true }],
    expected: [],
    because: 'they open the gate',
  },
  {
    scenario: 'a pool that is not woken for it, paused',
    pools: { cpu: { ...asleep, wake: { autostop: false } } },
    expected: [],
    because: 'the configuration wants it so',
  },
  {
    scenario: 'a pool that is woken for it and not for the other, paused',
    pools: { cpu: { ...asleep, wake: { autostop: false } } },
    workspaces: [{ tags: gpu, startsInS: -30 }],
    expected: ['held 1 autostart by cpu (pause)'],
    because: 'each setting counts for itself',
  },
  {
    scenario: 'a retiring pool that is paused',
    pools: { cpu: { ...asleep, retiring: true } },
    expected: ['without-pool 2 autostop'],
    because: 'the end of the pause would not help',
  },
  {
    scenario: 'a retiring pool beside a paused one',
    pools: { cpu: asleep, old: { tags: gpuEu, retiring: true } },
    expected: ['held 2 autostop by cpu (pause)'],
    because: 'only one of them can be woken again',
  },
  {
    scenario: 'a pause that has expired',
    pools: { cpu: { tags: gpu, overrides: { ...paused, 'pause-until': '2026-11-20T09:00:00Z' } } },
    expected: [],
    because: 'it is woken',
  },
])('finds $expected for $scenario, because $because', (row) => {
  expect(foundIn(planFor(row))).toEqual(row.expected);
});

describe('the plan of a pool that is paused or pinned', () => {
  const pools = { cpu: asleep };
  const workspaces = [
    { tags: gpu, stopsInS: -60, count: 2 },
    { tags: gpu, stopsInS: 1800 },
  ];

  it('lists the transitions that are due within the hour', () => {
    const row = { organization: 'default', tags: gpu, pool: null, kind: 'autostop' };
    expect(planOf({ pools, workspaces }).forecast).toEqual([
      { ...row, transitions: 2, at: '2026-11-20T08:59:00.000Z' },
      { ...row, transitions: 1, at: '2026-11-20T09:30:00.000Z' },
    ]);
  });

  it('reports the transitions that wait, who set the override, and its end', () => {
    const override = { kind: 'pause', until: UNTIL, by: 'somebody', why: 'no reason given' };
    expect(planOf({ pools, workspaces }).findings).toEqual([
      {
        code: 'transitions-held',
        organization: 'default',
        tags: gpu,
        pools: [{ name: 'cpu', override }],
        kind: 'autostop',
        transitions: 2,
        at: '2026-11-20T08:59:00.000Z',
      },
    ]);
  });

  it.each([
    { overrides: paused, before: ['paused'] },
    { overrides: pin(0), before: [] },
  ])('gives the reason to each pool that could wake, with $overrides', ({ overrides, before }) => {
    const others = { eu: { tags: gpuEu, overrides }, other: { overrides } };
    const plan = planOf({ pools: { cpu: { tags: gpu, overrides }, ...others }, workspaces });
    const reason: Reason = {
      code: 'not-woken-for',
      for: [{ kind: 'autostop', transitions: 2, at: '2026-11-20T08:59:00.000Z' }],
    };
    for (const name of ['cpu', 'eu']) expect(poolOf(plan, name).why.slice(before.length)).toEqual([reason]);
    expect(
      poolOf(plan, 'cpu')
        .why.slice(0, before.length)
        .map(({ code }) => code),
    ).toEqual(before);
    expect(poolOf(plan, 'other').why).not.toContainEqual(reason);
  });

  it('gives no such reason if an existing daemon opens the gate', () => {
    const awake = { cpu: { ...asleep, tasks: 'I1m' } };
    expect(poolOf(planOf({ pools: awake, workspaces }), 'cpu').why).toMatchObject([{ code: 'paused' }]);
  });
});

/** The number of coming transitions of each kind, whichever pool is awake for them. */
function countsOf(rows: readonly ForecastRow[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { organization, tags, kind, transitions } of rows) {
    const key = JSON.stringify([organization, tags, kind]);
    counts[key] = (counts[key] ?? 0) + transitions;
  }
  return counts;
}

it.each([
  ['a pause', paused],
  ['a pin at none', pin(0)],
  ['a pin', pin(2)],
])('keeps all transitions in the forecast with %s in random states', (_, overrides) => {
  fc.assert(
    fc.property(uglyStates({ view: 'any' }), fc.boolean(), ({ snapshot, config }, all) => {
      const { services } = snapshot.ecs;
      const added = Object.entries(overrides).map(([key, value]) => ({
        key: `coder-autoscaler:${key}`,
        value: key.endsWith('until') ? new Date(NOW + 3_600_000).toISOString() : value,
      }));
      const planWith = (tags: typeof added): Plan => {
        const items = services.items.map((service, index) => ({
          ...service,
          tags: [
            ...service.tags.filter(({ key }) => key === 'coder-autoscaler:pool'),
            ...(all || index === 0 ? tags : []),
          ],
        }));
        return decide({ ...snapshot, ecs: { ...snapshot.ecs, services: { ...services, items } } }, config);
      };
      expect(countsOf(planWith(added).forecast)).toEqual(countsOf(planWith([]).forecast));
    }),
    runs(500),
  );
});
