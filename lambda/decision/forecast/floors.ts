/** The floors of a pool: how many tasks it keeps without jobs. */
import type { EpochMs } from '../model/brands.ts';
import type { Floor } from '../model/plan.ts';
import { scheduledFloors } from '../settings/schedules.ts';
import type { InForce } from '../settings/settings-in-force.ts';
import type { PoolView } from '../supply/supply.ts';

export type Floors = {
  /** Tasks. */
  readonly min: number;
  readonly minFrom: InForce['minFrom'] | 'schedule';
  /** Free daemons on top of the busy ones. */
  readonly warm: number;
  readonly warmFrom: 'warm' | 'schedule';
};

/** The floors of the configuration, and the tasks that the forecast keeps. */
export type AllFloors = Floors & { readonly wake: number };

/** If a schedule gives the same number, the plain setting is named as the source. */
export function configuredFloors(
  { pool, minFrom, share }: InForce & Partial<Pick<PoolView, 'share'>>,
  now: EpochMs,
): Floors {
  const scheduled = scheduledFloors(pool.schedules, now);
  const exact = pool.warm === 'auto' ? 0 : pool.warm;
  const { working, idle } = share?.cheaper ?? { working: 0, idle: 0 };
  return {
    min: Math.max(0, Math.max(pool.min, scheduled.min) - working),
    minFrom: scheduled.min > pool.min ? 'schedule' : minFrom,
    warm: Math.max(0, Math.max(exact, scheduled.warm) - idle),
    warmFrom: scheduled.warm > exact ? 'schedule' : 'warm',
  };
}

/** The number of tasks that stay, busy or idle. */
export function leastTasks({ min, wake }: AllFloors): number {
  return Math.max(min, wake);
}

/** At equal floors `min` is the source. `inUse`: tasks that hold a job, or will. */
export function configuredFloor({ min, minFrom, warm, warmFrom }: Floors, inUse: number) {
  const count = warm === 0 ? 0 : inUse + warm;
  return count > min ? ({ count, from: warmFrom } as const) : ({ count: min, from: minFrom } as const);
}

/**
 * The highest floor of a pool. If several are equal, the configuration is named as the source.
 * `due` counts daemons for jobs that coderd is about to insert, `stock` those for unforeseen
 * builds.
 */
export function floorOf(
  floors: AllFloors,
  { inUse, due, stock }: { readonly inUse: number; readonly due: number; readonly stock: number },
): Floor {
  const configured = configuredFloor(floors, inUse);
  const ready = due === 0 ? 0 : inUse + floors.warm + due;
  const woken = Math.max(floors.wake, ready);
  const stocked = stock === 0 ? 0 : inUse + due + stock;
  if (stocked > Math.max(woken, configured.count)) return { count: stocked, from: 'stock' };
  return woken > configured.count ? { count: woken, from: 'wake' } : configured;
}
