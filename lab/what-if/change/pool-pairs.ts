/** Pools match by name, then by organization and tags (renamed). Only retiring pools share these. */
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import { tagKey } from '../../../lambda/decision/model/tags.ts';

/** A pool without `before` is added, one without `after` is removed. */
export type PoolPair = { readonly before?: DeployedPool; readonly after?: DeployedPool };

type Pools = readonly DeployedPool[];

/** In the order of `after`, then the removed pools. */
export function pairPools(before: Pools, after: Pools): readonly PoolPair[] {
  const byName = new Map(before.map((pool) => [pool.name, pool]));
  const names = new Set(after.map(({ name }) => name));
  const removed = before.filter(({ name }) => !names.has(name));
  const pairs = after.map((pool): Required<PoolPair> | PoolPair => {
    const own = byName.get(pool.name) ?? removed.find((each) => isRenamed(each, pool));
    return own === undefined ? { after: pool } : { before: own, after: pool };
  });
  const matched = new Set(pairs.map((pair) => pair.before));
  return [...pairs, ...removed.filter((pool) => !matched.has(pool)).map((pool) => ({ before: pool }))];
}

function isRenamed(before: DeployedPool, after: DeployedPool): boolean {
  if (before.retiring || after.retiring) return false;
  return before.organization === after.organization && tagKey(before.tags) === tagKey(after.tags);
}

export function namesOf({ before, after }: PoolPair): readonly string[] {
  return [...new Set([before, after].flatMap((pool) => pool?.name ?? []))];
}
