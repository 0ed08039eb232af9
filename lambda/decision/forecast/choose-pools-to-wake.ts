/**
 * Gates: which pools are kept awake, or woken, so that coderd does what is due. One daemon opens the gate for every tag set that its tags
 * contain, so the pools are chosen that cost least together: those that are awake before others, then the cheapest.
 */

import { isHeldBack } from '../capacity/capacity.ts';
import type { EpochMs, PoolName } from '../model/brands.ts';
import { launchCost } from '../settings/patience.ts';
import { priceOf } from '../settings/prices.ts';
import type { PoolView } from '../supply/supply.ts';
import type { Floors } from './floors.ts';
import { cheapestCover } from './set-cover.ts';
import type { Transition } from './transitions.ts';
import { hasWrongKey, leadOf, openersOf, type WakeDemand } from './wake-demand.ts';

/** A pool that opens a gate, and for what. */
export type WakeAssignment = {
  /** For which it has to be there now. */
  readonly due: readonly Transition[];
  /** For which it stays, since it is there: what comes so soon that a start would cost more, and what is not known to be done yet. */
  readonly soon: readonly Transition[];
};

/** Chooses the pools that open the gates for all calls. */
export function chooseOpenings(
  calls: readonly WakeDemand[],
  floorsOf: (view: PoolView) => Floors,
  now: EpochMs,
): ReadonlyMap<PoolName, WakeAssignment> {
  const needs = calls.filter(({ isOpen }) => !isOpen).flatMap((call) => needOf(call, now));
  const chosen = new Set(
    [...Map.groupBy(needs, ({ pools: [first] }) => first?.organization).values()].flatMap((together) => [
      ...cheapestCover(
        together.map(({ pools }) => pools),
        (view) => costOf(view, floorsOf(view)),
      ),
    ]),
  );
  const openings = new Map<PoolName, WakeAssignment>();
  for (const { due, soon, pools } of needs) {
    const view = pools.find((pool) => chosen.has(pool));
    if (view === undefined) continue;
    const before = openings.get(view.pool.name);
    openings.set(view.pool.name, {
      due: [...(before?.due ?? []), ...due],
      soon: [...(before?.soon ?? []), ...soon],
    });
  }
  return openings;
}

type Need = WakeAssignment & { readonly pools: readonly PoolView[] };

/** What is due wakes a pool; for what comes a little later only one that is awake is kept. */
function needOf({ pools, due, ahead, presumed, wakeFor }: WakeDemand, now: EpochMs): readonly Need[] {
  const within = (views: readonly PoolView[]): readonly Transition[] => {
    const until = now + Math.max(0, ...views.map((view) => stayMs(view, wakeFor)));
    return [...presumed, ...ahead.slice(due.length).filter(({ at }) => at <= until)];
  };
  if (due.length > 0) return [{ pools, due, soon: within(pools) }];
  const awake = pools.filter((view) => openersOf(view) > 0 && within([view]).length > 0);
  return awake.length === 0 ? [] : [{ pools: awake, due, soon: within(awake) }];
}

/** For how long it is cheaper to stay than to stop and to be started again. */
export function stayMs({ pool, startTime }: PoolView, wakeFor: WakeDemand['wakeFor']): number {
  const ms = (launchCost(pool, startTime.p50Ms) / (priceOf(pool) / 1e6)) * 3_600_000;
  return wakeFor === 'autostart' ? ms + leadOf({ pool, startTime }) : ms;
}

/** More than any task costs an hour, in micro-dollars: to launch one is worse than to keep one. */
const LAUNCH = 1e9;
/** A pool whose starts fail, whose tasks ECS cannot place, or whose daemons have another key, is the last resort. */
const FAILING = 1e12;

/** What it costs to have one daemon there that would not be there anyway. */
function costOf(view: PoolView, floors: Floors): number {
  const price = priceOf(view.pool);
  if (hasWrongKey(view)) return price + FAILING;
  const isBusy = view.tasks.some(({ state, use }) => state === 'working' && use === 'busy');
  if (isBusy || floors.min + floors.warm > 0) return 0;
  if (openersOf(view) > 0) return price;
  return price + (isHeldBack(view) ? FAILING : LAUNCH);
}
