/** Looks at leaving tasks in the second in which coderd starts to list their daemons as offline. */
import { afterEach, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { unique } from '../../../lambda/decision/model/collections.ts';
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
  expect(plan.pools.map(({ daemons }) => daemons)).toMatchObject([{ busy: 0, leaving: 1, unguarded: 0 }]);
  expect(plan.findings).toEqual([]);
});

it('counts a task as leaving, and reports no finding, from its drain until coderd lists its daemon as offline', async () => {
  const own = await startLongLab({
    pools: [{ name: 'gpu', organization: 'default', tags: {}, desiredCount: 1, min: 1, warm: 0 }],
  });
  lab = own;
  // idle for far longer than idleTimeout
  await own.rest(60);
  const config = { ...own.config, pools: own.config.pools.map((pool) => ({ ...pool, min: 0 })) };
  const seen: string[] = [];
  for (let looks = 0; looks < 30; looks++) {
    own.pass(10);
    const { plan } = await cleanLook(own.ports(), config);
    const counts = plan.pools.flatMap(({ daemons }) => Object.entries(daemons));
    seen.push(...counts.flatMap(([state, count]) => (count > 0 ? [state] : [])));
    expect(plan.findings).toEqual([]);
  }
  expect(unique(seen, (state) => state)).toEqual(['idle', 'leaving', 'left']);
  expect(own.world.service('gpu').state.desiredCount).toBe(0);
});
