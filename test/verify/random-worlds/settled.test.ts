import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { World } from '../../../simulator/world.ts';
import { unsettled } from '../../../verify/random-worlds/settled.ts';
import type { FleetPool } from '../../../verify/random-worlds/world/fleet.ts';
import { drawPlan } from '../../../verify/random-worlds/world/plan.ts';

const MINUTE_MS = 60_000;

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

describe('a world is at rest', () => {
  it.each([
    { pool: { desiredCount: 2, min: 2 }, because: 'it keeps its min' },
    { pool: { desiredCount: 3, min: 1, warm: 3 }, because: 'it keeps its warm daemons' },
    { pool: { desiredCount: 0 }, because: 'it keeps nothing' },
  ])('where $because', ({ pool }) => {
    expect(restOf(pool)).toEqual([]);
  });

  it('not before each pool is at its floor', () => {
    expect(restOf({ desiredCount: 2 })).toEqual([
      'pool "cpu": its desired count is 2, its floor 0',
      'pool "cpu": its floor is 0, its tasks: working, working',
    ]);
  });

  it('not before a retiring pool has no task, whatever its floor, and its plan says so', () => {
    const retiring = { min: 1, warm: 2, retiring: true };
    expect(restOf({ ...retiring, desiredCount: 0 }, { retired: ['cpu'] })).toEqual([]);
    expect(restOf({ ...retiring, desiredCount: 0 })).toEqual([
      'pool "cpu": it is retiring, and its plan does not say that no task is left',
    ]);
    expect(restOf({ ...retiring, desiredCount: 1 }, { retired: ['cpu'] })).toEqual([
      'pool "cpu": its desired count is 1, its floor 0',
      'pool "cpu": its floor is 0, its tasks: working',
    ]);
  });

  it('not while a task leaves', () => {
    const ask = (world: World) => {
      for (const { identity } of world.service('cpu').tasks) world.ecs.protect(identity.id, 1380);
    };
    expect(restOf({ desiredCount: 1, min: 1 }, { happen: ask })).toEqual([
      'pool "cpu": its floor is 1, its tasks: left',
    ]);
  });

  it('not while a deployment is under way or a job is open', () => {
    const happen = (world: World) => {
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60 * MINUTE_MS });
      world.deploy('cpu');
    };
    expect(restOf({ desiredCount: 1, min: 1 }, { happen })).toEqual([
      '1 jobs are not completed',
      'pool "cpu": a deployment is IN_PROGRESS, with 1 older ones',
    ]);
  });
});
