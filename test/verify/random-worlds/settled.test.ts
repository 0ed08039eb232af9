import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { World } from '../../../simulator/world.ts';
import { unsettled } from '../../../verify/random-worlds/settled.ts';
import type { FleetPool } from '../../../verify/random-worlds/world/fleet.ts';
import { drawPlan } from '../../../verify/random-worlds/world/plan.ts';

const CPU = { name: 'cpu', organization: 'default', tags: {}, min: 0, max: 5, warm: 0, idleTimeoutS: 60 };

type Options = { readonly happen?: (world: World) => void; readonly retired?: readonly string[] };

function restOf(pool: Partial<FleetPool>, { happen = () => {}, retired = [] }: Options = {}) {
  const pools: readonly FleetPool[] = [{ ...CPU, image: 'guarded', retiring: false, ...pool }];
  const world = new World({ ...drawPlan(1).world, readLagMs: 0, latencies: {}, pools });
  const pass = (minutes: number) =>
    world.timeline.advanceTo(plusMs(world.timeline.now(), minutes * MINUTE_MS));
  pass(10);
  happen(world);
  pass(1);
  return unsettled(world, pools, { held: new Set(), retired: new Set(retired) });
}

describe('unsettled', () => {
  it.each([
    { pool: { desiredCount: 2, min: 2 }, because: 'keeps its min' },
    { pool: { desiredCount: 3, min: 1, warm: 3 }, because: 'keeps its warm daemons' },
    { pool: { desiredCount: 0 }, because: 'keeps no task' },
    { pool: { desiredCount: 3, min: 1, warm: 'auto' as const }, because: 'keeps what it has learned' },
  ])('finds nothing when a pool $because', ({ pool }) => {
    expect(restOf(pool)).toEqual([]);
  });

  it('reports a pool that is above its floor', () => {
    expect(restOf({ desiredCount: 2 })).toEqual([
      'pool "cpu": its desired count is 2, but its floor is 0',
      'pool "cpu": its floor is 0, but its tasks are: working, working',
    ]);
  });

  it('reports a retiring pool until it has no task and the plan reports it as retired', () => {
    const retiring = { min: 1, warm: 2, retiring: true };
    expect(restOf({ ...retiring, desiredCount: 0 }, { retired: ['cpu'] })).toEqual([]);
    expect(restOf({ ...retiring, desiredCount: 0 })).toEqual([
      'pool "cpu": it is retiring and the plan does not report it as retired',
    ]);
    expect(restOf({ ...retiring, desiredCount: 1 }, { retired: ['cpu'] })).toEqual([
      'pool "cpu": its desired count is 1, but its floor is 0',
      'pool "cpu": its floor is 0, but its tasks are: working',
    ]);
  });

  it('reports a task that is leaving', () => {
    const ask = (world: World) => {
      for (const { identity } of world.service('cpu').tasks) world.ecs.protect(identity.id, 1380);
    };
    expect(restOf({ desiredCount: 1, min: 1 }, { happen: ask })).toEqual([
      'pool "cpu": its floor is 1, but its tasks are: left',
    ]);
  });

  it('reports a deployment in progress and a job that has not ended', () => {
    const happen = (world: World) => {
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60 * MINUTE_MS });
      world.deploy('cpu');
    };
    expect(restOf({ desiredCount: 1, min: 1 }, { happen })).toEqual([
      'jobs that have not ended: 1',
      'pool "cpu": its deployment is IN_PROGRESS; older deployments: 1',
    ]);
  });
});
