/** The pool forecast: the floors of each pool, and what the forecast needs of it. */
import type { Transition } from '../demand/transitions.ts';
import type { EpochMs, PoolName } from '../model/brands.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { measure } from '../supply/capacity.ts';
import type { PoolView } from '../supply/supply.ts';
import type { SharedPool } from '../turns/share.ts';
import { assignWakes, type WakeAssignment } from './choose-pools-to-wake.ts';
import { type AllFloors, configuredFloors, type Floors } from './floors.ts';
import { isForecastUnsure } from './forecast.ts';
import { deriveWakeDemands, type Others, openersOf, type WakeDemands } from './wake-demand.ts';

export type PoolForecast = {
  readonly floors: AllFloors;
  /** The transitions for which the pool opens coderd's gate. */
  readonly wakeAssignment: WakeAssignment | undefined;
  /** Transitions that are due and wait only because a person paused or pinned the pool. */
  readonly heldBack: readonly Transition[];
  /** Whether the pool keeps its last daemon because the forecast is incomplete. */
  readonly isUnsure: boolean;
};

export type PoolForecasts = {
  readonly wakeDemands: WakeDemands;
  readonly wakeAssignments: ReadonlyMap<PoolName, WakeAssignment>;
  readonly poolForecasts: ReadonlyMap<PoolView, PoolForecast>;
};

/** Derives the pool forecast of all pools. */
export function derivePoolForecasts(
  snapshot: Snapshot,
  views: readonly SharedPool[],
  others: Omit<Others, 'floorsOf'>,
): PoolForecasts {
  const now = snapshot.takenAt;
  const floorsOf = memoized((view: PoolView): Floors => configuredFloors(view, now));
  const wakeDemands = deriveWakeDemands(snapshot, views, { ...others, floorsOf });
  const wakeAssignments = assignWakes(wakeDemands.demands, floorsOf, now);
  const poolForecasts = new Map(
    views.map((view) => {
      const wakeAssignment = wakeAssignments.get(view.pool.name);
      const isUnsure = keepsLast(view, now);
      const wake = wakeAssignment !== undefined || isUnsure ? withWakingDaemon(view) : 0;
      const floors = { ...floorsOf(view), wake };
      const heldBack = heldBackFrom(view, wakeDemands);
      return [view, { floors, wakeAssignment, heldBack, isUnsure }];
    }),
  );
  return { wakeDemands, wakeAssignments, poolForecasts };
}

/**
 * The number of tasks that keeps one daemon that opens the gate. Other tasks may be useless. An
 * opener is kept beside all of them, but a launch replaces only one of them: otherwise a pool with
 * a wrong key would grow without limit.
 */
function withWakingDaemon(view: PoolView): number {
  const { total } = measure(view);
  const openers = openersOf(view);
  return openers > 0 ? total - openers + 1 : Math.min(total, 1) + 1;
}

function heldBackFrom(view: PoolView, { heldBack }: WakeDemands): readonly Transition[] {
  return heldBack.flatMap(({ isWaiting, pools, due }) => (isWaiting && pools.includes(view) ? due : []));
}

/** Whether an incomplete forecast keeps the last daemon. It neither launches nor drains. */
function keepsLast(view: PoolView, now: EpochMs): boolean {
  const { pool, organization } = view;
  if (!pool.wake || organization === undefined || openersOf(view) === 0) return false;
  return isForecastUnsure(organization, now);
}
