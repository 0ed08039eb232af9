import { expect, it } from 'vitest';
import type { Status, WaitingJobs } from '../../../cli/status/report.ts';
import { statusScreen } from '../../../cli/status/screen.ts';

const NOBODY: WaitingJobs = {
  jobs: 0,
  unserved: 0,
  oldestSeconds: 0,
  isComplete: true,
  groups: [],
  nobody: [],
  pendingJobs: [],
  pendingJobsLeftOut: 0,
};

const status = (changes: Partial<Status>): Status => ({
  version: 1,
  takenAt: '2026-03-02T09:00:00.000Z',
  waiting: NOBODY,
  pools: [],
  broken: [],
  isLooking: true,
  overrides: [],
  lastLook: { kind: 'unknown', why: 'not asked for' },
  waits: { kind: 'unknown', why: 'not asked for' },
  ...changes,
});

const pool = (changes: Partial<Status['pools'][number]>): Status['pools'][number] => ({
  name: 'gpu',
  retiring: true,
  isGone: false,
  tasks: 1,
  daemons: null,
  building: 0,
  floor: 0,
  max: 1,
  oldSecret: null,
  ...changes,
});

it.each([
  { waiting: {}, line: 'no jobs wait' },
  { waiting: { jobs: 1, oldestSeconds: 30 }, line: '1 job has waited for 30 s' },
  {
    waiting: { jobs: 1, oldestSeconds: 30, unserved: 1 },
    line: '1 job has waited for 30 s and is unschedulable',
  },
  {
    waiting: { jobs: 5, oldestSeconds: 600, unserved: 2 },
    line: '5 jobs wait, the oldest for 10 min, 2 of them unschedulable',
  },
  {
    waiting: { jobs: 5, oldestSeconds: 600, unserved: 5 },
    line: '5 jobs wait, the oldest for 10 min, all of them unschedulable',
  },
  { waiting: { isComplete: false }, line: 'waiting jobs unknown' },
  {
    waiting: { jobs: 2, oldestSeconds: 30, isComplete: false },
    line: 'at least 2 jobs wait, the oldest for 30 s',
  },
])('summarizes waiting jobs as "$line"', ({ waiting, line }) => {
  const [first] = statusScreen(status({ waiting: { ...NOBODY, ...waiting } })).split('\n');
  expect(first).toBe(`${line}; no findings`);
});

it('shows the first three unschedulable tag groups and then the first ten others', () => {
  const group = (index: number): WaitingJobs['groups'][number] => ({
    organization: 'default',
    tags: `n=${index}`,
    jobs: 1,
    oldestSeconds: 60,
    places: [{ jobs: 1, pool: null, served: 'by-busy' }],
  });
  const groups = Array.from({ length: 12 }, (_, index) => group(index));
  const screen = statusScreen(
    status({
      waiting: { ...NOBODY, jobs: 16, groups, nobody: ['a', 'b', 'c', 'd'].map((one) => `sentence ${one}`) },
    }),
  );
  const lines = screen.slice(screen.indexOf('waiting jobs:')).split('\n');
  expect(lines.slice(1, 5)).toEqual([
    '  ! sentence a',
    '  ! sentence b',
    '  ! sentence c',
    '    and 1 tag group more',
  ]);
  expect(lines[5]).toBe(
    '    organization "default", tags n=0: 1 job, the oldest for 60 s -> 1 by a busy daemon of others',
  );
  expect(lines.slice(14, 17)).toEqual([expect.stringContaining('n=9'), '    and 2 tag groups more', '']);
});

it.each([
  {
    retiring: { isGone: true, tasks: 0 },
    line: 'no tasks remain. Remove it from the configuration and deploy',
  },
  { retiring: { tasks: 3, building: 2 }, line: '3 tasks remaining, 2 with a build' },
  { retiring: { tasks: null }, line: 'no ECS service found' },
])('describes a retiring pool as "$line"', ({ retiring, line }) => {
  expect(statusScreen(status({ pools: [pool(retiring)] }))).toContain(`retiring:\n    pool "gpu": ${line}\n`);
});

it('tells how many tasks still use an old key', () => {
  const oldSecret: Status['pools'][number]['oldSecret'] = {
    ...{ code: 'old-secret', secret: 'coder/keys/gpu', kind: 'key', held: null },
    ...{ changedAt: '2026-11-20T08:00:00.000Z', previousAt: '2026-11-12T09:00:00.000Z' },
    ...{ tasks: 3, of: 8, draining: 1, asked: 0 },
  };
  expect(statusScreen(status({ pools: [pool({ retiring: false, oldSecret })] }))).toContain(
    'changed secrets:\n    pool "gpu": 3 of 8 tasks still use the key of 12 November 2026: 1 drains already, 2 wait for their turn\n',
  );
});

it('shows the first fifteen findings', () => {
  const broken = Array.from({ length: 20 }, (_, index) => `thing ${index}`);
  const screen = statusScreen(status({ broken }));
  expect(screen).toContain('20 findings');
  expect(screen).toContain('! thing 14\n    and 5 findings more\n');
  expect(screen).not.toContain('thing 15');
});

it('adds up the jobs of people and of prebuilds that have the same providers', () => {
  const free = { pool: null, served: 'by-free' } as const;
  const group: WaitingJobs['groups'][number] = {
    ...{ organization: 'default', tags: 'cluster=gpu', jobs: 5, oldestSeconds: 4 },
    places: [
      { jobs: 2, ...free },
      { jobs: 1, pool: null, served: 'by-busy' },
      { jobs: 2, ...free },
    ],
  };
  expect(statusScreen(status({ waiting: { ...NOBODY, jobs: 5, groups: [group] } }))).toContain(
    'the oldest for 4 s -> 4 by a free daemon of others, 1 by a busy daemon of others\n',
  );
});

it('stays one screen with thousands of waiting jobs, each list cut', () => {
  const pendingJobs = Array.from({ length: 1_000 }, (_, index) => ({
    // each job has a line of its own
    ...{ id: `job-${index}` as never, organization: `${index}`, tags: {}, type: 'workspace_build' },
    ...{ workspace: `user-${index}/dev`, createdAt: '2026-03-02T08:59:00.000Z', pool: null },
    ...{ startsAt: null, failsAt: null, why: 'no-room' as const, runningBuilds: 0 },
  }));
  const many = Array.from({ length: 400 }, (_, index) => `sentence ${index}`);
  const groups = many.map((tags) => ({
    ...{ organization: 'default', tags, jobs: 10, oldestSeconds: 60 },
    places: [{ jobs: 10, pool: null, served: 'when-there-is-room' as const }],
  }));
  const waiting = { ...NOBODY, jobs: 4_000, groups, nobody: many, pendingJobs, pendingJobsLeftOut: 3_000 };
  const lines = statusScreen(status({ waiting, broken: many, pools: [pool({ retiring: false })] })).split(
    '\n',
  );
  expect(lines.length).toBeLessThan(55);
  expect(lines).toContain('  and 3992 jobs more; --json has the first 1000');
});
