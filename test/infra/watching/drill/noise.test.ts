/** Nights that must ring nothing, and a fault that must ring although it comes and goes. */
import { describe, expect, it } from 'vitest';
import { aNight, cpu, type Night } from './night.ts';

describe('prebuilds and pauses', () => {
  it('twelve prebuilds at the maximum ring nothing, since nobody waits', async () => {
    const night = await aNight();
    night.submit(12, 4, { initiator: 'prebuilds' });
    expect(await night.pass(60)).toEqual({});
  });

  it('a person who waits beside prebuilds rings', async () => {
    const night = await aNight();
    night.submit(40, 6);
    night.submit(12, 4, { initiator: 'prebuilds' });
    expect(await night.pass(12)).toHaveProperty('job-waits');
  });

  it('jobs of a paused pool ring nothing, until coderd fails them', async () => {
    const night = await aNight();
    night.pause(true);
    night.submit(2);
    expect(await night.pass(28)).toEqual({});
    const alarms = await night.pass(20);
    expect(Object.keys(alarms)).toEqual(['job-waits']);
    expect(night.sentences().join('\n')).toContain('coderd failed 2 jobs');
  });

  it('jobs that wait ring soon after the pause', async () => {
    const night = await aNight();
    night.pause(true);
    night.failStarts('CannotPullContainerError');
    night.submit(2);
    expect(await night.pass(15)).toEqual({});
    night.pause(false);
    expect((await night.pass(4))['job-waits']).toEqual([[expect.any(Number), undefined]]);
  });
});

describe('coderd that is down in each third minute', () => {
  it('rings once, and ends a while after', async () => {
    const night = await aNight();
    await night.pass(5);
    for (let minute = 0; minute < 40; minute++) {
      night.takeDown(minute % 3 === 0);
      await night.pass(1);
    }
    night.takeDown(false);
    const alarms = await night.pass(20);
    expect(Object.keys(alarms)).toEqual(['failing-ticks']);
    expect(alarms['failing-ticks']).toHaveLength(1);
    const [[from, until] = [0]] = alarms['failing-ticks'] ?? [];
    expect(from).toBeLessThanOrEqual(5 + 7);
    expect(until).toBeLessThanOrEqual(45 + 15);
  });

  it('rings nothing where it restarts for two minutes', async () => {
    const night = await aNight();
    await night.pass(5);
    night.takeDown(true);
    await night.pass(2);
    night.takeDown(false);
    expect(await night.pass(20)).toEqual({});
  });
});

describe('a night without a fault', () => {
  it.each([
    { is: 'the first hour of a pool', play: (night: Night) => night.submit(1) },
    { is: 'a busy one', play: (night: Night) => night.submit(16, 2) },
    {
      is: 'a deployment while builds run',
      play: (night: Night) => [night.submit(4, 4), night.world.deploy('cpu')],
    },
  ])('rings nothing: $is', async ({ play }) => {
    const night = await aNight({ pools: [{ ...cpu, desiredCount: 1 }] });
    await night.pass(3);
    play(night);
    expect(await night.pass(90)).toEqual({});
    expect(night.sentences()).toEqual([]);
  });
});
