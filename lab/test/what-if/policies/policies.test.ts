/** The policies that the autoscaler is compared with. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../lambda/config/load.ts';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { table } from '../../../../test/support/table.ts';
import { limitChange, recommend, stabilize } from '../../../what-if/policies/hpa-rule.ts';
import { BASELINES } from '../../../what-if/policies/index.ts';
import { STATIC_FLEET } from '../../../what-if/policies/static-fleet.ts';
import { makePolicyWorld } from './policy-world.ts';

const { config } = loadConfig('examples/3k-users.yaml');
const document = readFileSync('docs/backtest.md', 'utf8');

describe.each(BASELINES)('$id', (policy) => {
  const grid = policy.grid(config);

  it('has a grid of 6 to 12 different points', () => {
    expect(grid.length).toBeGreaterThanOrEqual(6);
    expect(grid.length).toBeLessThanOrEqual(12);
    expect(new Set(grid.map((settings) => JSON.stringify(settings))).size).toBe(grid.length);
  });

  it('has the same setting names in each point of its grid', () => {
    const names = grid.map((settings) => Object.keys(settings));
    expect(names).toEqual(names.map(() => names[0]));
  });

  it('has a link to its source in docs/backtest.md', () => {
    expect(document).toContain(policy.source.url);
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

// * Expected values are computed by hand from replica_calculator.go and horizontal.go (lab/what-if/policies/hpa-rule.ts).

describe('recommend', () => {
  it.each(table<{ current: number; metric: number; target: number; expected: number; because: string }>`
    current | metric | target | expected | because
    4       | 4      | 1      | 4        | the metric is at its target
    4       | 7      | 1      | 7        | each job has a replica
    1       | 7      | 2      | 4        | 3.5 is rounded up
    20      | 21     | 1      | 20       | 5 % more is within the tolerance
    20      | 18     | 1      | 20       | 10 % less is within it too
    20      | 17     | 1      | 17       | 15 % less is not
    20      | 23     | 1      | 23       | 15 % more is not
    5       | 4      | 0.8    | 5        | a target of 0.8 needs a quarter more replicas than jobs
    4       | 4      | 0.8    | 5        | 4 / 0.8 is 5
    3       | 0      | 1      | 0        | the metric alone has no minimum
  `)(
    'gives $expected replicas for $metric jobs, $current replicas and a target of $target: $because',
    ({ expected, ...given }) => {
      expect(recommend(given)).toBe(expected);
    },
  );
});

describe('stabilize', () => {
  const now = 1_000_000 as EpochMs;
  const past = [
    { at: (now - 400_000) as EpochMs, replicas: 30 },
    { at: (now - 300_000) as EpochMs, replicas: 20 },
    { at: (now - 299_999) as EpochMs, replicas: 8 },
    { at: (now - 15_000) as EpochMs, replicas: 5 },
  ];

  it.each(table<{ current: number; replicas: number; windowMs: number; expected: number; because: string }>`
    current | replicas | windowMs | expected | because
    10      | 3        | 300_000  | 8        | it is the highest recommendation of the last 300 s, without the edge
    10      | 9        | 300_000  | 9        | no recommendation was higher
    10      | 3        | 60_000   | 5        | a shorter window has fewer recommendations
    10      | 3        | 0        | 3        | there is no window
    2       | 3        | 300_000  | 3        | scale-up has no window
    6       | 5        | 300_000  | 8        | a recommendation that the rate limited still counts
  `)(
    'gives $expected for $replicas recommended, $current replicas and a window of $windowMs ms: $because',
    ({ replicas, expected, ...given }) => {
      expect(stabilize(replicas, { ...given, now, past })).toBe(expected);
    },
  );
});

describe('limitChange', () => {
  it.each([
    { current: 1, replicas: 50, expected: 5, because: '4 pods are more than 100 %' },
    { current: 4, replicas: 50, expected: 8, because: '4 pods are 100 %' },
    { current: 10, replicas: 50, expected: 20, because: '100 % are more than 4 pods' },
    { current: 10, replicas: 12, expected: 12, because: 'the limit is not reached' },
    { current: 40, replicas: 80, expected: 60, because: 'max is the upper limit' },
    { current: 10, replicas: 3, expected: 3, because: 'scale-down has no rate limit' },
    { current: 10, replicas: 0, expected: 2, because: 'min is the lower limit' },
    { current: 10, replicas: 10, expected: 10, because: 'the number stays the same' },
  ])(
    'gives $expected for $replicas wanted and $current replicas: $because',
    ({ replicas, current, expected }) => {
      expect(limitChange(replicas, { current, min: 2, max: 60 })).toBe(expected);
    },
  );
});
