/** Counts the tasks of each pool as they are, not as a look sees them. */
import { sum } from '../../../lambda/decision/model/collections.ts';
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import type { EcsTask } from '../../world/ecs/task.ts';
import type { World } from '../../world/world.ts';
import { partsOf } from './world/plan.ts';
import type { WorldEvents } from './world/world-events.ts';

export type PoolTasks = {
  /** What ECS runs or will run of those that it counts. */
  readonly wanted: number;
  readonly staying: number;
  readonly leaving: number;
  /** Old tasks that ECS does not count, since their deployment has succeeded early. */
  readonly uncounted: number;
};

export function tasksByPool({
  world,
  fleet,
}: Pick<WorldEvents, 'world' | 'fleet'>): ReadonlyMap<string, PoolTasks> {
  const poolOfService = new Map<string, string>();
  const byPool = new Map<string, { -readonly [Name in keyof PoolTasks]: number }>();
  for (const pool of fleet.pools) {
    const services = partsOf(pool).map((part) => world.service(part));
    for (const { identity } of services) poolOfService.set(identity.name, pool.name);
    byPool.set(pool.name, {
      wanted: sum(services, ({ state }) => state.desiredCount),
      staying: 0,
      leaving: 0,
      uncounted: sum(services, ({ uncounted }) => uncounted),
    });
  }
  for (const task of world.ecs.tasks()) {
    const counts = byPool.get(poolOfService.get(task.identity.serviceName ?? '') ?? '');
    if (counts === undefined || task.state.lastStatus === 'STOPPED') continue;
    if (isEnding(world, task)) continue;
    if (isLeaving(world, task)) counts.leaving += 1;
    else counts.staying += 1;
  }
  return byPool;
}

/** Of a lease (docs/internals/architecture.md, "The lease"). */
const LEASE_MS = 24 * HOUR_MS;

/** Whether ECS stops the task and its daemon is gone: it is in no list of running tasks. */
function isEnding(world: World, { identity, isWanted }: EcsTask): boolean {
  const phase = world.guard(identity.id)?.phase;
  return !isWanted && phase !== 'working' && phase !== 'draining' && phase !== 'stopping';
}

/** Whether ECS stops the task, it got a drain request, or its guard drains or has lost its daemon. */
function isLeaving(world: World, { identity, state, isWanted, protections: { latest } }: EcsTask): boolean {
  const isAsked = latest.enabled && (latest.expiresAt ?? 0) - world.timeline.now() < LEASE_MS;
  const phase = world.guard(identity.id)?.phase ?? 'leasing';
  return (
    !isWanted || isAsked || (state.lastStatus === 'RUNNING' && phase !== 'leasing' && phase !== 'working')
  );
}
