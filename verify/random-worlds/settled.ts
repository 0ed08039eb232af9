/** Whether a world that has turned quiet has come to rest: each pool at its floor, every workspace stopped, nothing left over, deployments ended. */
import type { OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { World } from '../../simulator/world.ts';
import { running } from './happenings/workspaces.ts';
import type { FleetPool } from './world/fleet.ts';

/** What the last look has told. */
export type Told = {
  /** Organizations whose scale-in is held: their pools may stay as they are. */
  readonly held: ReadonlySet<string>;
  /** Pools of which no task is left, so that they may be removed. */
  readonly retired: ReadonlySet<string>;
};

/** What is not at rest; empty = settled. */
export function unsettled(
  world: World,
  pools: readonly FleetPool[],
  { held, retired }: Told,
): readonly string[] {
  const open = world.coderd.jobs().filter(({ completedAt }) => completedAt === undefined).length;
  const isHeld = (id: OrganizationId): boolean =>
    [...held].some((name) => world.coderd.organizationId(name) === id);
  const awake = running(world, isHeld);
  return [
    ...(open > 0 ? [`${open} jobs are not completed`] : []),
    ...(awake > 0 ? [`${awake} workspaces have not been stopped`] : []),
    ...pools.filter(({ organization }) => !held.has(organization)).flatMap((pool) => unrest(world, pool)),
    ...pools
      .filter(({ name, organization, retiring }) => retiring && !held.has(organization) && !retired.has(name))
      .map(({ name }) => `pool "${name}": it is retiring, and its plan does not say that no task is left`),
  ];
}

function unrest(world: World, { name, min, warm, retiring }: FleetPool): readonly string[] {
  const floor = retiring ? 0 : Math.max(min, warm);
  const { identity, state } = world.service(name);
  const tasks = world.ecs
    .tasks()
    .filter((task) => task.identity.serviceName === identity.name && task.state.lastStatus !== 'STOPPED');
  const phases = tasks.map((task) => world.guard(task.identity.id)?.phase ?? task.state.lastStatus);
  const isAtFloor = phases.length === floor && phases.every((phase) => phase === 'working');
  const found: string[] = [];
  if (state.desiredCount !== floor)
    found.push(`its desired count is ${state.desiredCount}, its floor ${floor}`);
  if (!isAtFloor) found.push(`its floor is ${floor}, its tasks: ${phases.join(', ') || 'none'}`);
  if (state.primary.rolloutState !== 'COMPLETED' || state.older.length > 0)
    found.push(`a deployment is ${state.primary.rolloutState}, with ${state.older.length} older ones`);
  return found.map((what) => `pool "${name}": ${what}`);
}
