/** Which process of the function runs an invocation. */
import { beforeEach, describe, expect, it } from 'vitest';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { type Lab, startLab } from '../../../test/support/lab.ts';
import { Random } from '../../world/base/random.ts';
import { VirtualScheduler } from '../../world/base/virtual-scheduler.ts';
import { InProcessFunction } from '../../world/in-process/function.ts';
import { type AwsCall, atOnce, ENDED } from '../../world/in-process/ports.ts';

const NEVER: Promise<never> = new Promise(() => {});

let lab: Lab;
beforeEach(async () => {
  const pool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 };
  lab = await startLab({ pools: [pool], overHttp: false });
});

/** Each process reads the record of builds once, when it begins. `startsAt`: when they did. */
function deploy() {
  const { world, config } = lab;
  const scheduler = new VirtualScheduler(world.timeline);
  const start = scheduler.now();
  const startsAt: number[] = [];
  const looks: { readonly look: LookResult; readonly tookMs: number }[] = [];
  const deployed = { startsAt, looks, coderd: 'answers' as 'answers' | 'hangs' | 'crashes', waitMs: 0 };
  const others: AwsCall = async (answer, operation) => {
    if (operation === 'GetParameters') startsAt.push(scheduler.now() - start);
    return answer();
  };
  const line = {
    coderd: <T>(answer: () => T): Promise<T> => {
      if (deployed.coderd === 'answers') return scheduler.wait(deployed.waitMs).then(answer);
      return deployed.coderd === 'hangs' ? NEVER : ENDED;
    },
    ecs: atOnce,
    others,
  };
  const autoscaler = new InProcessFunction({
    world,
    scheduler,
    config: () => config,
    random: new Random(1),
    line: () => line,
    onLook: (look, tookMs) => void looks.push({ look, tookMs }),
    onInvoked: () => {},
  });
  void autoscaler.run(0);
  const pass = (ms: number): Promise<void> => scheduler.advanceTo(plusMs(scheduler.now(), ms));
  return { deployed, autoscaler, pass };
}

describe('a process of the function', () => {
  it('lives for 1 to 6 hours', async () => {
    const { deployed, pass } = deploy();
    await pass(14 * HOUR_MS);
    const lives = deployed.startsAt.slice(1).map((at, index) => at - (deployed.startsAt[index] ?? 0));
    expect(lives.length).toBeGreaterThan(0);
    for (const ms of lives) expect(Math.ceil((ms - MINUTE_MS) / HOUR_MS)).toBeOneOf([1, 2, 3, 4, 5, 6]);
  });

  it('runs one invocation at a time: the next one gets another process', async () => {
    const { deployed, autoscaler, pass } = deploy();
    deployed.waitMs = 5_000;
    await pass(1_000);
    void autoscaler.invoke();
    // later each process reads the record again, as another one looks too
    await pass(4 * MINUTE_MS);
    expect(deployed.startsAt).toHaveLength(2);
  });

  it('is gone with its memory after a crash', async () => {
    const { deployed, pass } = deploy();
    await pass(5 * MINUTE_MS);
    deployed.coderd = 'crashes';
    await pass(MINUTE_MS);
    deployed.coderd = 'answers';
    const looks = deployed.looks.length;
    await pass(50 * SECOND_MS);
    expect(deployed.looks).toHaveLength(looks);
    await pass(20 * MINUTE_MS);
    expect(deployed.startsAt).toEqual([0, 7 * MINUTE_MS]);
  });

  it('ends a look after 30 s of the world if coderd does not answer', async () => {
    const { deployed, pass } = deploy();
    await pass(90 * SECOND_MS);
    deployed.coderd = 'hangs';
    await pass(MINUTE_MS);
    const { look, tookMs } = deployed.looks.at(-1) ?? {};
    expect(tookMs).toBe(30 * SECOND_MS);
    expect(look?.failures.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('took longer than 30 s'),
    );
    expect(deployed.startsAt).toEqual([0]);
  });
});
