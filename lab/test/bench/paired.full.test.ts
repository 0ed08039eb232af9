/** Checks the comparison of the decision with that of another checkout. */
import { expect, it } from 'vitest';
import { compareDecision } from '../../bench/paired.ts';

it('finds the same plan in the same checkout', async () => {
  const size = { jobs: 50, pools: 10, daemons: 20, workspaces: 50 };
  const { ratios, isSamePlan } = await compareDecision('.', { size, seed: 1, pairs: 3, runs: 20 });
  expect(isSamePlan).toBe(true);
  expect(ratios).toHaveLength(3);
});
