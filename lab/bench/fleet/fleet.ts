/**
 * A deployment of any size at a busy moment: overlapping tags, pending jobs, tasks in every state,
 * and workspaces of which a fifth start 90 seconds later. Then the world's time stands still.
 */
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import { Random } from '../../world/base/random.ts';
import { World } from '../../world/world.ts';
import {
  configOf,
  type FleetConfig,
  type FleetPool,
  type FleetSize,
  makeGroups,
  makePools,
  pickSkewed,
} from './pools.ts';

export type Fleet = {
  readonly world: World;
  /** The parsed `autoscaler.yaml` for a coderd at this URL. */
  readonly config: (coderdUrl: string) => FleetConfig;
};

/** The start time of workspaces with a schedule. Pools have to be awake by then. */
const STARTS_AT = Date.parse('2026-03-02T09:00:00Z') as EpochMs;
const SCHEDULE = 'CRON_TZ=UTC 0 9 * * 1-5';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const WORKSPACES_A_TEMPLATE = 50;

export function makeFleet(size: FleetSize): Fleet {
  const random = new Random(size.seed);
  const pools = makePools(size, random);
  const poolOfTask = Array.from({ length: size.daemons }, () => pickSkewed(pools, 1.5, random));
  const world = new World({
    // time stands still, and with it ECS's buckets would stay empty
    ...{ start: minutesBefore(20), seed: size.seed, throttling: false },
    pools: pools.map((pool) => ({
      ...pool,
      desiredCount: poolOfTask.filter((other) => other === pool).length,
    })),
  });
  addWorkspaces(world, pools, { size, random });
  world.timeline.advanceTo(minutesBefore(15));
  // some of these builds end before the time stops, so their daemons are idle and have a previous job
  for (const pool of poolOfTask) submit(world, pool, random.between(5 * MINUTE, HOUR));
  world.timeline.advanceTo(minutesBefore(2.5));
  for (const task of world.ecs.tasks()) disturb(world, task.identity.arn, random);
  world.timeline.advanceTo(minutesBefore(1.5));
  const groups = makeGroups(pools, size.jobs, random);
  // as in real deployments, few groups have most of the jobs
  for (let job = 0; job < size.jobs; job++) submit(world, pickSkewed(groups, 2, random), HOUR);
  return { world, config: (coderdUrl) => configOf(pools, size, coderdUrl) };
}

const minutesBefore = (minutes: number): EpochMs => plusMs(STARTS_AT, -minutes * MINUTE);

function submit(
  { coderd }: World,
  given: Pick<FleetPool, 'organization' | 'tags'> | undefined,
  durationMs: number,
): void {
  if (given !== undefined)
    coderd.submitJob({ organization: given.organization, tags: given.tags, durationMs });
}

/** Some tasks are asked to drain. Some stop, and ECS starts others for them. */
function disturb({ ecs }: World, task: string, random: Random): void {
  const share = random.next();
  if (share < 0.06) ecs.protect(task, 23 * 60);
  else if (share < 0.12) ecs.stopTask(task);
}

/** Most run, and stop in the evening. A fifth start by schedule. */
function addWorkspaces(
  { coderd }: World,
  pools: readonly FleetPool[],
  { size, random }: { readonly size: FleetSize; readonly random: Random },
): void {
  const groups = makeGroups(pools, size.workspaces, random);
  const templates = Array.from({ length: Math.ceil(size.workspaces / WORKSPACES_A_TEMPLATE) }).flatMap(() => {
    const group = random.pick(groups);
    return group === undefined ? [] : coderd.addTemplate(group);
  });
  for (let index = 0; index < size.workspaces; index++) {
    // one workspace of each template; most others have one of a few templates
    const template = templates[index] ?? pickSkewed(templates, 2, random);
    if (template === undefined) return;
    // the first of them stop within half an hour
    const [share, since] = [random.next(), plusMs(STARTS_AT, -random.between(HOUR, 8.6 * HOUR))];
    coderd.workspaces.add({
      ...{ template, since, running: share > 0.4, ttlMs: 9 * HOUR },
      ...(share < 0.2 ? { schedule: SCHEDULE } : {}),
      ...(share > 0.2 && share < 0.25 ? { dormantAt: since } : {}),
    });
  }
}
