import { demoWorld, POOLS } from '../../demo/scenario.ts';
import type { World } from '../../simulator/world.ts';

/** The demo's world, in which this pool has a managed key. */
export function worldWithManagedKey(managed: string): World {
  return demoWorld({
    seed: 1,
    pools: POOLS.map((pool) => ({ ...pool, credential: pool.name === managed ? 'managed' : 'key' })),
  });
}
