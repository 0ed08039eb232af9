/** Builds that come when all tasks of a pool have just left. */
import { expect, it } from 'vitest';
import { startLongLab } from '../../support/lab.ts';

it('launches for builds beside five of five tasks that have just left, and returns to max', async () => {
  const own = await startLongLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 5, max: 5 }],
  });
  const { coderd, ecs } = own.world;
  const { tasks } = own.world.service('cpu');
  own.pass(120);
  for (let looks = 0; [...tasks].some(({ isProtected }) => isProtected) && looks < 30; looks++)
    await own.run(10);
  const submit = () => coderd.submitJob({ organization: 'default', tags: {}, durationMs: 12_000 });
  for (let jobs = 0; jobs < 10; jobs++) submit();
  const counts: number[] = [];
  for (let looks = 0; looks < 60; looks++) {
    await own.run(5, own.ports(), 5);
    const { desiredCount } = own.world.service('cpu').state;
    if (counts.at(-1) !== desiredCount) counts.push(desiredCount);
  }
  const waits = coderd.jobs().map(({ createdAt, startedAt = createdAt + 1e9 }) => startedAt - createdAt);
  expect(counts).toEqual([10, 5, 0]);
  // a start takes 56 s
  expect(Math.max(...waits)).toBeLessThan(90_000);
  expect(ecs.counts().peak).toBeLessThanOrEqual(10);
});
