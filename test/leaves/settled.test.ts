import { describe, expect, it } from 'vitest';
import { drawPlan, type PlannedPool } from '../../lab/leaves/plan.ts';
import { unsettled } from '../../lab/leaves/settled.ts';
import { World } from '../../lab/world.ts';
import { plusMs } from '../../lambda/core/brands.ts';

const MINUTE_MS = 60_000;

function restOf(pool: Partial<PlannedPool>, happen: (world: World) => void = () => {}) {
  const pools = [
    { name: 'cpu', organization: 'default', tags: {}, min: 0, max: 5, warm: 0, idleTimeoutS: 60, ...pool },
  ];
  const plan = { ...drawPlan(1), pools };
  const world = new World({ ...plan.world, readLagMs: 0, latencies: {}, pools });
  const pass = (minutes: number) =>
    world.timeline.advanceTo(plusMs(world.timeline.now(), minutes * MINUTE_MS));
  pass(10);
  happen(world);
  pass(1);
  return unsettled(world, plan);
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

  it('not while a task leaves', () => {
    const ask = (world: World) => {
      for (const { identity } of world.service('cpu').tasks) world.ecs.protect(identity.id, 1380);
    };
    expect(restOf({ desiredCount: 1, min: 1 }, ask)).toEqual(['pool "cpu": its floor is 1, its tasks: left']);
  });

  it('not while a deployment is under way or a job is open', () => {
    const unrest = restOf({ desiredCount: 1, min: 1 }, (world) => {
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60 * MINUTE_MS });
      world.deploy('cpu');
    });
    expect(unrest).toEqual([
      '1 jobs are not completed',
      'pool "cpu": a deployment is IN_PROGRESS, with 1 older ones',
    ]);
  });
});
