/**
 * The settings in force of a pool: its configured settings, changed by overrides and by `retiring`.
 * All rules read these, so no rule has to handle overrides itself (docs/adr/0016).
 */
import type { PoolConfig } from '../model/config.ts';
import type { Floor, Override } from '../model/plan.ts';
import type { OrganizationReadings } from '../model/snapshot.ts';

/** A pool whose `min` has been resolved to a number. */
type PoolInForce = PoolConfig & { readonly min: number };

export type InForce = {
  /** The pool with the settings that hold now. */
  readonly pool: PoolInForce;
  /** The source of `min`. */
  readonly minFrom: Extract<Floor['from'], 'min' | 'pin' | 'override'>;
};

/**
 * Resolves `min`. With `auto` it is 0 if the forecast can wake the pool for coderd's own
 * transitions. Otherwise it is 1, because coderd starts and stops no workspace without a daemon
 * (docs/internals/coder.md §10).
 */
export function leastOf({ min, wake }: PoolConfig, organization: OrganizationReadings | undefined): number {
  if (min !== 'auto') return min;
  const isForeseen = wake && organization?.workspaces?.status !== 'forbidden';
  return isForeseen ? 0 : 1;
}

/** Derives the settings in force. Retiring beats pause, pause beats pin, and pin beats floor. */
export function settingsInForce(
  configured: PoolConfig,
  overrides: readonly Override[],
  organization: OrganizationReadings | undefined,
): InForce {
  const pool = { ...configured, min: leastOf(configured, organization) };
  const countOf = (kind: Override['kind']): number | undefined =>
    overrides.find((override) => override.kind === kind)?.count;
  if (pool.retiring || isPaused(overrides)) return { pool: withFixedCount(pool, 0), minFrom: 'min' };
  const pin = countOf('pin');
  if (pin !== undefined) return { pool: withFixedCount(pool, pin), minFrom: 'pin' };
  const floor = countOf('floor') ?? 0;
  return floor > pool.min ? { pool: { ...pool, min: floor }, minFrom: 'override' } : { pool, minFrom: 'min' };
}

/** Whether a person has paused the whole pool. */
export function isPaused(overrides: readonly Override[]): boolean {
  return overrides.some(({ kind }) => kind === 'pause');
}

/** The override that keeps a pool from being woken, if there is one. A pause comes before a pin. */
export function wakeOverride(overrides: readonly Override[]): Override | undefined {
  return overrides.find(({ kind }) => kind === 'pause') ?? overrides.find(({ kind }) => kind === 'pin');
}

/** The settings that add no task: a pool keeps them while its count is fixed. */
type Kept =
  | ('name' | 'organization' | 'tags' | 'auth' | 'retiring' | 'idleTimeoutMs' | 'startTimeMs')
  | ('waiting' | 'dollarsPerLaunch' | 'peers' | 'capacity' | 'instances')
  | ('image' | 'cpu' | 'memory' | 'architecture' | 'spot' | 'bindTaskRole' | 'environment' | 'secrets');

/** All other settings, optional ones too, with values that add no task. */
export const NO_TASKS: { readonly [Setting in Exclude<keyof PoolConfig, Kept>]-?: PoolConfig[Setting] } = {
  min: 0,
  max: 0,
  warm: 0,
  schedules: [],
  wake: false,
};

function withFixedCount(pool: PoolConfig, min: number): PoolInForce {
  return { ...pool, ...NO_TASKS, min, max: Math.min(pool.max, min) };
}
