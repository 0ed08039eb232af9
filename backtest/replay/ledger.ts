/** Records which task ran which job, and computes what Fargate bills for the tasks. */

import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { HOUR_MS } from '../../lambda/decision/model/units.ts';
import type { AcquiredJob } from '../../simulator/base/daemon-connection.ts';
import type { EcsTask } from '../../simulator/ecs/task.ts';
import type { World } from '../../simulator/world.ts';
import type { Figures } from './result.ts';

/** The daemon that acquired a job. */
export type Acquisition = { readonly pool: string; readonly taskId: string };

export type TaskFigures = {
  /** Billed milliseconds by pool. */
  readonly billedMs: ReadonlyMap<string, number>;
  /** Launches by pool. */
  readonly launches: ReadonlyMap<string, number>;
  readonly idleLaunches: number;
};

/** AWS bills whole seconds, and at least one minute: aws.amazon.com/fargate/pricing. */
const LEAST_MS = 60_000;

export class Ledger {
  readonly #from: EpochMs;
  readonly #acquisitions = new Map<string, Acquisition>();
  readonly #busy = new Set<string>();
  readonly #stopped: EcsTask[] = [];

  /** Time before `from` is not counted. */
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

  /** The daemon that acquired a job, the last one if there were several. */
  acquisitionOf(jobId: string): Acquisition | undefined {
    return this.#acquisitions.get(jobId);
  }

  /**
   * `billedUntil`: the end of billing of a task that still exists after the period. It idles only
   * while jobs on other tasks finish, so that time is not billed.
   */
  figures(
    world: World,
    given: {
      readonly poolOf: (task: EcsTask) => string;
      readonly billedUntil: (taskId: string) => EpochMs;
    },
  ): TaskFigures {
    const { poolOf, billedUntil } = given;
    const now = world.timeline.now();
    const alive = world.ecs.tasks().filter(({ state }) => state.lastStatus !== 'STOPPED');
    const tasks = [...this.#stopped, ...alive];
    const billedMs = new Map<string, number>();
    for (const task of tasks) {
      const pool = poolOf(task);
      billedMs.set(
        pool,
        (billedMs.get(pool) ?? 0) + this.#billed(task, Math.min(now, billedUntil(task.identity.id))),
      );
    }
    const launched = tasks.filter(({ state }) => state.createdAt >= this.#from);
    const idle = launched.filter(({ identity: { id } }) => !this.#busy.has(id));
    const launches = new Map([...Map.groupBy(launched, poolOf)].map(([pool, of]) => [pool, of.length]));
    return { billedMs, launches, idleLaunches: idle.length };
  }

  #billed({ state: { pullStartedAt, stoppedAt } }: EcsTask, until: number): number {
    const end = Math.min(stoppedAt ?? until, until);
    if (pullStartedAt === undefined || end <= this.#from || end <= pullStartedAt) return 0;
    if (pullStartedAt < this.#from) return end - this.#from;
    return Math.max(LEAST_MS, Math.ceil((end - pullStartedAt) / 1000) * 1000);
  }
}

type Prices = {
  readonly config: { readonly pools: readonly Pick<PoolConfig, 'name' | 'dollarsPerLaunch'>[] };
  /** Dollars per hour for one task of the pool. */
  readonly dollarsPerHour: (pool: string) => number;
};

/** What the tasks and launches of each pool cost. */
export function tasksByPool(
  { billedMs, launches }: TaskFigures,
  { config, dollarsPerHour }: Prices,
): Figures['tasks']['byPool'] {
  const rows = config.pools.map(({ name, dollarsPerLaunch }) => {
    const launched = launches.get(name) ?? 0;
    const tasks = ((billedMs.get(name) ?? 0) / HOUR_MS) * dollarsPerHour(name);
    return [name, { dollars: tasks + launched * dollarsPerLaunch, launches: launched }] as const;
  });
  return Object.fromEntries(rows);
}
