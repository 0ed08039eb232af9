/** Looks at leaving tasks in the second in which coderd starts to list their daemons as offline. */
import { afterEach, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { cleanLook, type Lab, startLongLab } from '../../support/lab.ts';

let lab: Lab | undefined;
afterEach(() => lab?.close());

const STALE_MS = 90_000;

it('does not count a daemon that left as busy in the second in which it becomes stale', async () => {
  const own = await startLongLab({
    pools: [{ name: 'gpu', organization: 'default', tags: {}, desiredCount: 1 }],
  });
  lab = own;
  const { world, config, ports } = own;
  own.pass(120);
  const [task] = world.service('gpu').tasks;
  for (let looks = 0; task?.isProtected && looks < 30; looks++) await own.run(10);
  expect(task?.isProtected).toBe(false);
  const [daemon] = world.coderd.daemons();
  // coderd's Date header has whole seconds, so a look at this time seems to be earlier
  const staleAt = (daemon?.lastSeenAt ?? 0) + STALE_MS;
  expect(staleAt % 1000).toBeGreaterThan(0);
  world.timeline.advanceTo((staleAt + 1) as EpochMs);
  const { plan } = await cleanLook(ports(), config);
  expect(plan.pools.map(({ daemons }) => daemons)).toMatchObject([{ busy: 0, unguarded: 1 }]);
  expect(plan.findings).toEqual([]);
});
