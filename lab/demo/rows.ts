/** Computes the table of the demo from the simulated world: one row per pool. */
import { tagText } from '../../lambda/explain/format.ts';
import type { EcsTask } from '../world/ecs/task.ts';
import type { World } from '../world/world.ts';
import { POOLS } from './scenario.ts';
import type { PoolRow } from './screen/frame.ts';

/** With less time left on its lease a task drains (docs/internals/architecture.md, "The lease"). */
const LEAVING_BELOW_MS = 24 * 3_600_000;

/** One row per pool, for the current state. A busy daemon that drains counts as busy. */
export function rowsOf(world: World): readonly PoolRow[] {
  const daemons = new Set(world.coderd.daemons().map(({ name }) => name));
  return POOLS.map(({ name, tags }) => {
    const { state, tasks } = world.service(name);
    const stateOf = (task: EcsTask): ShownState =>
      taskState(task, {
        hasLease: hasLease(world, task),
        hasDaemon: daemons.has(`${name}-${task.identity.id}`),
      });
    const byState = Map.groupBy(tasks, stateOf);
    const count = (of: ShownState): number => byState.get(of)?.length ?? 0;
    return {
      name,
      tags: tagText(tags),
      desired: state.desiredCount,
      jobsDone: countJobsDone(world, name),
      revision: revisionText(state.primary.definition.revision, [...tasks]),
      busy: count('busy'),
      idle: count('idle'),
      draining: count('draining'),
      starting: count('starting'),
    };
  });
}

type ShownState = 'busy' | 'idle' | 'draining' | 'starting' | 'stopped';

/** `hasDaemon`: whether it has ever had one. */
function taskState(
  { state: { lastStatus, desiredStatus }, isBusy }: EcsTask,
  { hasLease, hasDaemon }: { readonly hasLease: boolean; readonly hasDaemon: boolean },
): ShownState {
  if (lastStatus === 'STOPPED') return 'stopped';
  if (isBusy) return 'busy';
  if (desiredStatus === 'STOPPED') return 'draining';
  if (lastStatus !== 'RUNNING' || !hasDaemon) return 'starting';
  return hasLease ? 'idle' : 'draining';
}

function hasLease(world: World, { protections }: EcsTask): boolean {
  const { enabled, expiresAt = 0 } = protections.latest;
  return enabled && expiresAt - world.timeline.now() >= LEAVING_BELOW_MS;
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
