/**
 * The parts of a pool: a pool with `capacity: [spot, on-demand]` has two ECS services, and each is
 * a pool of its own for the decision. They share the name that people know, its key and its limits
 * (docs/adr/0047).
 */
import { spotPartOf } from '../model/brands.ts';
import type { PoolConfig } from '../model/config.ts';

/** The pools of the decision for a pool of the configuration: itself, or its parts. */
export function partsOf<P extends PoolConfig>(pool: P): readonly [P, ...P[]] {
  const { capacity, name, retiring } = pool;
  if (capacity === undefined) return [pool];
  const part = { ...pool, capacity: undefined };
  const spotRetires = retiring || !capacity.includes('spot');
  return [
    // its service stays the same when the pool gets or loses a part on Spot
    { ...part, spot: false },
    { ...part, name: spotPartOf(name), spot: true, retiring: spotRetires },
  ];
}
