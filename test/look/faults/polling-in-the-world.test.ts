/** A storm of jobs whose list coderd's database computes for seconds (docs/internals/coder.md §11). */
import { beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../../lab/world/base/random.ts';
import { VirtualScheduler } from '../../../lab/world/base/virtual-scheduler.ts';
import { InProcessFunction } from '../../../lab/world/in-process/function.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { type Lab, startLab } from '../../support/lab.ts';

const MINUTES = 10;
const JOBS = 200;

let lab: Lab;
beforeEach(async () => {
  const pool = { name: 'cpu', organization: 'default', tags: {}, max: 20, desiredCount: 0 };
  lab = await startLab({ pools: [pool], overHttp: false });
  for (let n = 0; n < JOBS; n++)
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 5 * MINUTE_MS });
});

/** Ten minutes in which a list of 200 pending jobs takes about `listMs`. */
async function storm(listMs: number) {
  const { world, config } = lab;
  const { database } = world.coderd;
  database.factor = listMs / 20;
  const scheduler = new VirtualScheduler(world.timeline);
  const start = scheduler.now();
  const seen = {
    /** The seconds of each look since the start. */
    looksAt: [] as number[],
    codes: new Set<string>(),
    failures: [] as unknown[],
    share: 0,
    started: 0,
  };
  const autoscaler = new InProcessFunction({
    world,
    scheduler,
    config: () => config,
    random: new Random(1),
    onLook: ({ plan }, durationMs) => {
      seen.looksAt.push((scheduler.now() - durationMs - start) / 1000);
      for (const { code } of plan.findings) seen.codes.add(code);
    },
    onInvoked: ({ error }) => error !== undefined && seen.failures.push(error),
  });
  void autoscaler.run(0);
  await scheduler.advanceTo(plusMs(start, MINUTES * MINUTE_MS));
  seen.share = database.busyMs.jobs / (MINUTES * MINUTE_MS);
  seen.started = world.coderd.jobs().filter(({ workerId }) => workerId !== undefined).length;
  return seen;
}

const everyMinute = Array.from({ length: MINUTES }, (_, minute) => minute * 60);

describe('a storm of jobs', () => {
  it('is looked at each 10 s if coderd answers at once', async () => {
    const { looksAt, share } = await storm(0);
    expect(looksAt.length).toBeGreaterThan(5 * MINUTES);
    expect(share).toBe(0);
  });

  it.each([300, 1_500, 2_500, 5_000])(
    'takes at most a tenth of a core of a database that computes for %d ms, and every minute has its look',
    async (listMs) => {
      const { looksAt, share, codes, failures, started } = await storm(listMs);
      expect(share).toBeLessThan(0.1);
      expect(share).toBeGreaterThan(0.01);
      expect(looksAt).toEqual(expect.arrayContaining(everyMinute));
      expect([...codes]).not.toContain('jobs-list-slow');
      expect(failures).toEqual([]);
      expect(started).toBeGreaterThanOrEqual(20);
    },
  );

  it('is read once a minute, and told, if that takes more than a tenth of a core', async () => {
    const { looksAt, codes, failures, started } = await storm(12_600);
    expect(looksAt).toEqual(everyMinute);
    expect([...codes]).toContain('jobs-list-slow');
    expect(failures).toEqual([]);
    expect(started).toBeGreaterThanOrEqual(20);
  });
});
