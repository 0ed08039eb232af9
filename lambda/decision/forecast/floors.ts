/** Floors: how many tasks a pool keeps although no job asks for them. */
import type { EpochMs } from '../model/brands.ts';
import type { Floor } from '../model/plan.ts';
import { scheduledFloors } from '../settings/schedules.ts';
import type { InForce } from '../settings/settings-in-force.ts';

export type Floors = {
  /** Tasks. */
  readonly min: number;
  readonly minFrom: InForce['minFrom'] | 'schedule';
  /** Daemons kept free, on top of the busy ones. */
  readonly warm: number;
  readonly warmFrom: 'warm' | 'schedule';
};

/** Floors of the configuration, and the tasks that the forecast keeps. */
export type AllFloors = Floors & { readonly wake: number };

/** What the configuration keeps now; between equals the plain setting is named. */
export function configuredFloors({ pool, minFrom }: InForce, now: EpochMs): Floors {
  const scheduled = scheduledFloors(pool.schedules, now);
  const exact = pool.warm === 'auto' ? 0 : pool.warm;
  return {
    min: Math.max(pool.min, scheduled.min),
    minFrom: scheduled.min > pool.min ? 'schedule' : minFrom,
    warm: Math.max(exact, scheduled.warm),
    warmFrom: scheduled.warm > exact ? 'schedule' : 'warm',
  };
}

/** The tasks that are kept whoever uses them. */
export function leastTasks({ min, wake }: AllFloors): number {
  return Math.max(min, wake);
}

/**
 * The highest floor of the configuration; between equals `min` is named.
 * @param inUse tasks that hold a job, or will once the assigned jobs are served
 */
export function configuredFloor({ min, minFrom, warm, warmFrom }: Floors, inUse: number) {
  const count = warm === 0 ? 0 : inUse + warm;
  return count > min ? ({ count, from: warmFrom } as const) : ({ count: min, from: minFrom } as const);
}

/**
 * The highest floor of a pool; between equals the configuration's is named.
 * `due`: daemons that are to be ready for jobs that coderd is about to insert. `stock`: for builds that nobody can foresee.
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
