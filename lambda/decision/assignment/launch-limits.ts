/**
 * The room: how many launches `max`, `maxTasks`, `dollarsPerHour`, failing starts and failing
 * placement allow. All numbers are tasks. Launches for floors are reserved first, because these
 * tasks come with or without jobs.
 */
import { leastTasks } from '../forecast/floors.ts';
import type { PoolForecast } from '../forecast/pool-forecast.ts';
import { sum } from '../model/collections.ts';
import type { Config } from '../model/config.ts';
import type { Doubt } from '../model/plan.ts';
import { areSure } from '../scale-in/confirm-rung.ts';
import { mayGiveUp } from '../scale-in/counts.ts';
import { priceOf } from '../settings/prices.ts';
import { type Capacity, measure } from '../supply/capacity.ts';
import type { PoolView } from '../supply/supply.ts';

export type PoolLaunchLimits = {
  readonly view: PoolView;
  readonly capacity: Capacity;
  readonly poolForecast: PoolForecast;
  /** Launches that fill the pool up to its floor. */
  readonly forMin: number;
  /** Further launches that the pool's own limits allow. */
  readonly beyond: number;
  /** The part of `beyond` that prebuilds may use. The rest is for people. */
  readonly forPrebuilds: number;
  readonly isDoubtful: boolean;
  /**
   * Only pending jobs launch tasks: the clocks differ, so the tasks of floors may already exist, or
   * others change the count.
   */
  readonly isPendingOnly: boolean;
};

export type LaunchLimits = {
  /** The room of each pool, in the order of the pools. */
  readonly pools: readonly PoolLaunchLimits[];
  /** Launches over all pools, after those for floors. */
  readonly total: number;
  /** The maximum cost of these launches together, in micro-dollars an hour. */
  readonly budget: number;
};

export type RoomInput = {
  readonly config: Config;
  readonly doubtsOf: (view: PoolView) => readonly Doubt[];
};

/** Computes the room of all pools. Tasks that drain count against `maxTasks` (docs/adr/0005). */
export function computeLaunchLimits(
  poolForecasts: ReadonlyMap<PoolView, PoolForecast>,
  { config, doubtsOf }: RoomInput,
): LaunchLimits {
  const { maxTasks, dollarsPerHour = Number.POSITIVE_INFINITY } = config.limits;
  const counted = [...poolForecasts].map(([view, poolForecast]) => {
    const [capacity, doubts] = [measure(view), doubtsOf(view)];
    return { view, poolForecast, capacity, doubts, tasks: countedTasks(view, { capacity, doubts }) };
  });
  let total = maxTasks - sum(counted, ({ tasks }) => tasks);
  let budget = dollarsPerHour * 1e6 - sum(counted, ({ view, tasks }) => tasks * priceOf(view.pool));
  const pools = counted.map(({ view, poolForecast, capacity, doubts }): PoolLaunchLimits => {
    const isOpen = view.service !== undefined && !capacity.isHeldBack;
    const ownRoom = isOpen ? Math.max(0, view.pool.max - capacity.total) : 0;
    const price = priceOf(view.pool);
    const paid = Math.floor(budget / price);
    const isPendingOnly = launchesForJobsOnly(doubts);
    const belowFloor = isPendingOnly ? 0 : leastTasks(poolForecast.floors) - capacity.total;
    const forMin = Math.max(0, Math.min(belowFloor, ownRoom, total, paid));
    total -= forMin;
    budget -= forMin * price;
    const belowPrebuildsMax = view.pool.prebuilds.maxTasks - capacity.total - forMin;
    const forPrebuilds = Math.max(0, Math.min(ownRoom - forMin, belowPrebuildsMax));
    return {
      ...{ view, capacity, poolForecast, forMin, beyond: ownRoom - forMin },
      ...{ forPrebuilds, isDoubtful: doubts.length > 0, isPendingOnly },
    };
  });
  return { pools, total, budget };
}

export function launchesForJobsOnly(doubts: readonly Doubt[]): boolean {
  return doubts.includes('clocks-differ') || doubts.includes('count-contested');
}

/**
 * The tasks that count against the limits: those that exist, and desired ones unless the count
 * gives them up.
 */
function countedTasks(view: PoolView, input: GiveUpInput): number {
  const { tasks, missing, unseen } = view;
  return tasks.length + unseen + (givesUpMissing(view, input) ? 0 : missing);
}

/**
 * Whether the pool's count is lowered by its missing tasks (counts.ts; confirm-rung.ts for pools
 * without guards).
 */
function givesUpMissing({ pool, tasks }: PoolView, input: GiveUpInput): boolean {
  return (pool.scaleIn === 'lease' || areSure(tasks)) && mayGiveUp(input);
}

type GiveUpInput = Parameters<typeof mayGiveUp>[0];
