/** What tasks did and what is billed for them. */
import type { EpochMs } from '../../lambda/core/brands.ts';
import type { AcquiredJob } from '../daemon-connection.ts';
import type { EcsTask } from '../ecs/task.ts';
import type { World } from '../world.ts';

/** A daemon got a job. */
export type Acquisition = { readonly pool: string; readonly taskId: string };

export type TaskFigures = {
  /** Milliseconds by pool. */
  readonly billedMs: ReadonlyMap<string, number>;
  readonly launches: number;
  readonly idleLaunches: number;
};

/** AWS bills a minute at least, and whole seconds: aws.amazon.com/fargate/pricing. */
const LEAST_MS = 60_000;

export class Ledger {
  readonly #from: EpochMs;
  readonly #acquisitions = new Map<string, Acquisition>();
  readonly #busy = new Set<string>();
  readonly #stopped: EcsTask[] = [];

  /** What was before `from` is not counted. */
  constructor(from: EpochMs) {
    this.#from = from;
  }

  acquired(job: AcquiredJob, taskId: string, pool: string): void {
    this.#acquisitions.set(job.id, { pool, taskId });
    this.#busy.add(taskId);
  }

  stopped(task: EcsTask): void {
    this.#stopped.push(task);
  }

  /** Which daemon had a job, the last one if there were several. */
  acquisitionOf(jobId: string): Acquisition | undefined {
    return this.#acquisitions.get(jobId);
  }

  figures(world: World, poolOf: (task: EcsTask) => string): TaskFigures {
    const now = world.timeline.now();
    const alive = world.ecs.tasks().filter(({ state }) => state.lastStatus !== 'STOPPED');
    const tasks = [...this.#stopped, ...alive];
    const billedMs = new Map<string, number>();
    for (const task of tasks) {
      const pool = poolOf(task);
      billedMs.set(pool, (billedMs.get(pool) ?? 0) + this.#billed(task, now));
    }
    const launched = tasks.filter(({ state }) => state.createdAt >= this.#from);
    const idle = launched.filter(({ identity: { id } }) => !this.#busy.has(id));
    return { billedMs, launches: launched.length, idleLaunches: idle.length };
  }

  #billed({ state: { pullStartedAt, stoppedAt } }: EcsTask, now: EpochMs): number {
    const end = stoppedAt ?? now;
    if (pullStartedAt === undefined || end <= this.#from) return 0;
    if (pullStartedAt < this.#from) return end - this.#from;
    return Math.max(LEAST_MS, Math.ceil((end - pullStartedAt) / 1000) * 1000);
  }
}
