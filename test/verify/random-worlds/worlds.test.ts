import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { sumUp } from '../../../verify/random-worlds/figures.ts';
import { runWorld } from '../../../verify/random-worlds/run-world.ts';
import { drawPlan, type WorldPlan, worldSeeds } from '../../../verify/random-worlds/world/plan.ts';
import { runWorlds } from '../../../verify/random-worlds/worlds.ts';
import { rows } from '../../support/runs.ts';

const SEED = 54;
/** `.ci/run` runs 2,000 more. */
const LEAVES = 100;

describe('random worlds', () => {
  it('lose no build to a scale-in, settle, and end as soon as enough tasks have left', async () => {
    const alone = await runWorlds({ leaves: LEAVES, seed: SEED });
    expect(alone).toHaveLength(1);
    expect(alone.flatMap(({ seed, problems }) => problems.map((problem) => `${seed}: ${problem}`))).toEqual(
      [],
    );
    const figures = sumUp(alone, { seed: SEED, seconds: 0 });
    expect(figures.leaves).toBeGreaterThanOrEqual(LEAVES);
    expect(figures).toMatchObject({ killedByUs: 0, worlds: alone.length, seed: SEED });
    expect(figures.builds).toBeGreaterThan(LEAVES);
    expect(figures.overrides).toBeGreaterThan(0);
    expect(figures.ledger.died).toBeGreaterThan(0);
    expect(figures.ledger).toMatchObject({ recall: 1, precision: 1, invented: 0 });
    expect(figures.idleToGoneSeconds.p95).toBeGreaterThan(figures.idleToGoneSeconds.p50);
  });

  it('differ for different seeds', () => {
    const drawn = worldSeeds(SEED).take(200).map(drawPlan).toArray();
    const kinds = (of: (plan: (typeof drawn)[number]) => unknown) => new Set(drawn.map(of)).size;
    expect(kinds(({ seed }) => seed)).toBe(200);
    expect(kinds(({ pools }) => pools.length)).toBe(4);
    expect(kinds(({ world }) => `${world.deploymentBlocked} ${world.blockedTasks} ${world.lateLease}`)).toBe(
      12,
    );
    expect(new Set(drawn.flatMap(({ incidents }) => Object.keys(incidents))).size).toBe(15);
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
          seed: 884168991,
          isHeld: false,
          because: 'idle daemons stay while a long build holds a deployment open',
        },
        {
          seed: 69511682,
          isHeld: false,
          because: 'a pool whose daemons coderd refuses gets one task as a probe',
        },
        {
          seed: 114607478,
          isHeld: true,
          because: 'the only key was deleted, so scale-in is on hold and reported',
        },
      ],
      1,
    ),
  )('settles with seed $seed: $because', async ({ seed, isHeld }) => {
    expect(await runWorld(withoutPeople(seed))).toMatchObject({ problems: [], killedByUs: 0, isHeld });
  });
});

/** The plan with a few busy hours: what the test adds comes all the time. */
function shortPlan(seed: number): WorldPlan {
  const plan = drawPlan(seed);
  return { ...plan, busyHours: Math.min(plan.busyHours, 4) };
}

/** The plan without what people do: the world as it was when it did not settle. */
function withoutPeople(seed: number): WorldPlan {
  const secrets = { changesAnHour: 0, listLagMs: 0, forbiddenAnHour: 0, liesAnHour: 0 };
  const none = { overridesAnHour: 0, outOfMemoryAnHour: 0, fakeDaemonsAnHour: 0 };
  return { ...drawPlan(seed), ...none, retirements: [], secrets };
}

describe('a world in which keys change all the time', () => {
  it.each(rows([819682722, 303606872, 33472705], 1))(
    'kills no build and settles without an old key, seed %i',
    async (seed) => {
      const secrets = { changesAnHour: 3, listLagMs: 300_000, forbiddenAnHour: 0.5, liesAnHour: 0 };
      const { problems, killedByUs, secretsChanged } = await runWorld({ ...shortPlan(seed), secrets });
      expect({ problems, killedByUs }).toEqual({ problems: [], killedByUs: 0 });
      expect(secretsChanged).toBeGreaterThan(3);
    },
  );
});

describe('a world in which lists of secrets tell too little or too much', () => {
  it.each(rows([819682722, 303606872, 33472705], 1))(
    'rolls no task that has the present value, and settles without an old key, seed %i',
    async (seed) => {
      const secrets = { changesAnHour: 0.5, listLagMs: 0, forbiddenAnHour: 2, liesAnHour: 8 };
      const { problems, falseRolls } = await runWorld({ ...shortPlan(seed), secrets });
      expect({ problems, falseRolls }).toEqual({ problems: [], falseRolls: 0 });
    },
  );
});

describe('a world in which daemons claim the tasks of others all the time', () => {
  it.each(rows([819682722, 303606872, 33472705], 1))(
    'kills no build and settles without them, seed %i',
    async (seed) => {
      const { problems, killedByUs, fakeDaemons } = await runWorld({
        ...shortPlan(seed),
        fakeDaemonsAnHour: 20,
      });
      expect({ problems, killedByUs }).toEqual({ problems: [], killedByUs: 0 });
      expect(fakeDaemons).toBeGreaterThan(20);
    },
  );
});

describe('a world in which the function forgets and its messages go astray', () => {
  it.each(rows([819682722, 303606872, 33472705], 1))('kills no build and settles, seed %i', async (seed) => {
    const plan = drawPlan(seed);
    const { problems, killedByUs, recordFaults, messageFaults } = await runWorld({
      ...plan,
      busyHours: 4,
      lookEveryS: 10,
      line: { failing: 0, losing: 0 },
      pools: plan.pools.map((pool) => ({ ...pool, warm: 'auto' })),
      memory: { processLifeMs: [MINUTE_MS, HOUR_MS], recordAnHour: 20 },
      messages: { lost: 0.2, repeated: 0.2, late: 0.2 },
    });
    expect({ problems, killedByUs }).toEqual({ problems: [], killedByUs: 0 });
    expect(recordFaults).toBeGreaterThan(5);
    expect(messageFaults).toBeGreaterThan(50);
  });
});

describe('a world in which tasks die all the time', () => {
  it.each(rows([6, 5, 4], 1))('lists every build that died and invents none, seed %i', async (seed) => {
    const drawn = shortPlan(seed);
    const incidents = {
      ...drawn.incidents,
      'spot interruption': 8,
      'host failure': 6,
      retirement: 4,
      StopTask: 5,
      'daemon crash': 6,
      'key deleted': 0.5,
      'coderd down': 0.4,
    };
    const { problems, ledger } = await runWorld({
      ...drawn,
      ...{ incidents, outOfMemoryAnHour: 8 },
    });
    expect(problems).toEqual([]);
    expect(ledger.died).toBeGreaterThan(10);
    expect(ledger).toMatchObject({ invented: 0, listed: ledger.died - ledger.unknowable });
  });
});
