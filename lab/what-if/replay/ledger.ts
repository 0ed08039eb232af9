/** Records which task ran which job, and computes what Fargate bills for the tasks. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import type { AcquiredJob } from '../../world/base/daemon-connection.ts';
import type { EcsTask } from '../../world/ecs/task.ts';
import type { World } from '../../world/world.ts';
import type { Figures } from './result.ts';

export type Acquisition = { readonly pool: string; readonly taskId: string };

export type Bill = {
  readonly pool: string;
  /** The billed time. 0 ms: nothing was billed. */
  readonly from: EpochMs;
  readonly ms: number;
  readonly dollarsPerHour: number;
  /** Undefined: before the period. */
  readonly launchedAt: EpochMs | undefined;
  readonly dollarsPerLaunch: number;
  /** Whether its daemon had a job. */
  readonly isUsed: boolean;
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

  /** One bill for each task. `billedUntil`: of one that still exists, idle while jobs elsewhere finish. */
  bills(
    world: World,
    given: {
      readonly poolOf: (task: EcsTask) => string;
      readonly billedUntil: (taskId: string) => EpochMs;
    } & Prices,
  ): readonly Bill[] {
    const { poolOf, billedUntil, config, dollarsPerHour } = given;
    const launchPrices = new Map<string, number>(
      config.pools.map((pool) => [pool.name, pool.dollarsPerLaunch]),
    );
    const now = world.timeline.now();
    const alive = world.ecs.tasks().filter(({ state }) => state.lastStatus !== 'STOPPED');
    return [...this.#stopped, ...alive].map((task) => {
      const { identity, state } = task;
      const pool = poolOf(task);
      return {
        pool,
        ...this.#billed(task, Math.min(now, billedUntil(identity.id))),
        dollarsPerHour: dollarsPerHour(pool),
        launchedAt: state.createdAt < this.#from ? undefined : state.createdAt,
        dollarsPerLaunch: launchPrices.get(pool) ?? 0,
        isUsed: this.#busy.has(identity.id),
      };
    });
  }

  #billed({ state: { pullStartedAt, stoppedAt } }: EcsTask, until: number): Pick<Bill, 'from' | 'ms'> {
    const end = Math.min(stoppedAt ?? until, until);
    const from = this.#from;
    if (pullStartedAt === undefined || end <= from || end <= pullStartedAt) return { from, ms: 0 };
    if (pullStartedAt < from) return { from, ms: end - from };
    const ms = Math.max(LEAST_MS, Math.ceil((end - pullStartedAt) / 1000) * 1000);
    return { from: pullStartedAt, ms };
  }
}

type Prices = {
  readonly config: { readonly pools: readonly Pick<PoolConfig, 'name' | 'dollarsPerLaunch'>[] };
  readonly dollarsPerHour: (pool: string) => number;
};

export function tasksByPool(
  bills: readonly Bill[],
  { config }: Pick<Prices, 'config'>,
): Figures['tasks']['byPool'] {
  const byPool = Map.groupBy(bills, ({ pool }) => pool);
  const rows = config.pools.map(({ name, dollarsPerLaunch }) => {
    const own = byPool.get(name) ?? [];
    const launches = launchesOf(own);
    const tasks = sum(own, ({ ms, dollarsPerHour }) => (ms / HOUR_MS) * dollarsPerHour);
    return [name, { dollars: tasks + launches * dollarsPerLaunch, launches }] as const;
  });
  return Object.fromEntries(rows);
}

export const launchesOf = (bills: readonly Bill[]): number =>
  bills.filter(({ launchedAt }) => launchedAt !== undefined).length;
