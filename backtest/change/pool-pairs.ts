/**
 * Matches the pools of two configurations: first by name. Two pools that remain are one renamed
 * pool if they alone have their organization and tags.
 */
import type { DeployedPool } from '../../lambda/config/rules/deployment.ts';
import { tagKey } from '../../lambda/decision/model/tags.ts';

/** A pool without `before` is added, one without `after` is removed. */
export type PoolPair = { readonly before?: DeployedPool; readonly after?: DeployedPool };

type Pools = readonly DeployedPool[];

/** In the order of `after`, then the removed pools. */
export function pairPools(before: Pools, after: Pools): readonly PoolPair[] {
  const byName = new Map(before.map((pool) => [pool.name, pool]));
  const names = new Set(after.map(({ name }) => name));
  const removed = before.filter(({ name }) => !names.has(name));
  const added = after.filter(({ name }) => !byName.has(name));
  const pairs = after.map((pool): Required<PoolPair> | PoolPair => {
    const own = byName.get(pool.name) ?? renamed(pool, removed, added);
    return own === undefined ? { after: pool } : { before: own, after: pool };
  });
  const matched = new Set(pairs.map((pair) => pair.before));
  return [...pairs, ...removed.filter((pool) => !matched.has(pool)).map((pool) => ({ before: pool }))];
}

function renamed(pool: DeployedPool, removed: Pools, added: Pools): DeployedPool | undefined {
  const [own, ...others] = removed.filter((each) => isAlike(each, pool));
  const isOnlyOne = others.length === 0 && added.filter((each) => isAlike(each, pool)).length === 1;
  return isOnlyOne ? own : undefined;
}

const isAlike = (a: DeployedPool, b: DeployedPool): boolean =>
  a.organization === b.organization && tagKey(a.tags) === tagKey(b.tags);

/** The name, or both names of a renamed pool. */
export function namesOf({ before, after }: PoolPair): readonly string[] {
  return [...new Set([before, after].flatMap((pool) => pool?.name ?? []))];
}
