/** Whether a world that has turned quiet has come to rest: each pool at its floor, every workspace stopped, nothing left over, deployments ended. */
import type { OrganizationId } from '../../lambda/core/brands.ts';
import type { World } from '../world.ts';
import type { PlannedPool, WorldPlan } from './plan.ts';
import { running } from './workspaces.ts';

/** What is not at rest; empty = settled. Pools of organizations whose scale-in is held, and reported, may stay as they are. */
export function unsettled(
  world: World,
  { pools }: WorldPlan,
  held: ReadonlySet<string> = new Set(),
): readonly string[] {
  const open = world.coderd.jobs().filter(({ completedAt }) => completedAt === undefined).length;
  const isHeld = (id: OrganizationId): boolean =>
    [...held].some((name) => world.coderd.organizationId(name) === id);
  const awake = running(world, isHeld);
  return [
    ...(open > 0 ? [`${open} jobs are not completed`] : []),
    ...(awake > 0 ? [`${awake} workspaces have not been stopped`] : []),
    ...pools.filter(({ organization }) => !held.has(organization)).flatMap((pool) => unrest(world, pool)),
  ];
}

function unrest(world: World, { name, min, warm }: PlannedPool): readonly string[] {
  const floor = Math.max(min, warm);
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
