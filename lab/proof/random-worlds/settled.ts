/** Whether each pool is at its floor, workspaces are stopped, deployments have ended, nothing is left. */
import type { OrganizationId } from '../../../lambda/decision/model/brands.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import type { World } from '../../world/world.ts';
import { runningWorkspaces } from './events/workload.ts';
import type { FleetPool } from './world/fleet.ts';
import { floorOf, partsOf } from './world/plan.ts';

/** What the last look reported. */
export type LookReport = {
  /** Organizations whose scale-in is on hold: their pools may stay as they are. */
  readonly held: ReadonlySet<string>;
  /** Retiring pools without a task, which may be removed. */
  readonly retired: ReadonlySet<string>;
  /** IDs of tasks that drain without a daemon (docs/operate.md, "drain-stuck"). */
  readonly stuck: ReadonlySet<string>;
};

/**
 * Stops, as a person would, those stuck tasks whose container froze before its guard began. A drain request by
 * hand protects such a task for 23 hours. The autoscaler leaves it: it cannot tell it from a long build.
 */
export function stopFrozen(world: World, stuck: LookReport['stuck']): readonly string[] {
  const ids = world.ecs
    .tasks()
    .filter(({ state }) => state.lastStatus === 'RUNNING')
    .map(({ identity }) => identity.id)
    .filter((id) => stuck.has(id) && world.guard(id) === undefined);
  for (const id of ids) world.ecs.stopTask(id);
  return ids;
}

/** What has not settled yet, one text each; empty if the world has settled. */
export function unsettled(
  world: World,
  pools: readonly FleetPool[],
  { held, retired }: Omit<LookReport, 'stuck'>,
): readonly string[] {
  const open = world.coderd.jobs().filter(({ completedAt }) => completedAt === undefined).length;
  const isHeld = (id: OrganizationId): boolean =>
    [...held].some((name) => world.coderd.organizationId(name) === id);
  const awake = runningWorkspaces(world, isHeld);
  return [
    ...(open > 0 ? [`jobs that have not ended: ${open}`] : []),
    ...(awake > 0 ? [`workspaces that still run: ${awake}`] : []),
    ...pools
      .filter(({ organization }) => !held.has(organization))
      .flatMap((pool) => unsettledPool(world, pool)),
    ...pools
      .filter(({ name, organization, retiring }) => retiring && !held.has(organization) && !retired.has(name))
      .map(({ name }) => `pool "${name}": it is retiring and the plan does not report it as retired`),
  ];
}

function unsettledPool(world: World, pool: FleetPool): readonly string[] {
  const { name, max, warm, retiring } = pool;
  const floor = retiring ? 0 : floorOf(pool);
  // it keeps as many as it has learned
  const most = warm === 'auto' && !retiring ? max : floor;
  const services = partsOf(pool).map((part) => world.service(part));
  const names = services.map(({ identity }) => identity.name);
  const tasks = world.ecs
    .tasks()
    .filter(
      ({ identity, state }) => names.includes(identity.serviceName ?? '') && state.lastStatus !== 'STOPPED',
    );
  const phases = tasks.map((task) => world.guard(task.identity.id)?.phase ?? task.state.lastStatus);
  const desiredCount = sum(services, ({ state }) => state.desiredCount);
  const isWithin = desiredCount >= floor && desiredCount <= most;
  const isAtFloor =
    isWithin && phases.length === desiredCount && phases.every((phase) => phase === 'working');
  const found: string[] = [];
  if (!isWithin) found.push(`its desired count is ${desiredCount}, but its floor is ${floor}`);
  if (!isAtFloor) found.push(`its floor is ${floor}, but its tasks are: ${phases.join(', ') || 'none'}`);
  for (const { state } of services)
    if (state.primary.rolloutState !== 'COMPLETED' || state.older.length > 0)
      found.push(`its deployment is ${state.primary.rolloutState}; older deployments: ${state.older.length}`);
  const own = new Set(tasks.map((task) => `${name}-${task.identity.id}`));
  const key = world.keyId(name);
  const stale = world.coderd.daemons().filter((it) => own.has(it.name) && it.keyId !== key).length;
  if (stale > 0) found.push(`${stale} of its daemons still use an old key`);
  return found.map((what) => `pool "${name}": ${what}`);
}
