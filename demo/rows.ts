/** Computes the table of the demo from the simulated world: one row per pool. */
import { tagText } from '../lambda/explain/format.ts';
import type { EcsTask } from '../simulator/ecs/task.ts';
import type { World } from '../simulator/world.ts';
import { POOLS } from './scenario.ts';

export type Row = { readonly name: string; readonly cells: readonly string[]; readonly desired: number };

export const HEAD = ['pool', 'tags', 'revision', 'desired', 'tasks', 'busy', 'free', 'leaving', 'jobs done'];

/**
 * A task with less time left on its lease drains: it got a drain request, or its guard decided to
 * drain (docs/architecture.md, "The lease").
 */
const LEAVING_BELOW_MS = 24 * 3_600_000;

/**
 * One row per pool, for the current state. A busy daemon that drains counts as busy and as leaving.
 */
export function rowsOf(world: World): readonly Row[] {
  return POOLS.map(({ name, tags }) => {
    const { state, tasks } = world.service(name);
    const { running, busy, free, leaving } = countTasks(world, name);
    const revision = revisionText(state.primary.definition.revision, [...tasks]);
    const numbers = [state.desiredCount, running, busy, free, leaving, countJobsDone(world, name)];
    return {
      name,
      cells: [name, tagText(tags), revision, ...numbers.map(String)],
      desired: state.desiredCount,
    };
  });
}

function countTasks(world: World, pool: string) {
  const connected = new Set(world.coderd.daemons().map(({ name }) => name));
  const running = [...world.service(pool).tasks].filter((task) => task.state.lastStatus === 'RUNNING');
  const count = (of: (task: EcsTask) => boolean): number => running.filter(of).length;
  const isWorking = (task: EcsTask): boolean => leaseMs(world, task) >= LEAVING_BELOW_MS;
  return {
    running: running.length,
    busy: count((task) => task.isBusy),
    free: count((task) => isWorking(task) && !task.isBusy),
    leaving: count((task) => !isWorking(task) && connected.has(`${pool}-${task.identity.id}`)),
  };
}

/** Remaining time of the lease in milliseconds; 0 without a lease. */
function leaseMs(world: World, { protections }: EcsTask): number {
  const { enabled, expiresAt = 0 } = protections.latest;
  return enabled ? expiresAt - world.timeline.now() : 0;
}

function countJobsDone(world: World, pool: string): number {
  const workers = new Set(
    world.coderd
      .daemons()
      .filter(({ name, keyName }) => name.startsWith(`${pool}-`) && keyName === pool)
      .map(({ id }) => id),
  );
  return world.coderd
    .jobs()
    .filter(
      ({ workerId, completedAt }) =>
        workerId !== undefined && completedAt !== undefined && workers.has(workerId),
    ).length;
}

function revisionText(revision: number, tasks: readonly EcsTask[]): string {
  const old = tasks.filter((task) => task.identity.definition.revision < revision).length;
  return old === 0 ? `${revision}` : `${revision} (${old} old)`;
}
