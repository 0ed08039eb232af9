import { expect, it } from 'vitest';
import { readGithubActions } from '../../../../backtest/trace/logs/github-actions.ts';
import { refusal, shownLines } from './support.ts';

const time = (clock: string): string => `2026-03-02T${clock}Z`;
/** As `gh run list --json` writes it. */
const GH_RUN = {
  ...{ databaseId: 1, status: 'completed', conclusion: 'success', event: 'push' },
  ...{ createdAt: time('09:00:00'), startedAt: time('09:00:00'), updatedAt: time('09:01:14') },
};
/** As the REST API writes it. */
const REST_RUN = {
  ...{ id: 2, status: 'completed', conclusion: 'failure', created_at: time('08:00:00') },
  ...{ run_started_at: time('09:00:00'), updated_at: time('09:01:14') },
};
const REST_JOB = {
  ...{ id: 3, status: 'completed', conclusion: 'success', labels: ['self-hosted', 'linux'] },
  ...{ created_at: time('09:00:00'), started_at: time('09:00:20'), completed_at: time('09:01:34') },
};
const GH_JOB = {
  ...{ databaseId: 4, status: 'completed', conclusion: 'cancelled' },
  ...{ startedAt: time('09:00:00'), completedAt: time('09:01:14') },
};

const readText = (text: string, group?: string) =>
  shownLines(readGithubActions(text.split('\n'), { file: 'runs.json', group }));
const read = (value: unknown, group?: string) => readText(JSON.stringify(value), group);

const ADVICE =
  'write the file with gh run list --json databaseId,createdAt,startedAt,updatedAt,status,conclusion, or with gh api --paginate --slurp';

it.each([
  { value: [GH_RUN], because: 'gh run list' },
  { value: { total_count: 1, workflow_runs: [REST_RUN] }, because: 'a page of runs' },
  { value: [{ total_count: 1, jobs: [REST_JOB] }], because: 'pages of jobs, with --slurp' },
  { value: { jobs: [GH_JOB] }, because: 'gh run view' },
])('reads $because', ({ value }) => {
  expect(read(value)).toEqual(['09:00:00Z 74 s']);
  expect(readText(JSON.stringify(value, null, 2))).toEqual(['09:00:00Z 74 s']);
});

it('reads one document on each line', () => {
  expect(readText(`${JSON.stringify(GH_RUN)}\n\n${JSON.stringify(REST_JOB)}\n`)).toEqual([
    '09:00:00Z 74 s',
    '09:00:00Z 74 s',
  ]);
});

it('counts the time between submission and start as waiting, not as work', () => {
  const late = { ...REST_JOB, created_at: time('08:00:00') };
  expect(read([late])).toEqual(['08:00:00Z 74 s']);
});

it('groups jobs by a field, and joins a list', () => {
  expect(read([REST_JOB], 'labels')).toEqual(['09:00:00Z 74 s self-hosted,linux']);
  expect(read([GH_RUN], 'event')).toEqual(['09:00:00Z 74 s push']);
  expect(read([GH_RUN], 'labels')).toEqual([': [0].labels: missing; expected the field that --group names']);
});

it.each([
  { fields: { status: 'in_progress', conclusion: '' }, is: 'unfinished' },
  { fields: { conclusion: 'skipped' }, is: 'never-ran' },
  { fields: { conclusion: 'action_required' }, is: 'never-ran' },
  { fields: { updatedAt: GH_RUN.startedAt }, is: 'never-ran' },
  { fields: { completedAt: '0001-01-01T00:00:00Z' }, is: 'unfinished' },
  { fields: { completedAt: null }, is: 'unfinished' },
])('leaves out a run with $fields', ({ fields, is }) => {
  expect(read([{ ...GH_RUN, ...fields }])).toEqual([is]);
});

it('leaves out what two pages list', () => {
  expect(read([[GH_RUN], [GH_RUN, { ...GH_RUN, databaseId: 9 }]])).toEqual([
    ...['09:00:00Z 74 s', 'listed-twice', '09:00:00Z 74 s'],
  ]);
});

it('gives the place of a wrong value', () => {
  expect(read({ workflow_runs: [REST_RUN, { ...REST_RUN, id: 8, updated_at: 'now' }] })[1]).toBe(
    ': workflow_runs[1].updated_at: expected a time, such as 2026-03-02T09:00:00Z, got "now"',
  );
  expect(read([5])).toEqual([`: [0]: expected a run or a job, got 5; ${ADVICE}`]);
  const { startedAt: _, createdAt: __, ...timeless } = GH_RUN;
  expect(read([timeless])).toEqual([`: [0].run_started_at: missing; expected a time. ${ADVICE}`]);
  expect(readText(`${JSON.stringify(GH_RUN)}\n{"databaseId": 2,`)[1]).toBe(
    `2: : expected a run or a job, got nothing; ${ADVICE}`,
  );
});

it('refuses a file that is not JSON', () => {
  for (const text of ['', 'runs', '[{"a":1},\n{"b":'])
    expect(refusal(() => readText(text))).toBe(`runs.json: reading the runs: expected JSON; ${ADVICE}`);
});
