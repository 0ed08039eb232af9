/** Nights in which coderd fails jobs, because no daemon takes them within 30 minutes. */
import { describe, expect, it } from 'vitest';
import type { LabPool } from '../../../support/lab.ts';
import { aNight, cpu, type Night } from './night.ts';

const QUOTA = "You've reached the limit on the number of vCPUs you can run concurrently";
const IMAGE = 'CannotPullContainerError: pull image manifest has been retried 7 time(s)';

const failed = ({ world }: Night): number =>
  world.coderd.jobs().filter(({ status }) => status === 'failed').length;

describe('a full quota', () => {
  it('keeps both alarms for an hour after the builds were lost, then ends them', async () => {
    const night = await aNight();
    night.failPlacement(QUOTA);
    night.submit(3);
    const alarms = await night.pass(80);
    expect(failed(night)).toBe(3);
    expect(Object.keys(alarms).sort()).toEqual(['job-waits', 'starts-failing']);
    for (const spans of Object.values(alarms)) expect(spans).toEqual([[expect.any(Number), undefined]]);
    const sentences = night.sentences().join('\n');
    expect(sentences).toContain('coderd failed 3 jobs at 2 March 2026 09:31:00 UTC');
    expect(sentences).toContain('workspace-1, workspace-2, workspace-3');
    expect(sentences).toContain('Not tried since 2 March 2026 09:31:01 UTC');
    await night.pass(30);
    expect(night.sentences()).toEqual([]);
    expect(night.notifications()).toBe(4);
  });

  it.each([
    { cause: 'a full quota', fail: (night: Night) => night.failPlacement(QUOTA) },
    { cause: 'a wrong image', fail: (night: Night) => night.failStarts(IMAGE) },
  ])('and one job an hour for four hours is one alarm of each kind: $cause', async ({ fail }) => {
    const night = await aNight();
    fail(night);
    for (let hour = 0; hour < 4; hour++) {
      night.submit(1);
      await night.pass(60);
      expect(night.notifications()).toBe(2);
    }
    await night.pass(60);
    expect(failed(night)).toBe(4);
    expect(night.notifications()).toBe(4);
  });

  it('ends for its starts once a task has started, and tells of the lost builds until the hour is over', async () => {
    const night = await aNight();
    night.failPlacement(QUOTA);
    night.submit(2);
    await night.pass(40);
    night.failPlacement();
    night.submit(1);
    const alarms = await night.pass(15);
    expect(alarms['starts-failing']?.[0]?.[1]).toBeLessThanOrEqual(40 + 15);
    expect(alarms['job-waits']?.[0]?.[1]).toBeUndefined();
    expect(night.sentences().join('\n')).toContain('coderd failed 2 jobs');
  });

  it.each([{ type: 'template_version_import' } as const, { initiator: 'prebuilds' } as const])(
    'tells of a lost job of any kind: %o',
    async (job) => {
      const night = await aNight();
      night.failPlacement(QUOTA);
      night.submit(1, 1, job);
      expect((await night.pass(45))['job-waits']).toEqual([[expect.any(Number), undefined]]);
    },
  );

  it('counts no job that a person has cancelled', async () => {
    const night = await aNight();
    night.failPlacement(QUOTA);
    const jobs = night.submit(3);
    await night.pass(29);
    for (const job of jobs) night.world.coderd.cancelJob(job);
    const alarms = await night.pass(30);
    expect(alarms['job-waits']?.[0]?.[1]).toBeLessThanOrEqual(29 + 3);
    expect(night.sentences().join('\n')).not.toContain('coderd failed');
  });
});

it('rings nothing after one start that failed and jobs that another start served', async () => {
  const night = await aNight();
  night.failStarts(IMAGE);
  night.submit(1);
  await night.pass(1);
  night.failStarts();
  expect(await night.pass(90)).toEqual({});
});

it('rings nothing where another pool runs the jobs of one that ECS cannot place for a moment', async () => {
  const cheap: LabPool = { ...cpu, tags: { size: 's' } };
  const other: LabPool = { ...cheap, name: 'other', tags: { size: 's', disk: 'ssd' } };
  const night = await aNight({ pools: [cheap, other] });
  night.failPlacement(QUOTA);
  night.submit(2, 1, { tags: { size: 's' } });
  expect(await night.pass(5)).toEqual({});
  expect(night.world.coderd.jobs().map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  expect(await night.pass(85)).toEqual({});
});
