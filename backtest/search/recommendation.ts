/** Settings that a history recommends: a price of waiting, and bounds with room above what was used. */
import { mostForPrebuilds } from '../../lambda/config/check.ts';
import type { DeployedPool, Deployment } from '../../lambda/config/rules/deployment.ts';
import type { Figures } from '../replay/result.ts';
import { atPriceOfWaiting } from '../replay/waiting-price.ts';

export type PoolBounds = {
  readonly name: string;
  readonly max: number;
  /** The most tasks that the run wanted at a time. 0: it ran no job of this history, and `max` is as configured. */
  readonly used: number;
};

export type Recommendation = {
  /** Dollars a minute of a person. */
  readonly price: number;
  readonly pools: readonly PoolBounds[];
  readonly maxTasks: number;
  readonly maxTasksUsed: number;
  /** Undefined: the trace does not tell how long tasks took to start. */
  readonly startTimeMs: number | undefined;
};

/** What the run used, and room above it. */
export function recommend(
  config: Deployment,
  price: number,
  { peaks, waitByPool }: Pick<Figures, 'peaks' | 'waitByPool'>,
  startTimeMs: number | undefined,
): Recommendation {
  const pools = config.pools.map((pool) =>
    boundsOf(pool, waitByPool[pool.name] ? (peaks.byPool[pool.name] ?? 0) : 0),
  );
  const largest = Math.max(...pools.map(({ max }) => max));
  return {
    price,
    pools,
    maxTasks: Math.max(largest, withRoom(peaks.all)),
    maxTasksUsed: peaks.all,
    startTimeMs,
  };
}

function boundsOf(pool: DeployedPool, used: number): PoolBounds {
  const { name, min, warm, schedules } = pool;
  const written = [min, warm, ...schedules.flatMap((schedule) => [schedule.min, schedule.warm])];
  const least = Math.max(...written.map((count) => (count === 'auto' ? 0 : count)));
  return { name, used, max: used === 0 ? pool.max : Math.max(least, withRoom(used)) };
}

/** A quarter more, and two tasks at the least: the next weeks may be busier than the history. */
const withRoom = (tasks: number): number => Math.max(tasks + 2, Math.ceil(tasks * 1.25));

const SHORTEST_START_MS = 10_000;
const LONGEST_START_MS = 600_000;

/** The slowest start, in steps of 5 s, within what the setting allows. Undefined: the trace does not tell. */
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

/** The configuration with the recommendation in it. What follows `max` by default follows the new one. */
export function withRecommendation(config: Deployment, recommendation: Recommendation): Deployment {
  const { price, maxTasks, startTimeMs, pools } = recommendation;
  const maxOf = new Map(pools.map(({ name, max }) => [name, max]));
  const priced = atPriceOfWaiting(config, price);
  return {
    ...priced,
    limits: { ...priced.limits, maxTasks },
    pools: priced.pools.map((pool) => {
      const max = maxOf.get(pool.name) ?? pool.max;
      const { prewarm, prebuilds } = pool;
      return {
        ...pool,
        max,
        prewarm: { max: prewarm.max === pool.max ? max : prewarm.max },
        prebuilds: {
          maxTasks:
            prebuilds.maxTasks === mostForPrebuilds(pool.max) ? mostForPrebuilds(max) : prebuilds.maxTasks,
        },
        startTimeMs: startTimeMs ?? pool.startTimeMs,
      };
    }),
  };
}
