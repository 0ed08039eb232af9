import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BASELINES } from '../../../backtest/policies/index.ts';
import { loadConfig } from '../../../lambda/config/load.ts';

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
