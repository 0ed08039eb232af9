/**
 * How a pool counts against the limits over all pools while its service cannot be read: its tasks exist all
 * the same. They are those that ECS lists, or as many as the last look that could read them saw. If neither
 * is known, the pool counts with its `max`.
 */
import type { EpochMs, PoolName } from '../../model/brands.ts';
import type { PoolMemory } from '../../model/snapshot.ts';
import { MINUTE_MS } from '../../model/units.ts';
import type { PoolView } from '../supply.ts';

/** After so long, one task at a time launches beside a pool of which nothing is known. */
const UNKNOWN_MS = 10 * MINUTE_MS;

export type UnreadPool = {
  readonly pool: PoolName;
  readonly tasks: number;
  /** `tasks`: ECS lists them. `memory`: the last look that could read them saw as many. `max`: nothing is known. */
  readonly from: 'tasks' | 'memory' | 'max';
  /** Whether nothing has been known for so long that jobs of other pools no longer wait for it. */
  readonly isLong: boolean;
};

/** Undefined: the pool has one service, or surely none. */
export function countUnread(
  { pool, unmanaged, isServiceUnread }: PoolView,
  { known, unreadSince }: PoolMemory,
  now: EpochMs,
): UnreadPool | undefined {
  if (!isServiceUnread) return undefined;
  const remembered = known?.tasks ?? 0;
  const isKnown = unmanaged > 0 || known !== undefined;
  const from = !isKnown ? 'max' : unmanaged >= remembered ? 'tasks' : 'memory';
  const isLong = !isKnown && now - (unreadSince ?? now) >= UNKNOWN_MS;
  return { pool: pool.name, tasks: isKnown ? Math.max(unmanaged, remembered) : pool.max, from, isLong };
}
