/** Draws the plan of one random world from its seed, before anything happens in it. */
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { spotPartOf } from '../../../../lambda/decision/model/brands.ts';
import { sum } from '../../../../lambda/decision/model/collections.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { Random } from '../../../world/base/random.ts';
import type { Range } from '../../../world/ecs/parts/latencies.ts';
import { CLEANUPS, ROLLOUTS } from '../../../world/ecs/rollout.ts';
import { SIDECARS } from '../../../world/ecs/task.ts';
import type { PoolSpec, WorldOptions } from '../../../world/world.ts';

export type PlannedPool = PoolSpec & {
  readonly min: number;
  readonly max: number;
  readonly warm: number | 'auto';
  readonly idleTimeoutS: number;
};

/** An incident that was added later, with the numbers of its random sources (`WorldEvents.source`). */
type Later = { readonly most: number; readonly rate: number; readonly times: number };

/**
 * Per hour over all pools. They happen to a random task, a random pool, or the whole world. Write a
 * new one as `Later`, anywhere, with two numbers that no other source has: all other draws stay.
 */
const MOST_AN_HOUR = {
  'spot interruption': 6,
  'host failure': 2,
  retirement: 3,
  StopTask: 2,
  'daemon crash': 3,
  deployment: 4,
  'agents down': 0.3,
  'key deleted': 0.3,
  'count set by hand': 12,
  'ask by hand': 20,
  'protection disabled by hand': 4,
  'starts failing': 0.3,
  'coderd down': 0.4,
  'no capacity': 0.4,
  'no capacity and no event': { most: 1, rate: 22, times: 1 },
  'connections forgotten': { most: 6, rate: 72, times: 73 },
  'row unreadable': { most: 2, rate: 74, times: 75 },
  // ECS refuses the sixth while five have tasks
  'deployments in a row': { most: 15, rate: 62, times: 63 },
  'tasks freezing': { most: 0.5, rate: 76, times: 77 },
  'license lost': { most: 0.5, rate: 79, times: 80 },
  'service without a row': { most: 4, rate: 81, times: 82 },
  'lists failing': { most: 2, rate: 83, times: 84 },
  'heartbeats old': { most: 2, rate: 85, times: 86 },
} as const satisfies Readonly<Record<string, number | Later>>;

export type Incident = keyof typeof MOST_AN_HOUR;
export const INCIDENTS = Object.keys(MOST_AN_HOUR) as readonly Incident[];

/** The number of the random source that says when the incident happens, and to what. */
export function timesSource(incident: Incident): number {
  const most: number | Later = MOST_AN_HOUR[incident];
  return typeof most === 'number' ? 1 : most.times;
}

export type Retirement = {
  readonly pool: string;
  /** Hours since the world began. */
  readonly atHours: number;
  /** Whether the same deployment adds a pool with another name and the same tags. */
  readonly isRenamed: boolean;
  /** Hours after `atHours`. Absent: at the end of all events, if no other pool stops its workspaces. */
  readonly backAfterHours?: number;
};

const START = Date.UTC(2026, 10, 20, 9);
const MANY_DRAWS = 32;
/** The highest seed: options take at most nine digits. */
const LAST_WORLD = 999_999_999;

/** A random source. The first draws are thrown away, because close seeds begin with similar numbers. */
export function seeded(seed: number): Random {
  const random = new Random(seed);
  for (let draw = 0; draw < MANY_DRAWS; draw++) random.next();
  return random;
}

/** The seeds of a simulation's worlds, always in the same order. */
export function* worldSeeds(seed: number): Generator<number, never> {
  const random = seeded(seed);
  for (;;) yield random.whole(0, LAST_WORLD);
}

/** What was added later has a random source of its own, so that all else in a world stayed the same. */
export function drawPlan(seed: number) {
  const random = seeded(seed);
  const pools = drawPools(random);
  const floors = sum(pools, floorOf);
  const most = sum(pools, ({ max }) => max);
  const busyHours = drawHours(random);
  const people = seeded(seed + 5);
  const deployments = seeded(seed + 7);
  const earlySuccess = deployments.next() < 0.5 ? { earlySuccessPercent: 1 } : {};
  const secrets = seeded(seed + 8);
  const memory = seeded(seed + 40);
  const messages = seeded(seed + 41);
  return {
    seed,
    /** Whether nothing fails, nobody intervenes, and nothing is deployed (quiet.ts). */
    isQuiet: false as boolean,
    /** Whether looks see all, as in the twin of a world: without the faults of events/partial-sight.ts. */
    hasWholeSight: false as boolean,
    /** How long lists may fail. */
    outages: 'any' as 'any' | 'brief',
    /** Duration of all events; afterwards the world has to settle. */
    busyHours,
    pools: drawCapacity(seeded(seed + 53), drawAuto(seeded(seed + 44), pools)).map(
      (pool): PlannedPool => ({ ...pool, ...earlySuccess }),
    ),
    maxTasks: Math.max(1, floors, random.whole(Math.ceil(most / 2), most + 5)),
    dollarsPerHour: drawDollars(seeded(seed + 60), { least: Math.max(1, floors), most }),
    atOncePercent: random.pick([1, 10, 25, 50, 100]) ?? 25,
    world: {
      ...drawWorld(random),
      replicas: seeded(seed + 78).whole(1, 2),
      sidecar: seeded(seed + 71).pick(SIDECARS) ?? 'none',
      rollout: deployments.pick(ROLLOUTS),
      cleanup: { ...deployments.pick(CLEANUPS), admits: deployments.next() < 0.7 },
    },
    /** How much slower coderd's database is than measured: these worlds are small. 0: it takes no time. */
    databaseFactor: seeded(seed + 120).pick([0, 0, 1, 100, 400]) ?? 0,
    lookEveryS: random.pick([5, 10, 30, 30, 45, 60]) ?? 10,
    /** Shares of all invocations, 0 to 1. */
    looks: { doubled: often(random, 0.3), crashing: often(random, 0.2), slow: often(random, 0.1) },
    memory: {
      /** How long Lambda keeps each process. */
      processLifeMs: memory.pick(PROCESS_LIVES_MS) ?? ([0, 0] as const),
      /** How often the record is lost, old or wrong, or may not be read or written for a time. */
      recordAnHour: often(memory, 6),
    },
    /** Shares of the messages for the next looks, 0 to 1. */
    messages: { lost: often(messages, 0.3), repeated: often(messages, 0.3), late: often(messages, 0.3) },
    /** How much longer each answer of coderd takes for each pending job, in milliseconds. */
    coderdMsAJob: often(seeded(seed + 87), 40),
    callLatency: random.pick(CALL_LATENCIES_MS) ?? ([20, 400] as const),
    line: { failing: often(random, 0.05), losing: often(random, 0.05) },
    agent: { failing: often(random, 0.2), losing: often(random, 0.2) },
    incidents: drawIncidents(random, seed),
    /** Bursts per hour and pool, and the share of builds that take hours. */
    builds: { bursts: random.between(3, 15), longShare: random.next() < 0.3 ? random.between(0, 0.01) : 0 },
    outOfMemoryAnHour: often(seeded(seed + 20), 3),
    /** How often a daemon registers that claims a task which is not its own. */
    fakeDaemonsAnHour: often(seeded(seed + 30), 6),
    overridesAnHour: often(people, 6),
    /** At most one for each pool. */
    retirements: drawRetirements(people, { pools, busyHours }),
    secrets: {
      changesAnHour: often(secrets, 2),
      /** How old lists of secrets are (docs/internals/aws.md §4). */
      listLagMs: secrets.pick([0, 0, 60_000, 300_000]) ?? 0,
      /** How often a permission is missing for a time. */
      forbiddenAnHour: often(secrets, 0.5),
      /** How often lists of secrets tell too little for a time, or of a change that is none. */
      liesAnHour: often(secrets, 4),
    },
  };
}

export type WorldPlan = Readonly<ReturnType<typeof drawPlan>>;

const PROCESS_LIVES_MS: readonly Range[] = [
  [0, 0],
  [MINUTE_MS, HOUR_MS],
  [HOUR_MS, 6 * HOUR_MS],
];
const CALL_LATENCIES_MS: readonly Range[] = [
  [5, 60],
  [20, 400],
  [50, 2_000],
];

/** From 0 to `most`: 0 in half of the worlds, in the others small more often than large. */
function often(random: Random, most: number): number {
  const share = most * random.next() ** 2;
  return random.next() < 0.5 ? share : 0;
}

function drawHours(random: Random): number {
  const longest = random.pick([4, 4, 8, 8, 16, 36]) ?? 8;
  return random.between(2, longest);
}

/** The tags overlap on purpose: some pools can run jobs of others. */
const DEFAULT_POOL: Pick<PoolSpec, 'name' | 'organization' | 'tags'> = {
  name: 'default',
  organization: 'default',
  tags: {},
};
const POOL_TEMPLATES: readonly (typeof DEFAULT_POOL)[] = [
  DEFAULT_POOL,
  { name: 'gpu', organization: 'default', tags: { cluster: 'gpu' } },
  { name: 'gpu-eu', organization: 'default', tags: { cluster: 'gpu', region: 'eu' } },
  { name: 'data', organization: 'data', tags: { team: 'data' } },
  { name: 'data-eu', organization: 'data', tags: { team: 'data', region: 'eu' } },
];

function drawPools(random: Random): readonly PlannedPool[] {
  const templates = [...POOL_TEMPLATES];
  return Array.from({ length: random.pick([1, 2, 3, 4, 4]) ?? 4 }, () => {
    const [template] = templates.splice(random.whole(0, templates.length - 1), 1);
    return drawPool(random, template ?? DEFAULT_POOL);
  });
}

/** Of one task with the default size and architecture, on demand (docs/settings.md). */
export const TASK_DOLLARS = 0.0396;

/** A limit in a quarter of the worlds, for at least `least` tasks. */
function drawDollars(
  random: Random,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  if (random.next() > 0.25) return undefined;
  return Math.max(least, random.whole(Math.ceil(most / 2), most)) * TASK_DOLLARS;
}

/** In a third of the worlds half of the pools learn how many daemons to keep free. */
function drawAuto(random: Random, pools: readonly PlannedPool[]): readonly PlannedPool[] {
  if (random.next() > 0.33) return pools;
  return pools.map((pool) => (random.next() < 0.5 ? { ...pool, warm: 'auto' } : pool));
}

/** In a quarter of the worlds half of the pools have a service on Spot too. */
function drawCapacity(random: Random, pools: readonly PlannedPool[]): readonly PlannedPool[] {
  if (random.next() > 0.25) return pools;
  const capacity = ['spot', 'on-demand'] as const;
  return pools.map((pool) => (random.next() < 0.5 ? { ...pool, capacity } : pool));
}

/** The names of the pool's services: it may have one on Spot too. */
export function partsOf({ name, capacity }: Pick<PlannedPool, 'name' | 'capacity'>): readonly string[] {
  return capacity === undefined ? [name] : [name, spotPartOf(name)];
}

/** The fewest tasks that the pool keeps. */
export function floorOf({ min, warm }: Pick<PlannedPool, 'min' | 'warm'>): number {
  return warm === 'auto' ? min : Math.max(min, warm);
}

function drawPool(random: Random, template: typeof DEFAULT_POOL): PlannedPool {
  const most = random.pick([3, 12, 24, 40]) ?? 12;
  const max = random.whole(Math.ceil(most / 3), most);
  return {
    ...template,
    max,
    min: random.pick([0, 0, Math.min(max, 1), random.whole(0, Math.min(max, 3))]) ?? 0,
    warm: random.pick([0, 0, random.whole(0, Math.min(max, 3))]) ?? 0,
    idleTimeoutS: random.pick([0, 15, 30, 60, 60, 120, 300]) ?? 60,
    desiredCount: random.whole(0, Math.min(max, 5)),
  };
}

function drawWorld(random: Random): Omit<WorldOptions, 'pools'> {
  return {
    start: START as EpochMs,
    seed: random.whole(0, 2 ** 31 - 1),
    coderVersion: random.pick(['v2.30.0', 'v2.33.2', 'v2.37.0']) ?? 'v2.30.0',
    readLagMs: random.pick([0, 2_000, 10_000, 30_000]) ?? 0,
    deploymentBlocked: random.pick(['all', 'new-only', 'off'] as const) ?? 'all',
    blockedTasks: random.pick(['all', 'old-revision'] as const) ?? 'all',
    lateLease: random.pick(['taken', 'refused'] as const) ?? 'taken',
    victims: random.next() < 0.8 ? 'worst' : 'random',
    latencies: {
      react: [500, random.pick([3_000, 20_000]) ?? 3_000],
      boot: random.pick<Range>([
        [5_000, 30_000],
        [25_000, 60_000],
        [30_000, 150_000],
      ]) ?? [25_000, 60_000],
      lease: random.pick<Range>([
        [50, 400],
        [100, 7_000],
      ]) ?? [50, 400],
    },
  };
}

/** Half of the worlds have no retirement; in the others about half of the pools retire. */
function drawRetirements(
  random: Random,
  { pools, busyHours }: { readonly pools: readonly PlannedPool[]; readonly busyHours: number },
): readonly Retirement[] {
  const share = random.next();
  if (share < 0.5) return [];
  return pools
    .filter(() => random.next() < share)
    .map(({ name }) => {
      const atHours = random.between(0, busyHours);
      const draws = { isRenamed: random.next() < 0.6, isBack: random.next() < 0.4 };
      const backAfterHours = random.between(0, busyHours - atHours);
      const planned = { pool: name, atHours, isRenamed: draws.isRenamed };
      return draws.isBack ? { ...planned, backAfterHours } : planned;
    });
}

/** Incidents per hour; those that never happen are absent. */
function drawIncidents(random: Random, seed: number): Readonly<Partial<Record<Incident, number>>> {
  const drawn = INCIDENTS.map((incident) => {
    const most: number | Later = MOST_AN_HOUR[incident];
    const perHour =
      typeof most === 'number' ? often(random, most) : often(seeded(seed + most.rate), most.most);
    return [incident, perHour] as const;
  });
  return Object.fromEntries(drawn.filter(([, perHour]) => perHour > 0));
}
