/** The tasks that this process requested from ECS in the last hour, and which tasks came of it. */
import type { EpochMs, PoolName } from '../decision/model/brands.ts';
import { by } from '../decision/model/collections.ts';
import type { Snapshot, Task } from '../decision/model/snapshot.ts';
import type { ServingTasks } from '../decision/waits/job-wait.ts';
import type { LookResult } from './look.ts';

/** A raised count: ECS was to create so many tasks. */
export type LaunchRequest = {
  readonly pool: PoolName;
  /** The time of the snapshot. */
  readonly takenAt: EpochMs;
  /** When the look began, by the function's clock. */
  readonly lookedAt: EpochMs;
  readonly at: EpochMs;
  readonly tasks: number;
};

type Applied = LookResult['outcome']['applied'];

export class LaunchRequests {
  #requests: readonly LaunchRequest[] = [];

  /** Adds the raised counts of a look, and forgets requests from before `oldest`. */
  add({ clock, takenAt }: Snapshot, applied: Applied, { durationMs, oldest }: AddOptions): void {
    const lookedAt = clock ?? takenAt;
    const at = (lookedAt + durationMs) as EpochMs;
    const raised = applied.flatMap((action) => {
      if (action.kind !== 'set-desired' || action.to <= action.from) return [];
      if (action.why === 'count-below-tasks') return [];
      return [{ pool: action.pool, takenAt, lookedAt, at, tasks: action.to - action.from }];
    });
    this.#requests = [...this.#requests.filter((request) => request.at >= oldest), ...raised];
  }

  /**
   * The request that made each task. A pool's tasks, in order of creation, belong to its requests in
   * order of time. A task beyond them replaces one that stopped.
   */
  ofTasks({ ecs }: Snapshot, { poolOf }: ServingTasks): ReadonlyMap<Task, LaunchRequest> {
    const found = new Map<Task, LaunchRequest>();
    const left = this.#requests.map((request) => ({ request, tasks: request.tasks }));
    for (const task of ecs.tasks.items.toSorted(by(({ createdAt }) => createdAt ?? 0))) {
      const { createdAt } = task;
      if (createdAt === undefined) continue;
      const pool = poolOf(task);
      const from = left.find(
        ({ request, tasks }) => tasks > 0 && request.pool === pool && request.lookedAt <= createdAt,
      );
      if (from === undefined) continue;
      from.tasks -= 1;
      found.set(task, from.request);
    }
    return found;
  }
}

type AddOptions = { readonly durationMs: number; readonly oldest: number };
