/**
 * A policy that knows the whole trace, for tests of the bounds. It assigns chains of jobs to tasks.
 * The daemon of each task is ready a moment before its first job, and the task ends after its last
 * job. Often no job waits, and the cost is close to the bound.
 */
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Policy, PolicyContext } from '../../what-if/policies/policy.ts';
import type { Latencies } from '../../world/ecs/parts/latencies.ts';

/** The shortest latencies of a simulated task. */
export const FASTEST: Latencies = {
  react: [0, 0],
  boot: [25_000, 25_000],
  lease: [50, 50],
  connect: [2500, 2500],
  signal: [0, 0],
  stop: [0, 0],
  healthyMs: 40_000,
};

/** From raising the desired count to a connected daemon, and 100 ms before its first job. */
const LEAD_MS = 25_000 + 2500 + 100;
/**
 * Another daemon may have taken the planned job. Then no daemon is idle yet, so try again later.
 */
const END_AGAIN_MS = 1000;

/** A job that starts without any wait, and the pool that runs it. */
export type PlannedJob = { readonly at: EpochMs; readonly endsAt: EpochMs; readonly pool: string };

/** `chainsUpToMs`: the longest time that a task idles before its next job. */
export function foresight(jobs: readonly PlannedJob[], chainsUpToMs: number): Policy {
  return {
    id: 'foresight',
    title: () => 'foresight',
    source: { title: 'none', url: 'https://example.com' },
    canKill: false,
    grid: () => [{}],
    start: (context) => {
      for (const task of chain(jobs, chainsUpToMs)) plan(context, task);
    },
  };
}

/** The jobs of one task: from the start of the first to the end of the last. */
type Chain = { readonly pool: string; readonly from: EpochMs; to: EpochMs };

function chain(jobs: readonly PlannedJob[], chainsUpToMs: number): readonly Chain[] {
  const chains: Chain[] = [];
  for (const { at, endsAt, pool } of jobs.toSorted((a, b) => a.at - b.at)) {
    const free = chains.findLast(
      (each) => each.pool === pool && each.to <= at && at - each.to <= chainsUpToMs,
    );
    if (free === undefined) chains.push({ pool, from: at, to: endsAt });
    else free.to = endsAt;
  }
  return chains;
}

function plan(context: PolicyContext, { pool, from, to }: Chain): void {
  const { timeline } = context.world;
  const desired = (): number => context.world.service(pool).state.desiredCount;
  const endOne = (): void => {
    const idle = [...context.world.service(pool).tasks].find((task) => task.idleSince !== undefined);
    if (idle === undefined) {
      timeline.after(END_AGAIN_MS, endOne);
      return;
    }
    context.setDesired(pool, desired() - 1, 'its last job is over');
    context.world.ecs.endTask(idle.identity.id);
  };
  timeline.after(from - LEAD_MS - timeline.now(), () =>
    context.setDesired(pool, desired() + 1, 'a job will come'),
  );
  timeline.after(plusMs(to, 1) - timeline.now(), endOne);
}
