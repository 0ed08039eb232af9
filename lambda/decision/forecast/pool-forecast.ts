/** The outlook of each pool: the floors that the configuration and the forecast set, and why. */

import { measure } from '../capacity/capacity.ts';
import type { EpochMs, PoolName } from '../model/brands.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { PoolView } from '../supply/supply.ts';
import { chooseOpenings, type WakeAssignment } from './choose-pools-to-wake.ts';
import { type AllFloors, configuredFloors, type Floors } from './floors.ts';
import { isForecastUnsure } from './forecast.ts';
import type { Transition } from './transitions.ts';
import { deriveWakeDemands, openersOf, type WakeDemands } from './wake-demand.ts';

export type Outlook = {
  readonly floors: AllFloors;
  /** For what it opens coderd's gate. */
  readonly opening: WakeAssignment | undefined;
  /** What is due, waits for people, and would not if it could be woken. */
  readonly heldBack: readonly Transition[];
  /** Whether it keeps its last daemon since more may be due than is known. */
  readonly isUnsure: boolean;
};

export type Outlooks = {
  readonly lookout: WakeDemands;
  readonly openings: ReadonlyMap<PoolName, WakeAssignment>;
  readonly outlooks: ReadonlyMap<PoolView, Outlook>;
};

/** Reads the outlook of all pools. */
export function deriveOutlook(snapshot: Snapshot, views: readonly PoolView[]): Outlooks {
  const now = snapshot.takenAt;
  const lookout = deriveWakeDemands(snapshot, views);
  const floorsOf = memoized((view: PoolView): Floors => configuredFloors(view, now));
  const openings = chooseOpenings(lookout.calls, floorsOf, now);
  const outlooks = new Map(
    views.map((view) => {
      const opening = openings.get(view.pool.name);
      const isUnsure = keepsLast(view, now);
      const wake = opening !== undefined || isUnsure ? withOpener(view) : 0;
      const floors = { ...floorsOf(view), wake };
      const heldBack = heldBackFrom(view, lookout);
      return [view, { floors, opening, heldBack, isUnsure }];
    }),
  );
  return { lookout, openings, outlooks };
}

/**
 * So many tasks that one of them is a daemon that opens the gate. Others may be of no use: an opener is kept beside all of them, but only one of them is
 * made up for by a launch, or a pool with a wrong key would grow without end.
 */
function withOpener(view: PoolView): number {
  const { total } = measure(view);
  const openers = openersOf(view);
  return openers > 0 ? total - openers + 1 : Math.min(total, 1) + 1;
}

function heldBackFrom(view: PoolView, { heldBack }: WakeDemands): readonly Transition[] {
  return heldBack.flatMap(({ isWaiting, pools, due }) => (isWaiting && pools.includes(view) ? due : []));
}

/** What is not known launches nobody, and sends nobody away. */
function keepsLast(view: PoolView, now: EpochMs): boolean {
  const { pool, organization } = view;
  const isWoken = pool.wake.autostart || pool.wake.autostop;
  if (!isWoken || organization === undefined || openersOf(view) === 0) return false;
  return isForecastUnsure(organization, now);
}
