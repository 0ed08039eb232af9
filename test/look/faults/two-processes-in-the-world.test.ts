/** The function is several processes: one message that comes twice leaves two, which look in turn. */
import { describe, expect, it } from 'vitest';
import { Random } from '../../../lab/world/base/random.ts';
import { VirtualScheduler } from '../../../lab/world/base/virtual-scheduler.ts';
import { trackTarget } from '../../../lab/world/ecs/scaling.ts';
import { InProcessFunction } from '../../../lab/world/in-process/function.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { type LabPool, startLab } from '../../support/lab.ts';

const cpu: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, max: 40 };

/** Builds of one to four minutes at random times, with a function whose calls take some tenths of a second. */
async function play(seed: number, { isDoubled = true, isTracked = false, hours = 3 } = {}) {
  const { world, config } = await startLab({ pools: [cpu], overHttp: false, seed });
  const scheduler = new VirtualScheduler(world.timeline);
  const random = new Random(seed);
  const call = async <T>(answer: () => T): Promise<T> => {
    await scheduler.wait(random.whole(20, 150));
    return answer();
  };
  const codes = new Map<Finding['code'], number>();
  let starts = 0;
  const autoscaler = new InProcessFunction({
    ...{ world, scheduler, config: () => config, random },
    line: () => ({
      coderd: call,
      ecs: call,
      others: (answer, operation) => {
        if (operation === 'GetParameters') starts += 1;
        return call(answer);
      },
    }),
    onLook: ({ plan }) => {
      for (const { code } of plan.findings) codes.set(code, (codes.get(code) ?? 0) + 1);
    },
    onInvoked: () => {},
  });
  const start = scheduler.now();
  let sent = 0;
  autoscaler.queue.fate = () => ({ copies: isDoubled && sent++ === 20 ? 2 : 1, lateMs: 0 });
  void autoscaler.run();
  const inUse = () => world.coderd.jobs().filter(({ status }) => status === 'running').length;
  if (isTracked)
    trackTarget(world.ecs, { service: world.service('cpu').identity.name, inUse, min: 2, max: 10 });
  const arrivals = new Random(seed + 1);
  for (let at = 0; at < hours * HOUR_MS; at += -Math.log(1 - arrivals.next()) * 1.5 * MINUTE_MS) {
    await scheduler.advanceTo(plusMs(start, Math.floor(at)));
    const durationMs = arrivals.whole(60, 240) * 1000;
    world.coderd.submitJob({ organization: 'default', tags: {}, durationMs });
  }
  const { killed } = world.figures();
  return { codes, starts, killed, launched: world.ecs.counts().launched };
}

describe('two processes of the function that look in turn', () => {
  it.each([1, 2])('do not take their own counts for those of others (seed %s)', async (seed) => {
    const { codes, starts, killed } = await play(seed);
    expect(starts).toBeGreaterThan(1);
    expect([...codes.keys()].filter((code) => code.startsWith('count-'))).toEqual([]);
    expect(killed).toBe(0);
  });

  it('still notice Application Auto Scaling', async () => {
    const { codes } = await play(1, { isTracked: true });
    expect(codes.get('count-contested')).toBeGreaterThan(0);
  });
});
