/** The tasks that this process requested from ECS in the last hour, and which tasks came of it. */
import { type EpochMs, type PoolName, plusMs } from '../../decision/model/brands.ts';
import { by } from '../../decision/model/collections.ts';
import type { Snapshot, Task } from '../../decision/model/snapshot.ts';
import type { LookResult } from '../look.ts';
import { type PoolsOfTasks, poolsOfTasks } from './job-wait.ts';

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

  /** Adds the changed counts of a look, and forgets requests from before `oldest`. */
  add(snapshot: Snapshot, applied: Applied, { durationMs, oldest }: AddOptions): void {
    const { clock, takenAt } = snapshot;
    const lookedAt = clock ?? takenAt;
    const at = plusMs(lookedAt, durationMs);
    this.#requests = this.#requests.filter((request) => request.at >= oldest);
    for (const action of applied) {
      if (action.kind !== 'set-desired' || action.why === 'count-below-tasks') continue;
      const { pool, from, to } = action;
      if (to < from) this.#takeBack(pool, to, snapshot.ecs);
      if (to > from) this.#requests = [...this.#requests, { pool, takenAt, lookedAt, at, tasks: to - from }];
    }
  }

  /** The request that made each task. */
  ofTasks({ ecs }: Snapshot, pools: PoolsOfTasks): ReadonlyMap<Task, LaunchRequest> {
    return this.#match(ecs, pools).found;
  }

  /** After a count is lowered, ECS makes no more tasks than are missing from the count. */
  #takeBack(pool: PoolName, count: number, ecs: Snapshot['ecs']): void {
    const pools = poolsOfTasks(ecs);
    const running = ecs.tasks.items.filter(
      (task) => task.desiredStatus === 'RUNNING' && pools.partOf(task) === pool,
    );
    let missing = Math.max(0, count - running.length);
    const { left } = this.#match(ecs, pools);
    this.#requests = left.map(({ request, tasks }) => {
      if (request.pool !== pool) return request;
      const kept = Math.min(tasks, missing);
      missing -= kept;
      return { ...request, tasks: request.tasks - tasks + kept };
    });
  }

  /**
   * A pool's tasks, in order of creation, belong to its requests in order of time. A task beyond
   * them replaces one that stopped.
   */
  #match({ tasks: listed }: Snapshot['ecs'], { partOf }: PoolsOfTasks) {
    const found = new Map<Task, LaunchRequest>();
    const left = this.#requests.map((request) => ({ request, tasks: request.tasks }));
    for (const task of listed.items.toSorted(by(({ createdAt }) => createdAt ?? 0))) {
      const { createdAt } = task;
      if (createdAt === undefined) continue;
      const pool = partOf(task);
      const from = left.find(
        ({ request, tasks }) => tasks > 0 && request.pool === pool && request.lookedAt <= createdAt,
      );
      if (from === undefined) continue;
      from.tasks -= 1;
      found.set(task, from.request);
    }
    return { found, left };
  }
}

type AddOptions = { readonly durationMs: number; readonly oldest: number };
