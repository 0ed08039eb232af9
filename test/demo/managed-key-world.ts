import { POOLS, START } from '../../demo/scenario.ts';
import { World } from '../../simulator/world.ts';

/** The demo's world, in which this pool has a managed key. */
export function worldWithManagedKey(managed: string): World {
  return new World({
    start: START,
    seed: 1,
    pools: POOLS.map((pool) => ({ ...pool, credential: pool.name === managed ? 'managed' : 'key' })),
    latencies: { boot: [8_000, 20_000], stop: [2_000, 6_000], healthyMs: 15_000 },
    readLagMs: 2_000,
    deploymentBlocked: 'new-only',
    blockedTasks: 'old-revision',
  });
}
