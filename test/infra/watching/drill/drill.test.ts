/** Nights on call: what the alarms say, by minute, while something is wrong in the simulated world. */
import { describe, expect, it } from 'vitest';
import { aNight, cpu } from './night.ts';

const IMAGE = 'CannotPullContainerError: pull image manifest has been retried 7 time(s)';

describe('a quiet night, and one with builds', () => {
  it('rings nothing', async () => {
    const night = await aNight();
    expect(await night.pass(20)).toEqual({});
    night.submit(6, 3);
    expect(await night.pass(40)).toEqual({});
  });
});

describe('coderd that goes down while jobs wait', () => {
  it('keeps the alarm for jobs that wait, and rings that no look can judge', async () => {
    const night = await aNight();
    night.failStarts(IMAGE);
    night.submit(6);
    expect(await night.pass(9)).toHaveProperty('job-waits');
    night.takeDown(true);
    const alarms = await night.pass(15);
    expect(alarms['job-waits']).toEqual([[expect.any(Number), undefined]]);
    const [[from] = [0]] = alarms['no-tick'] ?? [];
    // in the minutes after it went down
    expect(from).toBeGreaterThan(9);
    expect(from).toBeLessThanOrEqual(9 + 6);
    night.takeDown(false);
    expect((await night.pass(5))['no-tick']?.[0]?.[1]).toBeLessThanOrEqual(9 + 15 + 4);
  });
});

describe('an organization that coderd no longer lists', () => {
  it('does not hide the outage of coderd after it', async () => {
    const night = await aNight({ pools: [cpu, { ...cpu, name: 'gone', organization: 'gone' }] });
    night.deleteOrganization('gone');
    const before = await night.pass(10);
    expect(Object.keys(before).sort()).toEqual(['failing-ticks', 'sight-lost']);
    night.takeDown(true);
    const alarms = await night.pass(10);
    expect(alarms['no-tick']?.[0]?.[0]).toBeLessThanOrEqual(10 + 6);
    expect(alarms['failing-ticks']).toEqual(before['failing-ticks']);
  });
});

describe('a wrong image with more jobs than the maximum', () => {
  it('rings for failing starts, and not for the maximum', async () => {
    const night = await aNight();
    night.failStarts(IMAGE);
    night.submit(12);
    const alarms = await night.pass(25);
    expect(alarms).toHaveProperty('starts-failing');
    expect(alarms).not.toHaveProperty('pool-at-max');
  });

  it('does not silence the maximum where starts work', async () => {
    const night = await aNight();
    night.submit(40, 5);
    expect(await night.pass(20)).toHaveProperty('pool-at-max');
  });
});
