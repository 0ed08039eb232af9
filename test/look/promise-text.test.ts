/** The sentences about promised starts. */
import { expect, it } from 'vitest';
import type { NoPromise, PendingJob, Promises } from '../../lambda/decision/model/promise.ts';
import { promiseLines, promiseSentence } from '../../lambda/explain/promise-text.ts';
import { jobId, poolName } from '../support/parts.ts';

const takenAt = '2026-11-20T09:00:00.000Z';
const at = (seconds: number): string => new Date(Date.parse(takenAt) + seconds * 1000).toISOString();
const startsIn = (p5: number, p50: number, p95: number) => ({ p5: at(p5), p50: at(p50), p95: at(p95) });

const job = (given: Partial<PendingJob> = {}): PendingJob => ({
  id: jobId('1a2b3c4d-0000-4000-8000-000000000000'),
  organization: 'default',
  tags: { cluster: 'gpu' },
  type: 'workspace_build',
  workspace: 'alice/dev',
  createdAt: at(-20),
  failsAt: at(1780),
  pool: poolName('gpu'),
  startsAt: startsIn(25, 40, 95),
  runningBuilds: 0,
  why: null,
  ...given,
});

it.each<{ given: Partial<PendingJob>; text: string }>([
  {
    given: {},
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): starts in about 40 s (between 25 s and 95 s)',
  },
  {
    given: { workspace: null, tags: {}, startsAt: startsIn(200, 400, 900) },
    text: 'job 1a2b3c4d of organization "default" (untagged): starts in about 7 min (between 3 min and 15 min)',
  },
  {
    given: { startsAt: startsIn(300, 1200, 2400) },
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): starts in about 20 min (between 5 min and 40 min), unless coderd fails it first, in 30 min',
  },
  {
    given: { startsAt: startsIn(300, 1200, 2400), failsAt: null },
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): starts in about 20 min (between 5 min and 40 min)',
  },
  {
    given: { startsAt: startsIn(240, 300, 900), runningBuilds: 3 },
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): starts in 4 min to 15 min, depending on 3 running builds',
  },
  {
    given: { startsAt: startsIn(16, 54, 165) },
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): starts in 16 s to 3 min',
  },
  {
    given: { startsAt: startsIn(0, 0, 1) },
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): starts now',
  },
  {
    given: { startsAt: null, why: 'no-room' },
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): start unknown: it waits for room within the limits',
  },
])('says "$text"', ({ given, text }) => {
  expect(promiseSentence(job(given), takenAt)).toBe(text);
});

it('shows the first jobs, counts the others, and leaves unschedulable ones to their own section', () => {
  const promises: Promises = {
    pendingJobs: [
      job({ startsAt: null, why: 'unschedulable' }),
      ...Array.from({ length: 5 }, (_, at) => job({ id: jobId(`job-${at}`) })),
    ],
    pendingJobsLeftOut: 200,
  };
  const lines = promiseLines(promises, { takenAt, most: 2 });
  expect(lines).toHaveLength(3);
  expect(lines.at(-1)).toBe('and 203 jobs more; --json has the first 6');
  expect(lines.join()).not.toContain('unschedulable');
});

it('has one line for all jobs whose start is unknown for the same reason', () => {
  const waiting = (count: number, why: NoPromise) =>
    Array.from({ length: count }, () => job({ startsAt: null, why }));
  const promises: Promises = {
    pendingJobs: [
      ...waiting(9, 'no-room'),
      job(),
      ...waiting(2, 'build-length-unknown'),
      ...waiting(1, 'no-room'),
    ],
    pendingJobsLeftOut: 0,
  };
  expect(promiseLines(promises, { takenAt, most: 2 })).toEqual([
    '10 jobs of organization "default" (tags cluster=gpu): start unknown: it waits for room within the limits',
    promiseSentence(job(), takenAt),
    'and 2 jobs more; --json has them',
  ]);
});
