/**
 * Gates: which pools are kept awake, or woken, so that coderd does what is due. One daemon opens the gate for every tag set that its tags
 * contain, so the pools are chosen that cost least together: those that are awake before others, then the cheapest.
 */

import { isHeldBack } from '../capacity/capacity.ts';
import type { EpochMs, PoolName } from '../model/brands.ts';
import { launchCost } from '../settings/patience.ts';
import { priceOf } from '../settings/prices.ts';
import type { PoolSight } from '../supply/supply.ts';
import type { Floors } from './floors.ts';
import { cheapestCover } from './set-cover.ts';
import type { Transition } from './transitions.ts';
import { type Call, hasWrongKey, leadOf, openersOf } from './wake-demand.ts';

/** A pool that opens a gate, and for what. */
export type Opening = {
  /** For which it has to be there now. */
  readonly due: readonly Transition[];
  /** For which it stays, since it is there: what comes so soon that a start would cost more, and what is not known to be done yet. */
  readonly soon: readonly Transition[];
};

/** Chooses the pools that open the gates for all calls. */
export function chooseOpenings(
  calls: readonly Call[],
  floorsOf: (sight: PoolSight) => Floors,
  now: EpochMs,
): ReadonlyMap<PoolName, Opening> {
  const needs = calls.filter(({ isOpen }) => !isOpen).flatMap((call) => needOf(call, now));
  const chosen = new Set(
    [...Map.groupBy(needs, ({ pools: [first] }) => first?.organization).values()].flatMap((together) => [
      ...cheapestCover(
        together.map(({ pools }) => pools),
        (sight) => costOf(sight, floorsOf(sight)),
      ),
    ]),
  );
  const openings = new Map<PoolName, Opening>();
  for (const { due, soon, pools } of needs) {
    const sight = pools.find((pool) => chosen.has(pool));
    if (sight === undefined) continue;
    const before = openings.get(sight.pool.name);
    openings.set(sight.pool.name, {
      due: [...(before?.due ?? []), ...due],
      soon: [...(before?.soon ?? []), ...soon],
    });
  }
  return openings;
}

type Need = Opening & { readonly pools: readonly PoolSight[] };

/** What is due wakes a pool; for what comes a little later only one that is awake is kept. */
function needOf({ pools, due, ahead, presumed, wakeFor }: Call, now: EpochMs): readonly Need[] {
  const within = (sights: readonly PoolSight[]): readonly Transition[] => {
    const until = now + Math.max(0, ...sights.map((sight) => stayMs(sight, wakeFor)));
    return [...presumed, ...ahead.slice(due.length).filter(({ at }) => at <= until)];
  };
  if (due.length > 0) return [{ pools, due, soon: within(pools) }];
  const awake = pools.filter((sight) => openersOf(sight) > 0 && within([sight]).length > 0);
  return awake.length === 0 ? [] : [{ pools: awake, due, soon: within(awake) }];
}

/** For how long it is cheaper to stay than to stop and to be started again. */
export function stayMs({ pool, startTime }: PoolSight, wakeFor: Call['wakeFor']): number {
  const ms = (launchCost(pool, startTime.p50Ms) / (priceOf(pool) / 1e6)) * 3_600_000;
  return wakeFor === 'autostart' ? ms + leadOf({ pool, startTime }) : ms;
}

/** More than any task costs an hour, in micro-dollars: to launch one is worse than to keep one. */
const LAUNCH = 1e9;
/** A pool whose starts fail, whose tasks ECS cannot place, or whose daemons have another key, is the last resort. */
const FAILING = 1e12;

/** What it costs to have one daemon there that would not be there anyway. */
function costOf(sight: PoolSight, floors: Floors): number {
  const price = priceOf(sight.pool);
  if (hasWrongKey(sight)) return price + FAILING;
  const isBusy = sight.tasks.some(({ state, use }) => state === 'working' && use === 'busy');
  if (isBusy || floors.min + floors.warm > 0) return 0;
  if (openersOf(sight) > 0) return price;
  return price + (isHeldBack(sight) ? FAILING : LAUNCH);
}
