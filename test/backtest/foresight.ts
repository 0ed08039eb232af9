/**
 * A policy that no one can run: it knows the trace. It chains jobs on tasks, has each task's daemon there a moment before its first
 * job and ends it upon its last. With luck nobody waits, and it costs hardly more than it must: what a bound has to be measured with.
 */
import type { Policy, Scene } from '../../backtest/policies/policy.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import type { Latencies } from '../../simulator/ecs/parts/latencies.ts';

/** No task of the world starts faster. */
export const FASTEST: Latencies = {
  react: [0, 0],
  boot: [25_000, 25_000],
  lease: [50, 50],
  connect: [2500, 2500],
  signal: [0, 0],
  stop: [0, 0],
  healthyMs: 40_000,
};

/** From a count that is raised to a daemon, and a moment before whom it is for. */
const LEAD_MS = 25_000 + 2500 + 100;
/** A job of the plan may be over before its daemon has nothing to do, as another one has taken it. */
const END_AGAIN_MS = 1000;

/** A job as it starts where nobody waits, and the pool that is to run it. */
export type PlannedJob = { readonly at: EpochMs; readonly endsAt: EpochMs; readonly pool: string };

/** `chainsUpToMs`: a task waits so long for its next job. */
export function foresight(jobs: readonly PlannedJob[], chainsUpToMs: number): Policy {
  return {
    id: 'foresight',
    title: () => 'foresight',
    source: { title: 'none', url: 'https://example.com' },
    rule: 'knows the trace',
    canKill: false,
    grid: () => [{}],
    start: (scene) => {
      for (const task of chain(jobs, chainsUpToMs)) plan(scene, task);
    },
  };
}

/** A task: from its first job's start to its last job's end. */
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

function plan(scene: Scene, { pool, from, to }: Chain): void {
  const { timeline } = scene.world;
  const desired = (): number => scene.world.service(pool).state.desiredCount;
  const endOne = (): void => {
    const idle = [...scene.world.service(pool).tasks].find((task) => task.idleSince !== undefined);
    if (idle === undefined) {
      timeline.after(END_AGAIN_MS, endOne);
      return;
    }
    scene.setDesired(pool, desired() - 1, 'its last job is over');
    scene.world.ecs.endTask(idle.identity.id);
  };
  timeline.after(from - LEAD_MS - timeline.now(), () =>
    scene.setDesired(pool, desired() + 1, 'a job will come'),
  );
  timeline.after(plusMs(to, 1) - timeline.now(), endOne);
}
