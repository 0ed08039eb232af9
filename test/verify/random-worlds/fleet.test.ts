import { describe, expect, it } from 'vitest';
import { World } from '../../../simulator/world.ts';
import { Fleet, type FleetPool } from '../../../verify/random-worlds/world/fleet.ts';
import { drawPlan } from '../../../verify/random-worlds/world/plan.ts';

function aFleet() {
  const pool = { min: 0, max: 5, warm: 0, idleTimeoutS: 60, image: 'guarded', retiring: false } as const;
  const pools: readonly FleetPool[] = [
    { ...pool, name: 'gpu', organization: 'default', tags: { cluster: 'gpu' } },
    { ...pool, name: 'gpu-eu', organization: 'default', tags: { cluster: 'gpu', region: 'eu' } },
  ];
  const world = new World({ ...drawPlan(1).world, pools });
  const fleet = new Fleet(world, pools);
  const retiring = () => fleet.pools.filter((it) => it.retiring).map(({ name }) => name);
  return { world, fleet, retiring };
}

describe('Fleet', () => {
  it('renames a pool by adding another pool with its own service and key', () => {
    const { world, fleet, retiring } = aFleet();
    fleet.retire({ pool: 'gpu', isRenamed: true });
    expect(retiring()).toEqual(['gpu']);
    expect(fleet.pools.at(-1)).toMatchObject({ name: 'gpu-next', tags: { cluster: 'gpu' }, retiring: false });
    expect(world.service('gpu-next').state.desiredCount).toBe(1);
    expect(world.secrets.find('coder/keys/gpu-next')).toBeDefined();
  });

  it('retires the renamed pool when it takes the original back, since two pools must not share tags', () => {
    const { fleet, retiring } = aFleet();
    fleet.retire({ pool: 'gpu', isRenamed: true });
    fleet.takeBack('gpu');
    expect(retiring()).toEqual(['gpu-next']);
  });

  it.each([
    { pools: ['gpu'], expected: ['gpu'], because: 'gpu-eu can run the jobs of gpu' },
    { pools: ['gpu-eu'], expected: [], because: 'gpu lacks the region tag' },
    { pools: ['gpu', 'gpu-eu'], expected: [], because: 'no pool is left that can run their jobs' },
  ])('takes back needed pools: of $pools, $expected stay retired, since $because', ({ pools, expected }) => {
    const { fleet, retiring } = aFleet();
    for (const pool of pools) fleet.retire({ pool, isRenamed: false });
    fleet.takeBackNeeded();
    expect(retiring()).toEqual(expected);
  });
});
