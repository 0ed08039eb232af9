/** A replay of builds under one rule: costs computed by hand, and what holds for all builds. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MINUTE_MS as MINUTE, SECOND_MS as SECOND } from '../../../lambda/decision/model/units.ts';
import {
  GONE_AFTER_MS,
  type ReplayedBuild,
  type ReplayedPools,
  rulesFor,
  StockReplay,
  type StockRule,
  UNKNOWN_RULE,
  usualBuilds,
} from '../../../lambda/decision/stock/replay.ts';
import { runs } from '../../support/runs.ts';
import { table } from '../../support/table.ts';

/** A task and a build that waits cost a dollar a second, so the costs below are seconds. */
const POOLS: ReplayedPools = {
  ...{ startMs: MINUTE, taskPrice: 1 / SECOND, waitPrice: 1 / SECOND },
  ...{ lookMs: 0, launchPrice: 0, startPrice: 0, most: 10 },
};
const LAUNCHES: ReplayedPools = { ...POOLS, taskPrice: 0, launchPrice: 1 };
const rule = (given: Partial<StockRule>): StockRule => ({ ...UNKNOWN_RULE, spareMs: MINUTE, ...given });
/** Builds of half a minute that come after so many seconds. */
const at = (...seconds: readonly number[]): readonly ReplayedBuild[] =>
  seconds.map((second) => ({ at: second * SECOND, tookMs: 30 * SECOND }));

type Row = {
  readonly given?: Partial<StockRule>;
  /** The seconds at which builds of half a minute come. */
  readonly builds?: string;
  readonly most?: number;
  readonly untilS: number;
  readonly launches: number;
  readonly tasks: number;
  readonly waiting: number;
  readonly because: string;
};

const forAWhile: Partial<StockRule> = { free: 1, afterBuildMs: 15 * MINUTE };

it.each(table<Row>`
  given           | builds  | most | untilS | launches | tasks                     | waiting | because
  ${{ free: 3 }}  |         |      | 9000   | 0        | 0                         | 0       | a pool without builds keeps nothing
                  | '0'     |      | 900    | 1        | 195                       | 60      | 60 s start, 30 s build, 60 s idle, 45 s until it is gone
                  | 0 100   |      | 900    | 1        | 235                       | 60      | the second build takes the idle daemon, which is idle from 130 to 190
                  | 0 150   |      | 900    | 2        | 390                       | 120     | the daemon drains in the moment in which the second build comes
  ${{ free: 1 }}  | '0'     |      | 200    | 2        | 365                       | 60      | the one that is idle for longer drains at 120 s, the other stays
  ${forAWhile}    | '0'     |      | 2000   | 2        | ${165 + 900.001 + 45}     | 60      | the other drains right after 15 minutes without a build
  ${forAWhile}    | 0 700   |      | 2000   | 3        | ${165 + 835 + 945.001}    | 60      | the build at 700 s launches the one that stays until 1600 s; the other drains at 790 s
  ${{ free: 2 }}  | 0 10 70 | 1    | 200    | 1        | 200                       | ${60 + 80 + 50} | there is room for one task: each build waits for those before it
                  | 100 50  |      | 130    | 2        | 0                         | 0       | a build of the past comes now
`)('costs $tasks for tasks and $waiting for waiting, because $because', (row) => {
  const { given = {}, builds = '', most = 10, untilS } = row;
  const play = (pools: ReplayedPools) => {
    const replay = new StockReplay(rule(given), { ...pools, most }, 0);
    for (const build of at(...builds.split(' ').filter(Boolean).map(Number))) replay.build(build);
    replay.playTo(untilS * SECOND);
    return replay.takeCost();
  };
  const { tasks, waiting } = play(POOLS);
  expect([tasks, waiting]).toEqual([expect.closeTo(row.tasks, 6), expect.closeTo(row.waiting, 6)]);
  expect(play(LAUNCHES).tasks).toBe(row.launches);
});

it.each([
  { countsBusy: false, launches: 2, because: 'one is launched for the build, and one is kept free' },
  { countsBusy: true, launches: 1, because: 'the one that will run the build is the one that is kept' },
])('launches $launches daemons for a build, because $because', ({ countsBusy, launches }) => {
  const replay = new StockReplay(rule({ free: 1, countsBusy }), LAUNCHES, 0);
  for (const build of at(0)) replay.build(build);
  replay.playTo(300 * SECOND);
  expect(replay.takeCost().tasks).toBe(launches);
});

it.each([
  { startPrice: 0, launches: 2, because: 'a start is as soon as the end of the build' },
  { startPrice: 30, launches: 1, because: 'a launch costs as much as 30 s of waiting' },
])('launches $launches daemons for two builds, because $because', ({ startPrice, launches }) => {
  const pools = { ...LAUNCHES, startPrice, startMs: 20 * SECOND };
  const replay = new StockReplay(rule({ free: 0, spareMs: 5 * SECOND }), pools, 0);
  replay.usual = usualBuilds(Array<number>(5).fill(30 * SECOND), pools);
  for (const build of at(0, 21)) replay.build(build);
  replay.playTo(200 * SECOND);
  expect(replay.takeCost().tasks).toBe(launches);
});

it('launches for a build that waits for a busy daemon once that takes unusually long', () => {
  const pools = { ...LAUNCHES, startPrice: 30, startMs: 20 * SECOND };
  const replay = new StockReplay(rule({ free: 0 }), pools, 0);
  replay.usual = usualBuilds(Array<number>(5).fill(30 * SECOND), pools);
  replay.build({ at: 0, tookMs: 600 * SECOND });
  replay.build({ at: 21 * SECOND, tookMs: 30 * SECOND });
  replay.playTo(49 * SECOND);
  expect(replay.takeCost().tasks).toBe(1);
  replay.playTo(61 * SECOND);
  expect(replay.takeCost().tasks).toBe(1);
});

it.each([
  { untilS: 100, beyondS: 150, stays: undefined, because: 'the daemon is idle from 90 to 150' },
  { untilS: 100, beyondS: 149, stays: { daemons: 1, until: 150 * SECOND }, because: 'it is idle until 150' },
  {
    untilS: 70,
    beyondS: 149,
    stays: { daemons: 1, until: 150 * SECOND },
    because: 'it is busy until 90, then idle',
  },
  { untilS: 30, beyondS: 40, stays: undefined, because: 'a task that starts may never register' },
])('has $stays beyond $beyondS s, because $because', ({ untilS, beyondS, stays }) => {
  const replay = new StockReplay(rule({ free: 0 }), POOLS, 0);
  for (const build of at(0)) replay.build(build);
  replay.playTo(untilS * SECOND);
  expect(replay.staysBeyond(beyondS * SECOND)).toEqual(stays);
});

it('has all that stay beyond a time until the first of them leaves', () => {
  const replay = new StockReplay(rule({ free: 0 }), POOLS, 0);
  for (const build of at(0, 5)) replay.build(build);
  replay.playTo(100 * SECOND);
  expect(replay.staysBeyond(101 * SECOND)).toEqual({ daemons: 2, until: 150 * SECOND });
});

const RULE = fc.constantFrom(...rulesFor(30));
const TIMES = [0, 1, SECOND, 45 * SECOND, MINUTE, 15 * MINUTE, 61 * MINUTE, 9 * 60 * MINUTE];
const BUILDS = fc.array(
  fc.record({
    // builds come in order, at the same time, or from the past
    gap: fc.oneof(fc.constantFrom(...TIMES), fc.nat(20 * MINUTE), fc.constantFrom(-MINUTE)),
    tookMs: fc.oneof(fc.constantFrom(...TIMES), fc.nat(20 * MINUTE)),
  }),
  { maxLength: 40 },
);
const CASES = fc.record({ rule: RULE, builds: BUILDS, most: fc.integer({ min: 1, max: 40 }) });

function inOrder(builds: readonly { readonly gap: number; readonly tookMs: number }[]) {
  let time = 0;
  return builds.map(({ gap, tookMs }) => {
    time += gap;
    return { at: time, tookMs };
  });
}

it('costs a finite number of dollars, never less than the builds themselves', () => {
  fc.assert(
    fc.property(CASES, ({ rule: given, builds, most }) => {
      const replay = new StockReplay(given, { ...POOLS, most }, 0);
      for (const build of inOrder(builds)) replay.build(build);
      replay.playTo(1000 * 60 * MINUTE);
      const { tasks, waiting } = replay.takeCost();
      const building = builds.reduce((total, { tookMs }) => total + tookMs / SECOND, 0);
      expect(Number.isFinite(tasks + waiting)).toBe(true);
      expect(waiting).toBeGreaterThanOrEqual(0);
      expect(tasks).toBeGreaterThanOrEqual(building - 1e-6);
    }),
    runs(1000),
  );
});

it('costs the same in pieces and at once', () => {
  fc.assert(
    fc.property(CASES, ({ rule: given, builds, most }) => {
      const [whole, pieces] = [0, 1].map(() => new StockReplay(given, { ...POOLS, most }, 0));
      if (whole === undefined || pieces === undefined) throw new Error('there are two');
      let [tasks, waiting] = [0, 0];
      for (const build of inOrder(builds)) {
        whole.build(build);
        pieces.playTo(build.at - 1);
        pieces.build(build);
        const cost = pieces.takeCost();
        tasks += cost.tasks;
        waiting += cost.waiting;
      }
      const cost = whole.takeCost();
      expect(cost.tasks).toBeCloseTo(tasks, 4);
      expect(cost.waiting).toBeCloseTo(waiting, 4);
    }),
    runs(1000),
  );
});

it('ends without a daemon if the rule keeps none', () => {
  fc.assert(
    fc.property(CASES, ({ rule: given, builds, most }) => {
      fc.pre(given.free === 0 || given.afterBuildMs !== null);
      const replay = new StockReplay(given, { ...POOLS, most }, 0);
      for (const build of inOrder(builds)) replay.build(build);
      replay.playTo(1000 * 60 * MINUTE);
      replay.takeCost();
      replay.playTo(2000 * 60 * MINUTE);
      expect(replay.takeCost()).toEqual({ tasks: 0, waiting: 0 });
    }),
    runs(1000),
  );
});

it('has rules that keep no more free than there may be tasks, and says which keep least first', () => {
  for (const most of [1, 2, 4, 30, 60, 1000]) {
    const free = rulesFor(most).map((each) => each.free);
    expect(Math.max(...free)).toBe(Math.min(most, 80));
    expect(free).toEqual(free.toSorted((a, b) => a - b));
    expect(new Set(rulesFor(most).map((each) => JSON.stringify(each))).size).toBe(free.length);
  }
  const [few, many, fleets] = [4 * 4 * 4 * 2, 6 * 4 * 4, 6 * 4];
  expect(rulesFor(1000)).toHaveLength(4 + few + many + fleets);
  expect(GONE_AFTER_MS).toBe(45_000);
});
