/**
 * Plays the demo's jobs with the same seed on services without protection. At each look of the demo
 * the desired count becomes the number of jobs. ECS chooses which task it stops, and a build on it
 * has the default stop timeout to end. The new image is left out: only lower counts stop tasks.
 */
import { plusMs } from '../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { Random } from '../world/base/random.ts';
import type { PoolSpec, World } from '../world/world.ts';
import {
  canRun,
  demoWorld,
  LOOKS_MS,
  POOLS,
  planAutostarts,
  planSubmissions,
  SCHEDULE,
  START,
} from './scenario.ts';

/** ECS's, unless a task definition sets another one (docs/internals/aws.md §2). */
export const DEFAULT_STOP_TIMEOUT_S = 30;
/** All builds have ended by then, and coderd has given up those that were killed. */
const LENGTH_MS = 15 * MINUTE_MS;

/** How many builds these services kill. */
export function killedByLowering(seed: number): number {
  return playPlain(seed).kills().length;
}

/** Returns the world at the end. `guarded`: the tasks have the guard, and their protection. */
export function playPlain(seed: number, image: PoolSpec['image'] = 'bare'): World {
  const template = { stopTimeoutS: DEFAULT_STOP_TIMEOUT_S };
  const world = demoWorld({ seed, pools: POOLS.map((pool) => ({ ...pool, image, template })) });
  planSubmissions(world, new Random(seed), () => {});
  planAutostarts(world, () => {});
  world.timeline.every(LOOKS_MS, () => followJobs(world), SCHEDULE.firstMs);
  world.timeline.advanceTo(plusMs(START, LENGTH_MS));
  return world;
}

/** A job that fits several pools counts for each of them, which keeps more tasks. */
function followJobs(world: World): void {
  const jobs = [...world.coderd.openJobs()];
  for (const pool of POOLS) {
    const { identity, state } = world.service(pool.name);
    const count = Math.min(pool.max, jobs.filter((job) => canRun(world, pool, job)).length);
    if (count !== state.desiredCount) world.ecs.setDesiredCount(identity.name, count);
  }
}
