/**
 * One resource answers one demand. Looks at pools whose tags overlap, again and again: what they keep
 * must not grow from look to look. fast-check prints the seed of a failure.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deliberate } from '../../../lambda/decision/decide.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import type { StockChoice } from '../../../lambda/decision/model/snapshot.ts';
import { covers, normalizeTags, type Tags } from '../../../lambda/decision/model/tags.ts';
import { ago, aJob, aTemplate, aWorkspace, MINUTE, reading } from '../../support/parts.ts';
import { runs } from '../../support/runs.ts';
import { aChoice, buildAt, type StockedPool, stocked } from '../../support/stocked.ts';

const TAG_SETS: readonly Tags[] = [
  {},
  { a: '1' },
  { b: '1' },
  { a: '1', b: '1' },
  { a: '1', b: '1', c: '1' },
];

/** A world in which the same builds come again and again. */
type Fleet = {
  readonly pools: readonly Partial<PoolConfig>[];
  /** The rule of each set of pools, by its place. */
  readonly rules: readonly Partial<StockChoice['rule']>[];
  /** The tags of the builds that come. */
  readonly builds: readonly Tags[];
  /** Every so many looks a build of each tag set comes, and it runs for so many looks. 0: none. */
  readonly every: number;
  readonly forLooks: number;
  /** By how many looks the builds of a tag set come before those of the tag set before it. @default 0 */
  readonly shift?: number;
  readonly minutesBetween: number;
  /** So many autostarts are due in four minutes, after each look. @default 0 */
  readonly startsLater?: number;
  readonly idle: readonly number[];
};

type PoolState = { idle: number[]; busy: { age: number; looks: number; tags: Tags }[]; starting: number };

/** Plays looks and returns the number of tasks after each. */
function play(fleet: Fleet, looks: number): readonly number[] {
  return playAll(fleet, looks).map(({ tasks }) => tasks);
}

/** Plays looks and returns the tasks after each, and the launches so far. */
function playAll(
  fleet: Fleet,
  looks: number,
): readonly { readonly tasks: number; readonly launched: number }[] {
  let launched = 0;
  const states = fleet.pools.map(
    (_, index): PoolState => ({
      idle: Array<number>(fleet.idle[index] ?? 0).fill(MINUTE),
      busy: [],
      starting: 0,
    }),
  );
  const waiting: Tags[] = [];
  return Array.from({ length: looks }, (_, look) => {
    const { builds, every, shift = 0 } = fleet;
    if (every > 0) waiting.push(...builds.filter((_, index) => (look + index * shift) % every === 0));
    takeJobs(fleet, states, waiting);
    lookAt(fleet, states, waiting);
    launched += sum(states, ({ starting }) => starting);
    pass(fleet, states);
    return { tasks: sum(states, ({ idle, busy }) => idle.length + busy.length), launched };
  });
}

/** Each waiting build takes the daemon that has been idle for the shortest time. */
function takeJobs({ pools, forLooks }: Fleet, states: readonly PoolState[], waiting: Tags[]): void {
  for (const tags of waiting.splice(0)) {
    const state = states.find(
      ({ idle }, index) => idle.length > 0 && covers(tagsOf(pools[index]), normalizeTags(tags)),
    );
    if (state === undefined) waiting.push(tags);
    else state.busy.push({ age: 0, looks: forLooks, tags });
    state?.idle.pop();
  }
}

const tagsOf = (pool: Partial<PoolConfig> | undefined) => normalizeTags(pool?.tags ?? {});

/** One look: its plan is carried out at once. */
function lookAt(fleet: Fleet, states: readonly PoolState[], waiting: readonly Tags[]): void {
  const pools = Object.fromEntries(
    states.map(({ idle, busy }, index): [string, StockedPool] => [
      `p${index}`,
      { config: { max: 40, ...fleet.pools[index] }, idle, busy: busy.map(({ age }) => age) },
    ]),
  );
  const { snapshot, config } = stocked({
    pools,
    recent: fleet.builds.map((tags) => buildAt(ago(MINUTE), 60, { tags })),
    pending: waiting.map((tags) => aJob({ created_at: ago(30_000), tags })),
    organization: {
      activeVersionTags: { template: {} },
      templates: reading([aTemplate()]),
      workspaces: reading(
        Array.from({ length: fleet.startsLater ?? 0 }, () => aWorkspace({ next_start_at: ago(-4 * MINUTE) })),
      ),
    },
    change: (drawn) => ({
      ...drawn,
      ecs: {
        ...drawn.ecs,
        services: {
          ...drawn.ecs.services,
          items: drawn.ecs.services.items.map((service, index) => ({
            ...service,
            desiredCount: service.desiredCount + (states[index]?.starting ?? 0),
          })),
        },
      },
    }),
  });
  const choices = deliberate(snapshot, config).stockSets.map((set, index) =>
    aChoice(set, fleet.rules[index % fleet.rules.length]),
  );
  const { plan } = deliberate({ ...snapshot, stock: { tagSets: [], choices } }, config);
  for (const action of plan.actions) {
    const state = states[Number(action.pool.slice(1))];
    if (state === undefined) throw new Error(`the plan names the pool ${action.pool}`);
    if (action.kind === 'ask-to-leave') state.idle.shift();
    if (action.kind === 'set-desired') state.starting += action.to - action.from;
  }
}

/** The time until the next look: tasks that start are ready, and builds end. */
function pass({ minutesBetween }: Fleet, states: readonly PoolState[]): void {
  const ms = minutesBetween * MINUTE;
  for (const state of states) {
    state.idle = [...state.idle.map((age) => age + ms), ...Array<number>(state.starting).fill(0)];
    state.starting = 0;
    for (const build of state.busy) [build.age, build.looks] = [build.age + ms, build.looks - 1];
    state.idle.push(...state.busy.filter(({ looks }) => looks <= 0).map(() => 0));
    state.busy = state.busy.filter(({ looks }) => looks > 0);
  }
}

const aFleet: fc.Arbitrary<Fleet> = fc.record({
  pools: fc.array(
    fc.record({
      tags: fc.constantFrom(...TAG_SETS),
      min: fc.constantFrom(0, 0, 1, 2),
      warm: fc.constantFrom('auto' as const, 'auto' as const, 'auto' as const, 1),
    }),
    { minLength: 2, maxLength: 4 },
  ),
  rules: fc.array(
    fc.record({
      free: fc.constantFrom(0, 1, 2, 3),
      spareMs: fc.constantFrom(MINUTE, 10 * MINUTE, 60 * MINUTE),
      countsBusy: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  builds: fc.uniqueArray(fc.constantFrom(...TAG_SETS), { minLength: 1, selector: (tags) => tags }),
  every: fc.constantFrom(1, 2, 5),
  forLooks: fc.integer({ min: 1, max: 3 }),
  minutesBetween: fc.constantFrom(1, 3),
  idle: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 }),
});

const OVERLAPPING: Fleet = {
  pools: [{ tags: { a: '1' } }, { tags: { a: '1', b: '1' } }],
  rules: [{ free: 1, spareMs: 10 * MINUTE }],
  builds: [{ a: '1' }, { a: '1', b: '1' }],
  ...{ every: 2, forLooks: 1, minutesBetween: 3, idle: [] },
};

/** A build that finds no free daemon waits for so many looks. */
const STARTS_IN_LOOKS = 1;

describe('looks at pools whose tags overlap', () => {
  it('keep one free daemon for each set of pools, however often they look', () => {
    expect(Math.max(...play({ ...OVERLAPPING, every: 0 }, 30))).toBe(2);
  });

  it('keep a bounded fleet while the same builds come again and again', () => {
    expect(Math.max(...play(OVERLAPPING, 100))).toBeLessThanOrEqual(6);
  });

  it('launch once for what they keep, though builds of one set take the daemons of another', () => {
    const fleet: Fleet = {
      ...OVERLAPPING,
      rules: [{ free: 1, spareMs: MINUTE, countsBusy: true }],
      ...{ every: 5, forLooks: 1, shift: 2, minutesBetween: 1 },
    };
    expect(playAll(fleet, 100).at(-1)?.launched).toBeLessThanOrEqual(3);
  });

  it('never raise the number of tasks beyond what one look from zero keeps, without builds', () => {
    fc.assert(
      fc.property(aFleet, fc.constantFrom(0, 1, 6), (fleet, startsLater) => {
        const quiet = { ...fleet, startsLater, every: 0 };
        const [kept = 0] = play({ ...quiet, idle: [] }, 1);
        expect(Math.max(...play({ ...quiet, idle: [] }, 5))).toBe(kept);
        const before = sum(fleet.idle.slice(0, fleet.pools.length), (count) => count);
        expect(Math.max(...play(quiet, 8))).toBeLessThanOrEqual(before + kept);
      }),
      runs(800),
    );
  });

  it('never raise the number of tasks beyond what is kept and twice the builds at one time', () => {
    fc.assert(
      fc.property(aFleet, (fleet) => {
        const [kept = 0] = play({ ...fleet, every: 0, idle: [] }, 1);
        const served = fleet.builds.filter((tags) =>
          fleet.pools.some((pool) => covers(tagsOf(pool), normalizeTags(tags))),
        );
        const atOnce = served.length * Math.ceil((fleet.forLooks + STARTS_IN_LOOKS) / fleet.every);
        expect(Math.max(...play({ ...fleet, idle: [] }, 60))).toBeLessThanOrEqual(kept + 2 * atOnce);
      }),
      runs(400),
    );
  });
});
