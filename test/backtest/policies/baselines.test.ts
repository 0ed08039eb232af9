import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BASELINES } from '../../../backtest/policies/index.ts';
import { loadConfig } from '../../../lambda/config/load.ts';

const { config } = loadConfig('examples/3k-users.yaml');
const document = readFileSync('docs/policies.md', 'utf8');

describe.each(BASELINES)('$id', (policy) => {
  const grid = policy.grid(config);

  it('has a grid of 6 to 12 points, no two alike', () => {
    expect(grid.length).toBeGreaterThanOrEqual(6);
    expect(grid.length).toBeLessThanOrEqual(12);
    expect(new Set(grid.map((settings) => JSON.stringify(settings))).size).toBe(grid.length);
  });

  it('has the same settings in each point, so that a table has one column each', () => {
    const names = grid.map((settings) => Object.keys(settings));
    expect(names).toEqual(names.map(() => names[0]));
  });

  it('links its source where it is explained', () => {
    expect(document).toContain(policy.source.url);
  });
});

it('no two baselines have one name', () => {
  expect(new Set(BASELINES.map(({ id }) => id)).size).toBe(BASELINES.length);
});
