/** One build that dies with its task, so that `autoscaler orphans` has something to show. */
import type { EcsTask } from '../../simulator/ecs/task.ts';
import type { World } from '../../simulator/world.ts';

const AGAIN_MS = 5_000;

/** In `afterMs`, or once a build runs then, the host of its task fails. */
export function planDeath(world: World, afterMs: number): void {
  world.timeline.after(Math.max(0, afterMs), () => {
    const task = world.ecs.tasks().find((it) => isBuilding(world, it));
    if (task === undefined) planDeath(world, AGAIN_MS);
    else world.ecs.hostFailure(task.identity.id);
  });
}

/** Only a person's workspace has an owner to show, and imports of templates leave nothing behind. */
function isBuilding(world: World, { identity: { id }, state }: EcsTask): boolean {
  if (state.lastStatus !== 'RUNNING' || world.guard(id)?.isBusy() !== true) return false;
  const daemon = world.coderd.daemons().find(({ name }) => name.endsWith(`-${id}`));
  const current = daemon && world.coderd.jobsOf(daemon).current;
  const own = new Set(world.coderd.workspaces.all().map(({ latestBuild }) => latestBuild.job.id));
  return current?.some((job) => own.has(job.id)) ?? false;
}
