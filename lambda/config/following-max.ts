/** The settings of a pool whose defaults follow `max`. */
import { isDeepStrictEqual } from 'node:util';
import type { PoolConfig } from '../decision/model/config.ts';

type FollowingMax = Pick<PoolConfig, 'prewarm' | 'prebuilds'>;

/** The defaults. Prebuilds get four fifths: their backlog fills that, and people need the rest. */
export function followingMax(max: number): FollowingMax {
  return { prewarm: { max }, prebuilds: { maxTasks: Math.max(1, Math.floor((max * 4) / 5)) } };
}

/** The pool with another `max`. Settings with the default for the present `max` follow the new one. */
export function withMax<P extends PoolConfig>(pool: P, max: number): P {
  const [before, after] = [followingMax(pool.max), followingMax(max)];
  const { prewarm, prebuilds } = pool;
  return {
    ...pool,
    max,
    prewarm: isDeepStrictEqual(prewarm, before.prewarm) ? after.prewarm : prewarm,
    prebuilds: isDeepStrictEqual(prebuilds, before.prebuilds) ? after.prebuilds : prebuilds,
  };
}
