/** The policies that the autoscaler is compared with. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BASELINES } from '../../../what-if/policies/index.ts';
import { STATIC_FLEET } from '../../../what-if/policies/static-fleet.ts';
import { makePolicyWorld } from './policy-world.ts';

const document = readFileSync('docs/backtest.md', 'utf8');

describe.each(BASELINES)('$id', ({ grid, source }) => {
  it('tries different settings, each with the same names', () => {
    expect(grid.length).toBeGreaterThan(0);
    expect(new Set(grid.map((settings) => JSON.stringify(settings))).size).toBe(grid.length);
    expect(new Set(grid.map((settings) => Object.keys(settings).join())).size).toBe(1);
  });

  it('has a link to its source, if it has one, in docs/backtest.md', () => {
    expect(document).toContain(source?.url ?? '');
  });
});

it('all baselines have different ids', () => {
  expect(new Set(BASELINES.map(({ id }) => id)).size).toBe(BASELINES.length);
});

describe('a static fleet', () => {
  it.each([
    { share: 1, max: [180], maxTasks: 180, expected: [180], because: 'it is the size of the architecture' },
    {
      share: 0.25,
      max: [180],
      maxTasks: 180,
      expected: [45],
      because: 'it is a quarter of the architecture',
    },
    {
      share: 1,
      max: [90, 45, 45],
      maxTasks: 60,
      expected: [30, 15, 15],
      because: 'the total is at most maxTasks',
    },
    { share: 1, max: [20, 10], maxTasks: 60, expected: [20, 10], because: 'each pool has at most its max' },
    {
      share: 0.05,
      max: [100, 4],
      maxTasks: 200,
      expected: [5, 1],
      because: 'each pool needs at least one daemon',
    },
  ])('has $expected of $max tasks at a share of $share: $because', ({ share, max, maxTasks, expected }) => {
    const pools = max.map((most, index) => ({
      name: `pool-${index}`,
      tags: { pool: `${index}` },
      max: most,
    }));
    const { start, desired } = makePolicyWorld(pools, { maxTasks });
    start(STATIC_FLEET, { share });
    expect(pools.map(({ name }) => desired(name))).toEqual(expected);
  });

  it('keeps its desired count when jobs queue and a task fails', () => {
    const { start, passTo, submit, world, changes } = makePolicyWorld([{ name: 'cpu', max: 4 }]);
    start(STATIC_FLEET, { share: 1 });
    passTo(120);
    for (let job = 0; job < 9; job++) submit(600);
    const [first] = world.service('cpu').tasks;
    world.ecs.hostFailure(first?.identity.id ?? '');
    passTo(7200);
    expect(changes).toEqual([[0, 'cpu', 4]]);
    expect(world.figures().tasks).toEqual({ running: 4, launched: 5, peak: 4 });
  });
});
