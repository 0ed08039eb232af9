/**
 * Computes recommended settings from replays: price of waiting, limits above the observed peaks,
 * start time.
 */

import type { DeployedPool, Deployment } from '../../lambda/config/rules/deployment.ts';
import type { PricePoint } from './price-point.ts';

export type RecommendedPool = {
  readonly name: string;
  readonly max: number;
  /**
   * The peak of the desired count. 0: the pool ran no job of the trace, and `max` stays as
   * configured.
   */
  readonly used: number;
};

export type Recommendation = {
  /** Dollars for each minute of a person. */
  readonly price: number;
  readonly pools: readonly RecommendedPool[];
  readonly maxTasks: number;
  readonly maxTasksUsed: number;
  /** Undefined: the trace has no start times. */
  readonly startTimeMs: number | undefined;
};

/** Recommends limits with headroom above the peaks of the replays. */
export function recommend(
  config: Deployment,
  { price, peaks }: Pick<PricePoint, 'price' | 'peaks'>,
  startTimeMs: number | undefined,
): Recommendation {
  const pools = config.pools.map((pool) => boundsOf(pool, peaks.byPool[pool.name] ?? 0));
  const largest = Math.max(...pools.map(({ max }) => max));
  return {
    price,
    pools,
    maxTasks: Math.max(largest, withRoom(peaks.all)),
    maxTasksUsed: peaks.all,
    startTimeMs,
  };
}

function boundsOf(pool: DeployedPool, used: number): RecommendedPool {
  const { name, min, warm, schedules } = pool;
  const written = [min, warm, ...schedules.flatMap((schedule) => [schedule.min, schedule.warm])];
  const least = Math.max(...written.map((count) => (count === 'auto' ? 0 : count)));
  return { name, used, max: used === 0 ? pool.max : Math.max(least, withRoom(used)) };
}

/** One quarter more, and at least two tasks: the next weeks may be busier than the trace. */
const withRoom = (tasks: number): number => Math.max(tasks + 2, Math.ceil(tasks * 1.25));

const SHORTEST_START_MS = 10_000;
const LONGEST_START_MS = 600_000;

/**
 * The slowest start in milliseconds, in steps of 5 s, within the range of the setting. Undefined:
 * the trace has no start times.
 */
export function startTimeOf(
  startSeconds: readonly [from: number, to: number] | undefined,
): number | undefined {
  if (startSeconds === undefined) return undefined;
  const stepped = Math.ceil(startSeconds[1] / 5) * 5_000;
  return Math.min(LONGEST_START_MS, Math.max(SHORTEST_START_MS, stepped));
}

export function withStartTime(
  config: Deployment,
  startSeconds: readonly [from: number, to: number] | undefined,
): Deployment {
  const startTimeMs = startTimeOf(startSeconds);
  if (startTimeMs === undefined) return config;
  return { ...config, pools: config.pools.map((pool) => ({ ...pool, startTimeMs })) };
}
