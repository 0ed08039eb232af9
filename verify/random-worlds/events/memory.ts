/**
 * Plans tasks that run out of memory: the kernel kills the whole container, or the daemon alone.
 */
import { untilNextMs, type WorldContext } from '../world/world-context.ts';
import type { Crash } from './incidents.ts';

export type PlannedOutOfMemory = {
  /** The jobs of daemons that were killed alone. */
  readonly crashes: () => readonly Crash[];
  /** Plans no further one. */
  readonly end: () => void;
};

/** Plans all of them for a world on its timeline. */
export function planOutOfMemory(context: WorldContext): PlannedOutOfMemory {
  const { world, plan, random, print } = context;
  const crashes: Crash[] = [];
  let isOver = plan.outOfMemoryAnHour === 0;
  const planNext = (): void => {
    if (isOver) return;
    world.timeline.after(untilNextMs(random, plan.outOfMemoryAnHour), () => {
      if (!isOver) print(`out of memory: ${runOut(context, crashes) ?? 'no task'}`);
      planNext();
    });
  };
  planNext();
  return {
    crashes: () => crashes,
    end: () => {
      isOver = true;
    },
  };
}

function runOut({ world, random }: WorldContext, crashes: Crash[]): string | undefined {
  const task = random.pick(world.ecs.tasks().filter(({ state }) => state.lastStatus === 'RUNNING'));
  const isWhole = random.next() < 0.5;
  if (task === undefined) return undefined;
  const { id } = task.identity;
  const daemon = world.guard(id)?.daemon;
  if (isWhole || daemon === undefined) world.ecs.outOfMemory(id);
  else
    world.ecs.outOfMemory(id, () => {
      const job = daemon.crash(137);
      if (job !== undefined) crashes.push({ job: job.id, taskId: id, at: world.timeline.now() });
    });
  return id;
}
