/**
 * A deployment of any size at a busy moment, in the simulated world: pools with overlapping tags, pending jobs,
 * tasks in every state, and workspaces of which a fifth start 90 seconds later. Then the world's time stands still.
 */
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';
import { HOUR_MS, MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { Random } from '../world/base/random.ts';
import type { DrainSettings } from '../world/pool-settings.ts';
import { World } from '../world/world.ts';

/** The same size and seed give the same deployment. */
export type FleetSize = {
  /** Pending jobs of all organizations together. */
  readonly jobs: number;
  readonly pools: number;
  /** Daemons that coderd lists. Starting tasks are additional. */
  readonly daemons: number;
  readonly workspaces: number;
};

/** Three pools at night: the situation of most invocations. */
export const QUIET: FleetSize = { jobs: 0, pools: 3, daemons: 3, workspaces: 300 };
export const BUSY: FleetSize = { jobs: 100, pools: 20, daemons: 200, workspaces: 10_000 };
/** One deployment cannot have more pools. */
export const LARGEST: FleetSize = { jobs: 10_000, pools: 50, daemons: 1_000, workspaces: 10_000 };
/** More pools than a stack can have. The decision supports them. */
export const MANY_POOLS: FleetSize = { jobs: 10_000, pools: 200, daemons: 1_000, workspaces: 10_000 };

export type Fleet = {
  readonly world: World;
  /** The parsed `autoscaler.yaml` for a coderd at this URL. */
  readonly config: (coderdUrl: string) => Readonly<Record<string, unknown>>;
};

type TagGroup = { readonly organization: string; readonly tags: Tags };
type FleetPool = TagGroup & { readonly name: string };

const ORGANIZATIONS = ['default', 'platform', 'data', 'ml', 'edge'];
const TAGS = ['cluster', 'region', 'environment', 'team'];
/** The start time of workspaces with a schedule. Pools have to be awake by then. */
const STARTS_AT = Date.parse('2026-03-02T09:00:00Z') as EpochMs;
const SCHEDULE = 'CRON_TZ=UTC 0 9 * * 1-5';
const WORKSPACES_A_TEMPLATE = 50;

export function makeFleet(size: FleetSize, seed: number): Fleet {
  const random = new Random(seed);
  const pools = Array.from({ length: size.pools }, (_, index) => poolAt(index));
  const poolOfTask = Array.from({ length: size.daemons }).flatMap(() => pickSkewed(pools, 1.5, random) ?? []);
  const world = new World({
    // time stands still, and with it ECS's buckets would stay empty
    ...{ start: minutesBefore(20), seed, throttling: false },
    pools: pools.map((pool) => ({
      ...pool,
      desiredCount: poolOfTask.filter((other) => other === pool).length,
    })),
  });
  addWorkspaces(world, pools, size.workspaces, random);
  world.timeline.advanceTo(minutesBefore(15));
  // some of these builds end before the time stops, so their daemons are idle and have a previous job
  for (const pool of poolOfTask) submit(world, pool, random.between(5 * MINUTE_MS, HOUR_MS));
  world.timeline.advanceTo(minutesBefore(2));
  for (const task of world.ecs.tasks()) disturb(world, task.identity.arn, random);
  world.timeline.advanceTo(minutesBefore(1.5));
  for (let job = 0; job < size.jobs; job++) submit(world, groupOf(pools, random), HOUR_MS);
  return { world, config: (coderdUrl) => configOf(pools, size, coderdUrl) };
}

const minutesBefore = (minutes: number): EpochMs => plusMs(STARTS_AT, -minutes * MINUTE_MS);

/** The first pool of each organization is untagged. The others differ in the values of tags: all but the last have two. */
function poolAt(index: number): FleetPool {
  const organization = ORGANIZATIONS[index % ORGANIZATIONS.length] ?? '';
  const place = Math.floor(index / ORGANIZATIONS.length);
  const last = TAGS.length - 1;
  const tags = TAGS.map((name, bit) => [name, `${name}-${bit === last ? place >> bit : (place >> bit) & 1}`]);
  const name = `${organization}-${String(index).padStart(3, '0')}`;
  return { name, organization, tags: place === 0 ? {} : Object.fromEntries(tags) };
}

/** `maxTasks`: half as many tasks again, one more per pool, and one for each workspace about to start. */
function configOf(pools: readonly FleetPool[], { daemons, workspaces }: FleetSize, coderdUrl: string) {
  return {
    coder: { url: coderdUrl, token: { secret: 'coder/autoscaler-token' } },
    limits: { maxTasks: Math.ceil(daemons * 1.5 + workspaces / 5) + pools.length },
    // longer than an invocation, so that one invocation is one look
    looks: { every: '60s' },
    pools: pools.map((pool, index) => {
      const drains: DrainSettings = {
        min: 1,
        max: Math.ceil((daemons / pools.length) * 2 + workspaces / pools.length / 5) + 2,
        warm: index % 3,
        idleTimeout: undefined,
        schedules: [],
        retiring: false,
        capacity: undefined,
      };
      return { ...pool, key: { secret: `coder/keys/${pool.name}` }, ...drains };
    }),
  };
}

/** Some tags of a pool, the first pools more often: several pools often fit, and few groups have most jobs. */
function groupOf(pools: readonly FleetPool[], random: Random): TagGroup {
  const pool = pickSkewed(pools, 2, random);
  if (pool === undefined || random.next() < 0.01)
    return { organization: 'default', tags: { cluster: 'nobody-has-this' } };
  const tags = Object.entries(pool.tags).filter(() => random.next() < 0.5);
  return { organization: pool.organization, tags: Object.fromEntries(tags) };
}

function submit({ coderd }: World, { organization, tags }: TagGroup, durationMs: number): void {
  coderd.submitJob({ organization, tags, durationMs });
}

/** Some tasks are asked to drain. Some stop, and ECS starts others for them. */
function disturb({ ecs }: World, task: string, random: Random): void {
  const share = random.next();
  if (share < 0.06) ecs.protect(task, 23 * 60);
  else if (share < 0.12) ecs.stopTask(task);
}

/** Most run, and stop in the evening. A fifth start by schedule. */
function addWorkspaces({ coderd }: World, pools: readonly FleetPool[], count: number, random: Random): void {
  const templates = Array.from({ length: Math.ceil(count / WORKSPACES_A_TEMPLATE) }, () =>
    coderd.addTemplate(groupOf(pools, random)),
  );
  for (let index = 0; index < count; index++) {
    // one workspace of each template; most others have one of a few templates
    const template = templates[index] ?? pickSkewed(templates, 2, random);
    if (template === undefined) return;
    // the first of them stop within half an hour
    const [share, since] = [random.next(), plusMs(STARTS_AT, -random.between(HOUR_MS, 8.6 * HOUR_MS))];
    coderd.workspaces.add({
      ...{ template, since, running: share > 0.4, ttlMs: 9 * HOUR_MS },
      ...(share < 0.2 ? { schedule: SCHEDULE } : {}),
      ...(share > 0.2 && share < 0.25 ? { dormantAt: since } : {}),
    });
  }
}

/** Picks an item, the first ones more often. Power 1: uniform. Power 2: half from the first quarter. */
function pickSkewed<T>(items: readonly T[], power: number, random: Random): T | undefined {
  return items[Math.floor(items.length * random.next() ** power)];
}
