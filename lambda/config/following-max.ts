/** The settings of a pool whose defaults follow `max`. */
import type { PoolConfig } from '../decision/model/config.ts';

type FollowingMax = Pick<PoolConfig, 'prewarm' | 'prebuilds'>;

/** The defaults. Prebuilds get four fifths: their backlog fills that, and people need the rest. */
export function followingMax(max: number): FollowingMax {
  return { prewarm: { max }, prebuilds: { maxTasks: Math.max(1, Math.floor((max * 4) / 5)) } };
}
