import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { IS_FULL, rows } from '../../../../test/support/runs.ts';
import { sumUp, type WorldResult } from '../../../proof/random-worlds/figures.ts';
import { runWorld } from '../../../proof/random-worlds/run-world.ts';
import { drawPlan, type WorldPlan, worldSeeds } from '../../../proof/random-worlds/world/plan.ts';
import { runWorlds } from '../../../proof/random-worlds/worlds.ts';

const SEED = 54;
/** Its first world has enough leaves, overrides and builds that died. */
const ONE_WORLD = 8;
/** `.ci/run` runs 1,000 more. */
const LEAVES = 100;
/** Its two pools are small. */
const SMALL_WORLD = 3;

describe('random worlds', () => {
  it('lose no build to a scale-in, settle, and end as soon as enough tasks have left', async () => {
    const alone = await runWorlds({ leaves: LEAVES, seed: ONE_WORLD });
    expect(alone).toHaveLength(1);
    expect(alone.flatMap(({ seed, problems }) => problems.map((problem) => `${seed}: ${problem}`))).toEqual(
      [],
    );
    const figures = sumUp(alone, { seed: ONE_WORLD, seconds: 0 });
    expect(figures.leaves).toBeGreaterThanOrEqual(LEAVES);
    expect(figures).toMatchObject({ killedByUs: 0, worlds: alone.length, seed: ONE_WORLD });
    expect(figures.builds).toBeGreaterThan(LEAVES);
    expect(figures.overrides).toBeGreaterThan(0);
    expect(figures.died).toBeGreaterThan(0);
  });

  it('differ for different seeds', () => {
    const drawn = worldSeeds(SEED).take(200).map(drawPlan).toArray();
    const kinds = (of: (plan: (typeof drawn)[number]) => unknown) => new Set(drawn.map(of)).size;
    expect(kinds(({ seed }) => seed)).toBe(200);
    expect(kinds(({ pools }) => pools.length)).toBe(4);
    expect(kinds(({ world }) => `${world.deploymentBlocked} ${world.blockedTasks} ${world.lateLease}`)).toBe(
      12,
    );
    expect(new Set(drawn.flatMap(({ incidents }) => Object.keys(incidents))).size).toBe(23);
    expect(kinds(({ memory }) => memory.processLifeMs.join(' '))).toBe(3);
    expect(drawn.filter(({ pools }) => pools.some(({ warm }) => warm === 'auto')).length).toBeGreaterThan(30);
    expect(drawn.filter(({ overridesAnHour }) => overridesAnHour > 1).length).toBeGreaterThan(50);
    const retirements = drawn.flatMap((plan) => plan.retirements);
    expect(new Set(retirements.map((it) => `${it.isRenamed} ${it.backAfterHours !== undefined}`)).size).toBe(
      4,
    );
  });
});

describe('a world that once did not settle', () => {
  it.each(
    rows(
      [
        {
          seed: 114607478,
          held: 1,
          because: 'the only key was deleted, so scale-in is on hold and reported',
        },
        { seed: 884168991, held: 0, because: 'idle daemons stay while a long build holds a deployment open' },
        { seed: 69511682, held: 0, because: 'a pool whose daemons coderd refuses gets one task as a probe' },
      ],
      1,
    ),
  )('settles with seed $seed: $because', async ({ seed, held }) => {
    expect(await runWorld(withoutPeople(seed))).toMatchObject({
      problems: [],
      killedByUs: 0,
      heldWorlds: held,
    });
  });
});

/** The plan without what people do: the world as it was when it did not settle. */
function withoutPeople(seed: number): WorldPlan {
  const secrets = { changesAnHour: 0, listLagMs: 0, forbiddenAnHour: 0, liesAnHour: 0 };
  const none = { overridesAnHour: 0, outOfMemoryAnHour: 0, fakeDaemonsAnHour: 0 };
  const { incidents, ...plan } = drawPlan(seed);
  return {
    ...plan,
    ...none,
    incidents: { ...incidents, 'deployments in a row': 0 },
    retirements: [],
    secrets,
  };
}

const SEEDS = [819682722, 303606872, 33472705];

/** What happens all the time in a world, and what the world must show then. */
const STRESSES: readonly {
  readonly when: string;
  readonly claim: string;
  readonly seeds: readonly number[];
  readonly change: (plan: WorldPlan) => Partial<WorldPlan>;
  readonly check: (result: WorldResult) => void;
}[] = [
  {
    when: 'keys change all the time',
    claim: 'kills no build and settles without an old key',
    seeds: SEEDS,
    change: () => ({
      secrets: { changesAnHour: 3, listLagMs: 300_000, forbiddenAnHour: 0.5, liesAnHour: 0 },
    }),
    check: ({ secretsChanged }) => expect(secretsChanged).toBeGreaterThan(3),
  },
  {
    when: 'lists of secrets tell too little or too much',
    claim: 'rolls no task that has the present value, and settles without an old key',
    seeds: SEEDS,
    change: () => ({ secrets: { changesAnHour: 0.5, listLagMs: 0, forbiddenAnHour: 2, liesAnHour: 8 } }),
    check: ({ problems }) => expect(problems).toEqual([]),
  },
  {
    when: 'daemons claim the tasks of others all the time',
    claim: 'kills no build and settles without them',
    seeds: SEEDS,
    change: () => ({ fakeDaemonsAnHour: 20 }),
    check: ({ fakeDaemons }) => expect(fakeDaemons).toBeGreaterThan(20),
  },
  {
    when: 'the function forgets and its messages go astray',
    claim: 'kills no build and settles',
    seeds: SEEDS,
    change: ({ pools }) => ({
      busyHours: 4,
      lookEveryS: 10,
      line: { failing: 0, losing: 0 },
      pools: pools.map((pool) => ({ ...pool, warm: 'auto' })),
      memory: { processLifeMs: [MINUTE_MS, HOUR_MS], recordAnHour: 20 },
      messages: { lost: 0.2, repeated: 0.2, late: 0.2 },
    }),
    check: ({ recordFaults, messageFaults }) => {
      expect(recordFaults).toBeGreaterThan(5);
      expect(messageFaults).toBeGreaterThan(50);
    },
  },
  {
    when: 'tasks die all the time',
    claim: 'lists every build that died and invents none',
    seeds: [6, 5, 4],
    change: ({ incidents }) => ({
      incidents: {
        ...incidents,
        'spot interruption': 8,
        'host failure': 6,
        retirement: 4,
        StopTask: 5,
        'daemon crash': 6,
        'key deleted': 0.5,
        'coderd down': 0.4,
      },
      outOfMemoryAnHour: 8,
    }),
    check: ({ died, listed, unknowable }) => {
      expect(died).toBeGreaterThan(10);
      expect(listed).toBe(died - unknowable);
    },
  },
];

/** The result of a world with a few busy hours: what the changes add comes all the time. */
async function stressed(seed: number, ...changes: readonly ((plan: WorldPlan) => Partial<WorldPlan>)[]) {
  let plan = drawPlan(seed);
  plan = { ...plan, busyHours: Math.min(plan.busyHours, 4) };
  for (const change of changes) plan = { ...plan, ...change(plan) };
  const result = await runWorld(plan);
  expect(result).toMatchObject({ problems: [], killedByUs: 0 });
  return result;
}

if (IS_FULL)
  describe.each(STRESSES)('a world in which $when', ({ claim, seeds, change, check }) => {
    it.each(seeds)(`${claim}, seed %i`, async (seed) => check(await stressed(seed, change)));
  });
else
  it('a small world with all of this at once kills no build, settles and lists every build that died', async () => {
    const result = await stressed(SMALL_WORLD, ...STRESSES.map(({ change }) => change), () => ({
      secrets: { changesAnHour: 3, listLagMs: 300_000, forbiddenAnHour: 2, liesAnHour: 8 },
      // the deaths of tasks that a daemon claimed are not compared
      fakeDaemonsAnHour: 7,
    }));
    for (const { check } of STRESSES) check(result);
  });
