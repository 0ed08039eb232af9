/** More services to change in one look than ECS takes at once. */
import { expect, it } from 'vitest';
import { cleanLook, startLongLab } from '../../support/lab.ts';

const POOLS = 60;

it('raises the counts of 60 pools in two looks, with no call refused', async () => {
  const pools = Array.from({ length: POOLS }, (_, index) => ({
    ...{ name: `pool-${index}`, organization: 'default', tags: { pool: `${index}` } },
    desiredCount: 0,
  }));
  const lab = await startLongLab({ pools });
  for (const { organization, tags } of pools)
    lab.world.coderd.submitJob({ organization, tags, durationMs: 60_000 });
  const first = await cleanLook(lab.ports(), lab.config);
  expect(first.outcome.applied).toHaveLength(40);
  const left = first.plan.pools.filter(({ why }) => why.some(({ code }) => code === 'left-to-next-look'));
  expect(left.map(({ desired }) => desired)).toEqual(
    Array(20).fill(expect.objectContaining({ from: 0, to: 0 })),
  );
  lab.pass(10);
  const second = await cleanLook(lab.ports(), lab.config);
  expect(second.outcome.applied).toHaveLength(20);
});
