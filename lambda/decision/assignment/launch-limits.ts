/**
 * Bounds: the room that `max`, `maxTasks`, failing starts and failing placement leave for launches. All numbers are tasks. What floors
 * demand is set aside first: those tasks come whether jobs ask for them or not.
 */
import { type Capacity, measure } from '../capacity/capacity.ts';
import { leastTasks } from '../forecast/floors.ts';
import type { Outlook } from '../forecast/pool-forecast.ts';
import { sum } from '../model/collections.ts';
import type { Config } from '../model/config.ts';
import type { Doubt } from '../model/plan.ts';
import { areSure } from '../scale-in/confirm-rung.ts';
import { mayGiveUp } from '../scale-in/counts.ts';
import { priceOf } from '../settings/prices.ts';
import type { PoolView } from '../supply/supply.ts';

export type PoolRoom = {
  readonly view: PoolView;
  readonly capacity: Capacity;
  readonly outlook: Outlook;
  /** Launches that bring the pool up to its floor. */
  readonly forMin: number;
  /** Launches beyond those that the pool's own bounds allow. */
  readonly beyond: number;
  /** Of these: launches that prebuilds may take. The rest is for people. */
  readonly forPrebuilds: number;
  readonly isDoubtful: boolean;
  /** Clocks differ, so that only pending jobs launch tasks: floors might be there already. */
  readonly isPendingOnly: boolean;
};

export type Room = {
  /** In the order of the pools. */
  readonly pools: readonly PoolRoom[];
  /** Launches over all pools, beyond those for floors. */
  readonly total: number;
  /** What these may cost together, in micro-dollars an hour. */
  readonly budget: number;
};

export type RoomInput = {
  readonly config: Config;
  readonly doubtsOf: (view: PoolView) => readonly Doubt[];
};

/** Measures the room; those that are leaving count against `maxTasks` (docs/adr/0005). */
export function measureRoom(outlooks: ReadonlyMap<PoolView, Outlook>, { config, doubtsOf }: RoomInput): Room {
  const { maxTasks, dollarsPerHour = Number.POSITIVE_INFINITY } = config.limits;
  const there = [...outlooks].map(([view, outlook]) => {
    const [capacity, doubts] = [measure(view), doubtsOf(view)];
    return { view, outlook, capacity, doubts, tasks: existing(view, { capacity, doubts }) };
  });
  let total = maxTasks - sum(there, ({ tasks }) => tasks);
  let budget = dollarsPerHour * 1e6 - sum(there, ({ view, tasks }) => tasks * priceOf(view.pool));
  const pools = there.map(({ view, outlook, capacity, doubts }): PoolRoom => {
    const isOpen = view.service !== undefined && !capacity.isHeldBack;
    const own = isOpen ? Math.max(0, view.pool.max - capacity.total) : 0;
    const price = priceOf(view.pool);
    const paid = Math.floor(budget / price);
    const isPendingOnly = doubts.includes('clocks-differ');
    const toFloor = isPendingOnly ? 0 : leastTasks(outlook.floors) - capacity.total;
    const forMin = Math.max(0, Math.min(toFloor, own, total, paid));
    total -= forMin;
    budget -= forMin * price;
    const toMaxTasks = view.pool.prebuilds.maxTasks - capacity.total - forMin;
    const forPrebuilds = Math.max(0, Math.min(own - forMin, toMaxTasks));
    return {
      ...{ view, capacity, outlook, forMin, beyond: own - forMin },
      ...{ forPrebuilds, isDoubtful: doubts.length > 0, isPendingOnly },
    };
  });
  return { pools, total, budget };
}

/** Tasks that are there or stay desired. What does not come takes no room once the count gives it up. */
function existing(view: PoolView, held: Held): number {
  const { tasks, missing, unseen } = view;
  return tasks.length + unseen + (givesUpMissing(view, held) ? 0 : missing);
}

/** Whether the pool's count goes down by what it desires in vain (counts.ts; of pools without guards confirming.ts). */
function givesUpMissing({ pool, tasks }: PoolView, held: Held): boolean {
  return (pool.scaleIn === 'lease' || areSure(tasks)) && mayGiveUp(held);
}

type Held = Parameters<typeof mayGiveUp>[0];
