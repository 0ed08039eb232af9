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
import type { PoolMemory } from '../model/snapshot.ts';
import { HOUR_MS } from '../model/units.ts';
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
import { isLongUnseen, mayLaunchOne } from '../supply/heartbeats.ts';
import { countUnread, type UnreadPool } from '../supply/hidden/unread-services.ts';
import { rememberPool, roomWhileUnread } from '../supply/hidden/unread-starts.ts';
import type { PoolView } from '../supply/supply.ts';
import { probesIn } from './probes.ts';

export type PoolLaunchLimits = {
  readonly view: PoolView;
  readonly capacity: Capacity;
  readonly poolForecast: PoolForecast;
  /** Launches that the count grants. */
  readonly room: number;
  /** Launches until a look can judge the starts of the pool. Infinite: this one can. */
  readonly unreadRoom: number;
  /** What the next look of this process knows of the pool. */
  readonly memory: PoolMemory;
  /** Tasks that the pool's floor may launch before all limits. */
  readonly belowFloor: number;
  /** Launches that fill the pool up to its floor, or the one that shows a contradiction to be over (probes.ts). */
  readonly forMin: number;
  /** Whether `forMin` is that one, and no floor needs it. */
  readonly isProbe: boolean;
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
  /** The pools whose services could not be read. They count all the same. */
  readonly unread: readonly UnreadPool[];
};

export type RoomInput = {
  readonly config: Config;
  readonly doubtsOf: (view: PoolView) => readonly Doubt[];
  /** AWS's time. */
  readonly now: EpochMs;
  /** The pools as the last look of this process left them. @default nothing is known */
  readonly remembered?: readonly PoolMemory[] | undefined;
  /** Since when looks see mismatches, and coderd's time. */
  readonly seen: Pick<Parameters<typeof probesIn>[1], 'mismatches' | 'takenAt'>;
};

/** Computes the room of all pools. Tasks that drain count against `maxTasks` (docs/adr/0005). */
export function computeLaunchLimits(
  { poolForecasts, wakeDemands: { demands } }: Pick<PoolForecasts, 'poolForecasts' | 'wakeDemands'>,
  { config, doubtsOf, now, seen, remembered = [] }: RoomInput,
): LaunchLimits {
  const { maxTasks, dollarsPerHour = Number.POSITIVE_INFINITY } = config.limits;
  const counted = [...poolForecasts].map(([view, poolForecast]) => {
    const capacity = measure(view);
    const doubts = doubtsOf(view);
    const own = countedTasks(view, capacity, doubts);
    const before = remembered.find(({ pool }) => pool === view.pool.name);
    const memory = rememberPool(view, own, before, now);
    const unread = countUnread(view, memory, now);
    return { view, poolForecast, capacity, doubts, tasks: unread?.tasks ?? own, memory, unread };
  });
  const unread = counted.flatMap((each) => each.unread ?? []);
  const restOf = (pools: typeof counted) => ({
    total: maxTasks - sum(pools, ({ tasks }) => tasks),
    budget: dollarsPerHour * 1e6 - sum(pools, ({ view, tasks }) => tasks * priceOf(view.pool)),
  });
  const rest = restOf(counted);
  // beside a pool of which nothing is known for long, one task at a time launches for people's jobs
  const known = restOf(counted.filter((each) => each.unread?.isLong !== true));
  const probes = probesIn([...poolForecasts.keys()], { doubtsOf, now, ...seen });
  const awaited = new Set(
    demands.flatMap(({ pools: woken, ahead }) => (ahead.some(({ at }) => at - now < HOUR_MS) ? woken : [])),
  );
  const isStarting = counted.some(({ capacity }) => capacity.starting > 0);
  const isOneAtATime = unread.some(({ isLong }) => isLong) && rest.total <= 0 && known.total > 0;
  let { total, budget } = isOneAtATime ? { ...known, total: isStarting ? 0 : 1 } : rest;
  const pools: PoolLaunchLimits[] = [];
  for (const { view, poolForecast, capacity, doubts, memory } of counted) {
    const { service, pool } = view;
    const unreadRoom = roomWhileUnread(view, capacity, memory, now);
    const most = service === undefined ? 0 : roomToLaunch({ service, capacity, max: pool.max, doubts });
    const room = Math.min(most, unreadRoom);
    const ownRoom = capacity.isHeldBack || launchesElsewhere(view) ? 0 : Math.min(room, capacity.few);
    const price = priceOf(pool);
    const paid = Math.floor(budget / price);
    const isPendingOnly = launchesForJobsOnly(doubts) || isOneAtATime;
    const isAwaited = awaited.has(view);
    const forFloor = tasksBelowFloor({ view, poolForecast, capacity, doubts, isAwaited, now });
    const isProbing = forFloor <= 0 && probes.has(view);
    const belowFloor = isOneAtATime ? 0 : isProbing ? 1 : forFloor;
    const forMin = Math.max(0, Math.min(belowFloor, ownRoom, total, paid));
    total -= forMin;
    budget -= forMin * price;
    const belowPrebuildsMax = isOneAtATime ? 0 : mostForPrebuilds(view) - capacity.total - forMin;
    const forPrebuilds = Math.max(0, Math.min(ownRoom - forMin, belowPrebuildsMax));
    pools.push({
      ...{
        view,
        capacity,
        poolForecast,
        room,
        unreadRoom,
        memory,
        belowFloor,
        forMin,
        isProbe: isProbing && forMin > 0,
        beyond: ownRoom - forMin,
      },
      ...{ forPrebuilds, isDoubtful: doubts.length > 0, isPendingOnly },
    });
  }
  return { pools, total, budget, unread };
}

type FloorInput = Pick<PoolLaunchLimits, 'view' | 'poolForecast' | 'capacity'> & {
  readonly doubts: readonly Doubt[];
  /** Whether transitions that can wake the pool are due within the hour. */
  readonly isAwaited: boolean;
  readonly now: EpochMs;
};

/**
 * The tasks that the floor may launch. While heartbeats look old, this is one an hour. It is for transitions, since
 * coderd makes none while it sees no daemon (docs/internals/coder.md §10), else for a floor without a daemon.
 */
function tasksBelowFloor({
  view,
  poolForecast: { floors },
  capacity,
  doubts,
  isAwaited,
  now,
}: FloorInput): number {
  const below = (tasks: number): number => Math.max(0, tasks - capacity.total + capacity.late);
  if (launchesForJobsOnly(doubts.filter((doubt) => doubt !== 'heartbeats-old'))) return 0;
  const isUnseen = openersOf(view) === 0;
  if (doubts.includes('heartbeats-old')) {
    const isTried = !isAwaited && floors.min + floors.warm > 0 && isLongUnseen(view, now);
    const isWanted = below(floors.min) > 0 || (isUnseen && (floors.wake > 0 || isTried));
    return isWanted && mayLaunchOne(view, now) ? 1 : 0;
  }
  // a heartbeat is late: its daemon opens no gate for a moment
  const isHeld = isUnseen && view.tasks.some(({ use }) => use === 'unsure') && !mayLaunchOne(view, now);
  return below(isHeld ? floors.min : leastTasks(floors));
}

/** Tasks that exist, and desired ones unless the count gives them up. */
function countedTasks(view: PoolView, capacity: Capacity, doubts: readonly Doubt[]): number {
  const { tasks, missing, unseen, service, unmanaged } = view;
  if (service === undefined) return unmanaged;
  return tasks.length + unseen + (mayGiveUp(capacity, doubts) ? 0 : missing);
}
