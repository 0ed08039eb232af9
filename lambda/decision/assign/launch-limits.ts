/**
 * The room: how many launches `max`, `maxTasks`, `dollarsPerHour`, failing starts and failing
 * placement allow. All numbers are tasks. Launches for floors are reserved first, because these
 * tasks come with or without jobs.
 */
import { leastTasks } from '../forecast/floors.ts';
import type { PoolForecast, PoolForecasts } from '../forecast/pool-forecast.ts';
import { openersOf } from '../forecast/wake-demand.ts';
import type { EpochMs } from '../model/brands.ts';
import { sum } from '../model/collections.ts';
import type { Config } from '../model/config.ts';
import type { Doubt } from '../model/plan.ts';
import { priceOf } from '../settings/prices.ts';
import {
  type Capacity,
  launchesElsewhere,
  mayGiveUp,
  measure,
  mostForPrebuilds,
  roomToLaunch,
} from '../supply/capacity.ts';
import { launchesForJobsOnly } from '../supply/doubts.ts';
import { mayLaunchOne } from '../supply/heartbeats.ts';
import type { PoolView } from '../supply/supply.ts';

export type PoolLaunchLimits = {
  readonly view: PoolView;
  readonly capacity: Capacity;
  readonly poolForecast: PoolForecast;
  /** Launches that the count grants. */
  readonly room: number;
  /** Tasks that the pool's floor may launch before all limits. */
  readonly belowFloor: number;
  /** Launches that fill the pool up to its floor. */
  readonly forMin: number;
  /** Further launches that the pool's own limits allow. */
  readonly beyond: number;
  /** The part of `beyond` that prebuilds may use. The rest is for people. */
  readonly forPrebuilds: number;
  readonly isDoubtful: boolean;
  /** Whether only pending jobs launch tasks (doubts.ts). */
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
  /** AWS's time. */
  readonly now: EpochMs;
};

/** Computes the room of all pools. Tasks that drain count against `maxTasks` (docs/adr/0005). */
export function computeLaunchLimits(
  { poolForecasts }: Pick<PoolForecasts, 'poolForecasts'>,
  { config, doubtsOf, now }: RoomInput,
): LaunchLimits {
  const { maxTasks, dollarsPerHour = Number.POSITIVE_INFINITY } = config.limits;
  const counted = [...poolForecasts].map(([view, poolForecast]) => {
    const capacity = measure(view);
    const doubts = doubtsOf(view);
    return { view, poolForecast, capacity, doubts, tasks: countedTasks(view, capacity, doubts) };
  });
  let total = maxTasks - sum(counted, ({ tasks }) => tasks);
  let budget = dollarsPerHour * 1e6 - sum(counted, ({ view, tasks }) => tasks * priceOf(view.pool));
  const pools: PoolLaunchLimits[] = [];
  for (const { view, poolForecast, capacity, doubts } of counted) {
    const { service, pool } = view;
    const room = service === undefined ? 0 : roomToLaunch({ service, capacity, max: pool.max, doubts });
    const ownRoom = capacity.isHeldBack || launchesElsewhere(view) ? 0 : Math.min(room, capacity.few);
    const price = priceOf(pool);
    const paid = Math.floor(budget / price);
    const isPendingOnly = launchesForJobsOnly(doubts);
    const belowFloor = tasksBelowFloor({ view, poolForecast, capacity, doubts, now });
    const forMin = Math.max(0, Math.min(belowFloor, ownRoom, total, paid));
    total -= forMin;
    budget -= forMin * price;
    const belowPrebuildsMax = mostForPrebuilds(view) - capacity.total - forMin;
    const forPrebuilds = Math.max(0, Math.min(ownRoom - forMin, belowPrebuildsMax));
    pools.push({
      ...{ view, capacity, poolForecast, room, belowFloor, forMin, beyond: ownRoom - forMin },
      ...{ forPrebuilds, isDoubtful: doubts.length > 0, isPendingOnly },
    });
  }
  return { pools, total, budget };
}

type FloorInput = Pick<PoolLaunchLimits, 'view' | 'poolForecast' | 'capacity'> & {
  readonly doubts: readonly Doubt[];
  readonly now: EpochMs;
};

/**
 * The tasks that the floor may launch. While heartbeats look old, this is one an hour if the pool has a floor and no
 * daemon that coderd sees: without one coderd creates no autostart (docs/internals/coder.md §10).
 */
function tasksBelowFloor({ view, poolForecast: { floors }, capacity, doubts, now }: FloorInput): number {
  const missing = Math.max(0, leastTasks(floors) - capacity.total + capacity.late);
  if (launchesForJobsOnly(doubts.filter((doubt) => doubt !== 'heartbeats-old'))) return 0;
  const isOld = doubts.includes('heartbeats-old');
  if (!isOld && !view.tasks.some(({ use }) => use === 'unsure')) return missing;
  const isUnseen = isOld && openersOf(view) === 0 && floors.min + floors.warm > 0;
  return (missing > 0 || isUnseen) && mayLaunchOne(view, now) ? 1 : 0;
}

/** Tasks that exist, and desired ones unless the count gives them up. */
function countedTasks(view: PoolView, capacity: Capacity, doubts: readonly Doubt[]): number {
  const { tasks, missing, unseen } = view;
  return tasks.length + unseen + (mayGiveUp(capacity, doubts) ? 0 : missing);
}
