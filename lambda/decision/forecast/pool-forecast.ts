/** The outlook of each pool: the floors that the configuration and the forecast set, and why. */

import { measure } from '../capacity/capacity.ts';
import type { EpochMs, PoolName } from '../model/brands.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { PoolSight } from '../supply/supply.ts';
import { chooseOpenings, type Opening } from './choose-pools-to-wake.ts';
import { type AllFloors, configuredFloors, type Floors } from './floors.ts';
import { isForecastUnsure } from './forecast.ts';
import type { Transition } from './transitions.ts';
import { type Lookout, openersOf, readLookout } from './wake-demand.ts';

export type Outlook = {
  readonly floors: AllFloors;
  /** For what it opens coderd's gate. */
  readonly opening: Opening | undefined;
  /** What is due, waits for people, and would not if it could be woken. */
  readonly heldBack: readonly Transition[];
  /** Whether it keeps its last daemon since more may be due than is known. */
  readonly isUnsure: boolean;
};

export type Outlooks = {
  readonly lookout: Lookout;
  readonly openings: ReadonlyMap<PoolName, Opening>;
  readonly outlooks: ReadonlyMap<PoolSight, Outlook>;
};

/** Reads the outlook of all pools. */
export function readOutlook(snapshot: Snapshot, sights: readonly PoolSight[]): Outlooks {
  const now = snapshot.takenAt;
  const lookout = readLookout(snapshot, sights);
  const floorsOf = memoized((sight: PoolSight): Floors => configuredFloors(sight, now));
  const openings = chooseOpenings(lookout.calls, floorsOf, now);
  const outlooks = new Map(
    sights.map((sight) => {
      const opening = openings.get(sight.pool.name);
      const isUnsure = keepsLast(sight, now);
      const wake = opening !== undefined || isUnsure ? withOpener(sight) : 0;
      const floors = { ...floorsOf(sight), wake };
      const heldBack = heldBackFrom(sight, lookout);
      return [sight, { floors, opening, heldBack, isUnsure }];
    }),
  );
  return { lookout, openings, outlooks };
}

/**
 * So many tasks that one of them is a daemon that opens the gate. Others may be of no use: an opener is kept beside all of them, but only one of them is
 * made up for by a launch, or a pool with a wrong key would grow without end.
 */
function withOpener(sight: PoolSight): number {
  const { total } = measure(sight);
  const openers = openersOf(sight);
  return openers > 0 ? total - openers + 1 : Math.min(total, 1) + 1;
}

function heldBackFrom(sight: PoolSight, { heldBack }: Lookout): readonly Transition[] {
  return heldBack.flatMap(({ isWaiting, pools, due }) => (isWaiting && pools.includes(sight) ? due : []));
}

/** What is not known launches nobody, and sends nobody away. */
function keepsLast(sight: PoolSight, now: EpochMs): boolean {
  const { pool, organization } = sight;
  const isWoken = pool.wake.autostart || pool.wake.autostop;
  if (!isWoken || organization === undefined || openersOf(sight) === 0) return false;
  return isForecastUnsure(organization, now);
}
