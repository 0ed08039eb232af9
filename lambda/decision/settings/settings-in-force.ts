/**
 * The settings of a pool that are in force: those of the configuration, changed by overrides and by `retiring`. All rules work on them, so
 * that none has to know of either (docs/adr/0016, 0017).
 */
import type { PoolConfig } from '../model/config.ts';
import type { Floor, Override } from '../model/plan.ts';
import type { OrganizationReadings } from '../model/snapshot.ts';

/** A pool whose `min` is a number. */
export type PoolInForce = PoolConfig & { readonly min: number };

export type InForce = {
  /** Not as configured, but as it holds now. */
  readonly pool: PoolInForce;
  /** What set `min`. */
  readonly minFrom: Extract<Floor['from'], 'min' | 'pin' | 'override' | 'when-blind'>;
};

/**
 * The least tasks of a pool that does not say. None, where coderd's own transitions are foreseen and wake it; one where they are not, since
 * without a daemon coderd starts and stops no workspace (docs/coder.md §10).
 */
export function leastOf({ min, wake }: PoolConfig, organization: OrganizationReadings | undefined): number {
  if (min !== 'auto') return min;
  const isForeseen = wake.autostart && wake.autostop && organization?.workspaces?.status !== 'forbidden';
  return isForeseen ? 0 : 1;
}

/** Pause beats pin, and pin beats floor; nobody brings back what is retiring. */
export function settingsInForce(
  configured: PoolConfig,
  overrides: readonly Override[],
  organization: OrganizationReadings | undefined,
): InForce {
  const pool = { ...configured, min: leastOf(configured, organization) };
  const countOf = (kind: Override['kind']): number | undefined =>
    overrides.find((override) => override.kind === kind)?.count;
  if (pool.retiring) return { pool: { ...only(pool, 0), max: 0, idleTimeoutMs: 0 }, minFrom: 'min' };
  if (isPaused(overrides)) return { pool: { ...only(pool, 0), max: 0 }, minFrom: 'min' };
  const pin = countOf('pin');
  if (pin !== undefined)
    return { pool: { ...only(pool, pin), max: Math.min(pool.max, pin) }, minFrom: 'pin' };
  const floor = countOf('floor') ?? 0;
  return floor > pool.min ? { pool: { ...pool, min: floor }, minFrom: 'override' } : { pool, minFrom: 'min' };
}

/** Whether nothing is to be done about the pool at all. */
export function isPaused(overrides: readonly Override[]): boolean {
  return overrides.some(({ kind }) => kind === 'pause');
}

/** What keeps a pool from being woken, if a person does; both come before floors, and a pause before a pin. */
export function wakeOverride(overrides: readonly Override[]): Override | undefined {
  return overrides.find(({ kind }) => kind === 'pause') ?? overrides.find(({ kind }) => kind === 'pin');
}

/** So many tasks, used or not; nothing that is to come brings more. */
function only(pool: PoolConfig, min: number): PoolInForce {
  return {
    ...pool,
    min,
    warm: 0,
    schedules: [],
    wake: { ...pool.wake, autostart: false, autostop: false },
    prewarm: { max: 0 },
    whenBlind: { floor: 0 },
  };
}
