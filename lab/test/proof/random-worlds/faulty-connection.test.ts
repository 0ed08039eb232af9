import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../../lambda/decision/model/brands.ts';
import { START } from '../../../../test/support/lab.ts';
import {
  type ConnectionFaults,
  FaultyConnection,
} from '../../../proof/random-worlds/world/faulty-connection.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { VirtualScheduler } from '../../../world/base/virtual-scheduler.ts';

function connectionTo(options: { faults?: ConnectionFaults; isCutOff?: () => boolean } = {}) {
  const timeline = new Timeline(START);
  const scheduler = new VirtualScheduler(timeline);
  const { faults = { failing: 0, losing: 0 }, isCutOff = () => false } = options;
  const connection = new FaultyConnection({
    scheduler,
    random: new Random(1),
    latency: [100, 100],
    faults: () => faults,
    isCutOff,
  });
  return { connection, scheduler, pass: (ms: number) => scheduler.advanceTo(plusMs(timeline.now(), ms)) };
}

describe('FaultyConnection', () => {
  const outcomes = async (faults: ConnectionFaults) => {
    const { connection, pass } = connectionTo({ faults });
    let acts = 0;
    const seen = connection
      .call(() => ++acts)
      .then(
        () => 'answered',
        () => 'failed',
      );
    await pass(10_000);
    return { acts, seen: await seen };
  };

  it.each([
    { faults: { failing: 0, losing: 0 }, expected: { acts: 1, seen: 'answered' } },
    { faults: { failing: 1, losing: 0 }, expected: { acts: 0, seen: 'failed' } },
  ])('gives $expected with the faults $faults', async ({ faults, expected }) => {
    expect(await outcomes(faults)).toEqual(expected);
  });

  it('loses answers after the call has taken effect, once or twice', async () => {
    const { acts, seen } = await outcomes({ failing: 0, losing: 1 });
    expect(seen).toBe('failed');
    expect(acts).toBeGreaterThan(0);
  });

  it('lets a call take effect after half of the latency, and answers after all of it', async () => {
    const { connection, pass } = connectionTo();
    const seen: string[] = [];
    void connection.call(() => seen.push('effect')).then(() => seen.push('answer'));
    await pass(49);
    expect(seen).toEqual([]);
    await pass(1);
    expect(seen).toEqual(['effect']);
    await pass(50);
    expect(seen).toEqual(['effect', 'answer']);
  });

  it('makes no call after it is cut off, and never answers', async () => {
    let calls = 0;
    const { connection, pass } = connectionTo({ isCutOff: () => ++calls > 1 });
    const seen: number[] = [];
    void connection
      .call(() => seen.push(1))
      .then(() => connection.call(() => seen.push(2)))
      .then(() => seen.push(3));
    await pass(10_000);
    expect(seen).toEqual([1]);
  });
});

describe('VirtualScheduler', () => {
  it('ends waits in order of time, one after the other, with the world at that time', async () => {
    const timeline = new Timeline(START);
    const scheduler = new VirtualScheduler(timeline);
    const seen: string[] = [];
    const log = (name: string): void => void seen.push(`${name} ${timeline.now() - START}`);
    const twice = async (name: string, ms: number): Promise<void> => {
      await scheduler.wait(ms);
      log(name);
      await scheduler.wait(ms);
      log(name);
    };
    timeline.after(15, () => log('world'));
    void twice('slow', 20);
    void twice('quick', 10);
    await scheduler.advanceTo(plusMs(START, 30));
    expect(seen).toEqual(['quick 10', 'world 15', 'slow 20', 'quick 20']);
    expect(timeline.now() - START).toBe(30);
  });
});
