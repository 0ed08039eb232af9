import { expect, it } from 'vitest';
import type { EpochMs } from '../../../../../lambda/decision/model/brands.ts';
import { type ImportOptions, importLog } from '../../../../what-if/trace/logs/import.ts';
import { bad, type LogLine, leftOut } from '../../../../what-if/trace/logs/log.ts';
import { refusal } from './support.ts';

const at = (clock: string): EpochMs => Date.parse(`2026-03-02T${clock}Z`) as EpochMs;
const job = (clock: string, seconds: number, group?: string): LogLine => ({
  ...{ kind: 'job', job: { at: at(clock), seconds, group } },
});
const imported = (lines: readonly LogLine[], options: Partial<ImportOptions> = {}) =>
  importLog({ lines }, { file: 'ci.csv', organization: 'default', skipBad: false, ...options });

it('makes jobs of people, in order of time', () => {
  const { trace, remarks } = imported([job('09:00:30', 74), job('08:59:59', 30)]);
  expect(trace).toMatchObject({ name: 'ci', from: at('08:59:00'), to: at('09:01:00'), timezone: 'UTC' });
  const parts = { organization: 'default', tags: {}, kind: 'user' };
  expect(trace.jobs).toEqual([
    { ...parts, at: at('08:59:59'), seconds: 30 },
    { ...parts, at: at('09:00:30'), seconds: 74 },
  ]);
  expect(remarks).toEqual([]);
});

it('takes name, period and time zone of the options', () => {
  const options = { name: 'ours', from: at('09:00:00'), to: at('10:00:00'), timezone: 'Asia/Tokyo' };
  const { trace, remarks } = imported([job('08:59:59', 1), job('09:00:00', 2), job('10:00:00', 3)], options);
  expect(trace).toMatchObject(options);
  expect(trace.jobs.map(({ seconds }) => seconds)).toEqual([2]);
  expect(remarks).toEqual(['left out: 2 outside --from and --to']);
});

it('makes a tag of the group, none of an empty one', () => {
  const { trace } = imported([job('09:00:00', 1, 'gpu'), job('09:00:00', 1, '')], { group: 'queue' });
  expect(trace.jobs.map(({ tags }) => tags)).toEqual([{ queue: 'gpu' }, {}]);
});

it('gives the groups of the option its tags, and leaves the others out', () => {
  const lines = [job('09:00:00', 1, 'a'), job('09:00:00', 2, 'b'), job('09:00:00', 3, 'c')];
  const tags = new Map([
    ['a', { size: 'large' }],
    ['b', {}],
  ]);
  const { trace, remarks } = imported(lines, { group: 'queue', tags });
  expect(trace.jobs.map((each) => each.tags)).toEqual([{ size: 'large' }, {}]);
  expect(remarks).toEqual(['left out: 1 of groups that --tags does not name']);
  expect(refusal(() => imported(lines, { group: 'queue', tags: new Map([['A', {}]]) }))).toBe(
    'ci.csv: importing a log: no job has the queue "A" of --tags; there are "a", "b", "c"',
  );
});

it('scales all durations by one factor, to the median of the jobs that it keeps', () => {
  const lines = [job('09:00:00', 10), job('09:00:00', 90), job('09:00:00', 300), job('11:00:00', 5000)];
  const { trace } = imported(lines, { median: 60, to: at('10:00:00') });
  expect(trace.jobs.map(({ seconds }) => seconds)).toEqual([6.667, 60, 200]);
  expect(refusal(() => imported([job('09:00:00', 0)], { median: 60 }))).toBe(
    'ci.csv: importing a log: half of the jobs took no time, so that no factor gives a median of 60 s; leave out --median',
  );
});

it('leaves out jobs longer than a day, by their scaled durations', () => {
  const lines = [job('09:00:00', 7200), job('09:00:00', 7200), job('09:00:00', 172_800)];
  expect(imported(lines).remarks).toEqual(['left out: 1 longer than a day']);
  expect(imported(lines, { median: 60 }).trace.jobs.map(({ seconds }) => seconds)).toEqual([60, 60, 1440]);
});

it('counts what the log left out', () => {
  const lines = [leftOut('unfinished'), job('09:00:00', 1), leftOut('unfinished')];
  expect(imported(lines).remarks).toEqual(['left out: 2 not finished']);
});

it('refuses bad lines, or leaves them out and counts them', () => {
  const lines = [bad(2, { path: 'created', message: 'expected a time, got "x"' }), job('09:00:00', 1)];
  expect(refusal(() => imported(lines))).toBe(
    'ci.csv:2: created: expected a time, got "x"\nci.csv: 1 line with errors, 1 valid; correct the errors, or use --skip-bad to leave those lines out',
  );
  const { trace, skipped, remarks } = imported(lines, { skipBad: true });
  expect([trace.jobs.length, skipped, remarks]).toEqual([
    ...[1, 1],
    ['left out 1 line with errors; the first: ci.csv:2: created: expected a time, got "x"'],
  ]);
  expect(refusal(() => imported(lines.slice(0, 1), { skipBad: true }))).toBe(
    'ci.csv:2: created: expected a time, got "x"',
  );
});

it('refuses a log without a job, and says why there is none', () => {
  expect(refusal(() => imported([]))).toBe('ci.csv: importing a log: it has no job for a trace');
  expect(refusal(() => imported([leftOut('unfinished')]))).toBe(
    'ci.csv: importing a log: it has no job for a trace; left out: 1 not finished',
  );
});
