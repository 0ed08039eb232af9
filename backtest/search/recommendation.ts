/**
 * Computes recommended settings from replays: price of waiting, limits above the observed peaks,
 * start time.
 */

import type { DeployedPool, Deployment } from '../../lambda/config/rules/deployment.ts';
import { countsUpToMax, withMax } from '../../lambda/config/rules/max.ts';
import { START_TIME } from '../../lambda/config/schema/schema.ts';
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
  const { name, max } = pool;
  if (used === 0) return { name, used, max };
  // with the lowest max, only written counts are high
  const written = countsUpToMax(withMax(pool, 1)).map(({ count }) => count);
  return { name, used, max: Math.max(...written, withRoom(used)) };
}

/** One quarter more, and at least two tasks: the next weeks may be busier than the trace. */
const withRoom = (tasks: number): number => Math.max(tasks + 2, Math.ceil(tasks * 1.25));

/**
 * The slowest start in milliseconds, in steps of 5 s, within the range of the setting. Undefined:
 * the trace has no start times.
 */
export function startTimeOf(
  startSeconds: readonly [from: number, to: number] | undefined,
): number | undefined {
  if (startSeconds === undefined) return undefined;
  const stepped = Math.ceil(startSeconds[1] / 5) * 5_000;
  return Math.min(START_TIME.toMs, Math.max(START_TIME.fromMs, stepped));
}

export function withStartTime(
  config: Deployment,
  startSeconds: readonly [from: number, to: number] | undefined,
): Deployment {
  const startTimeMs = startTimeOf(startSeconds);
  if (startTimeMs === undefined) return config;
  return { ...config, pools: config.pools.map((pool) => ({ ...pool, startTimeMs })) };
}
