import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ownFolder } from '../../../../test/support/own-folder.ts';
import { readTraceFile } from '../../../what-if/trace/file.ts';
import { TraceError } from '../../../what-if/trace/problems.ts';
import { type ReadTrace, readTrace } from '../../../what-if/trace/read.ts';

const JOB = { at: '2026-03-02T09:00:00Z', organization: 'default', tags: {}, seconds: 74, kind: 'user' };
const jobLine = (fields: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ ...JOB, ...fields });
const read = (...lines: readonly string[]): ReadTrace =>
  readTrace(lines.join('\n'), { name: 'history.jsonl' });
const readGood = (...lines: readonly string[]): ReadTrace =>
  readTrace(lines.join('\n'), { name: 'history.jsonl', skipBad: true });

/** The message of the TraceError that `act` throws. */
function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(TraceError);
    return (error as TraceError).message;
  }
  throw new Error('reading a bad trace: it was accepted');
}

const TIME = 'at: expected a time with a time zone, such as 2026-03-02T09:00:00Z';
const SECONDS = 'seconds: expected seconds from 0 to 86400 (one day)';

it.each([
  { line: jobLine({ at: undefined }), says: TIME.replace(': ', ': missing; ') },
  { line: jobLine({ at: 1772442000 }), says: `${TIME}, got 1772442000` },
  { line: jobLine({ at: 'nine' }), says: `${TIME}, got "nine"` },
  { line: jobLine({ at: '2026-02-30T09:00:00Z' }), says: `${TIME}, got "2026-02-30T09:00:00Z"` },
  {
    line: jobLine({ at: '2026-03-02T09:00:00' }),
    says: `${TIME}, got "2026-03-02T09:00:00"; the time zone is missing: append Z for UTC`,
  },
  {
    line: jobLine({ at: '2026-03-02 09:00' }),
    says: `${TIME}, got "2026-03-02 09:00"; the time zone is missing: append Z for UTC`,
  },
  { line: jobLine({ organization: undefined }), says: 'organization: missing; expected a name' },
  { line: jobLine({ organization: '' }), says: 'organization: expected a name, got ""' },
  {
    line: jobLine({ tags: undefined }),
    says: 'tags: missing; expected tag names with values, such as {"size":"large"}; write {} for an untagged job',
  },
  {
    line: jobLine({ tags: ['large'] }),
    says: 'tags: expected tag names with values, such as {"size":"large"}; write {} for an untagged job, got a list',
  },
  { line: jobLine({ tags: { size: 4 } }), says: 'tags.size: expected a string, got 4; put it in quotes' },
  { line: jobLine({ tags: { size: null } }), says: 'tags.size: expected a string, got nothing' },
  { line: jobLine({ seconds: undefined }), says: SECONDS.replace(': ', ': missing; ') },
  { line: jobLine({ seconds: -1 }), says: `${SECONDS}, got -1` },
  { line: jobLine({ seconds: '74' }), says: `${SECONDS}, got "74"; remove the quotes` },
  { line: jobLine({ seconds: 86401 }), says: `${SECONDS}, got 86401; are these milliseconds?` },
  {
    line: jobLine({ kind: 'autostarts' }),
    says: 'kind: expected one of user, autostart, autostop, dormancy, prebuild, import, got "autostarts"; did you mean "autostart"?',
  },
  {
    line: jobLine({ kind: 'workspace_build' }),
    says: 'kind: expected one of user, autostart, autostop, dormancy, prebuild, import, got "workspace_build"',
  },
  {
    line: jobLine({ transition: 'restart' }),
    says: 'transition: expected one of start, stop, delete, got "restart"',
  },
  { line: jobLine({ workspace: 7 }), says: 'workspace: expected a string, got 7; put it in quotes' },
  { line: jobLine({ id: 7 }), says: 'id: expected a string, got 7; put it in quotes' },
  { line: '[', says: 'expected one JSON object per line, got "["' },
  { line: '[1]', says: 'expected one JSON object per line, got a list' },
  { line: 'null', says: 'expected one JSON object per line, got nothing' },
  { line: '{"trace":1}', says: 'this is a second header; only the first line of a file may be a header' },
])('refuses a line with an error: $says', ({ line, says }) => {
  expect(refusal(() => read(jobLine(), line))).toBe(
    `history.jsonl:2: ${says}\nhistory.jsonl: 1 line with errors, 1 valid; correct the errors, or use --skip-bad to leave those lines out`,
  );
  expect(readGood(jobLine(), line)).toMatchObject({
    skipped: 1,
    remarks: [`left out 1 line with errors; the first: history.jsonl:2: ${says}`],
    trace: { jobs: [{ seconds: 74 }] },
  });
});

it('refuses the second job with the same id', () => {
  expect(refusal(() => read(jobLine({ id: 'a' }), jobLine({ id: 'b' }), jobLine({ id: 'a' })))).toContain(
    'history.jsonl:3: id: expected a unique id, got "a", which line 1 has too\n',
  );
});

it('accepts an id that only an invalid line had before', () => {
  expect(readGood(jobLine({ id: 'a', seconds: -1 }), jobLine({ id: 'a' })).trace.jobs).toHaveLength(1);
});

it('lists the first ten problems and the number of further problems', () => {
  const bad = jobLine({ at: 1, seconds: -1, kind: 'x', organization: '' });
  const lines = refusal(() => read(...Array<string>(5).fill(bad))).split('\n');
  expect(lines).toHaveLength(11);
  expect(lines.slice(0, 4).map((line) => line.split(':').slice(0, 3).join(':'))).toEqual([
    'history.jsonl:1: at',
    'history.jsonl:1: organization',
    'history.jsonl:1: seconds',
    'history.jsonl:1: kind',
  ]);
  expect(lines.at(-1)).toBe('… and 10 more');
});

it('keeps a text that looks like a secret out of its messages', () => {
  const token = 'a1B2c3D4e5-f6G7h8I9j0K1l2M3n4O5p6';
  for (const line of [jobLine({ at: token }), jobLine({ tags: { [token]: 1 } }), `token ${token}`])
    expect(refusal(() => read(line))).not.toContain(token);
});

const HEADER = { trace: 1, from: '2026-03-02T00:00:00Z', to: '2026-03-09T00:00:00Z' };

it.each([
  { header: { trace: 2 }, says: 'trace: expected 1, the version of the format, got 2' },
  {
    header: { timezone: 'Berlin' },
    says: 'timezone: "Berlin" is not a time zone; did you mean "Europe/Berlin"? write an IANA name, such as Europe/Berlin',
  },
  { header: { to: '2026-03-02T00:00:00Z' }, says: 'to: expected a time after "from"' },
  {
    header: { startSeconds: [70, 30] },
    says: 'startSeconds: expected two numbers of seconds up to 900, shortest and longest, such as [30, 70], got [70, 30]',
  },
  {
    header: { startSeconds: [30, 70_000] },
    says: 'startSeconds[1]: expected two numbers of seconds up to 900, shortest and longest, such as [30, 70], got 70000',
  },
  {
    header: { startSeconds: 40 },
    says: 'startSeconds: expected two numbers of seconds up to 900, shortest and longest, such as [30, 70], got 40',
  },
  {
    header: { outages: [{ at: '2026-03-02T09:00:00Z' }] },
    says: 'outages[0].seconds: missing; expected seconds from 0 to 86400 (one day)',
  },
])('refuses a header with an error, also with skipBad: $says', ({ header, says }) => {
  const lines = [JSON.stringify({ ...HEADER, ...header }), jobLine()];
  expect(refusal(() => read(...lines))).toBe(`history.jsonl:1: ${says}`);
  expect(refusal(() => readGood(...lines))).toBe(`history.jsonl:1: ${says}`);
});

it.each([
  { at: '2026-03-01T23:59:59.999Z', says: 'at or after 2026-03-02T00:00:00.000Z' },
  { at: '2026-03-09T00:00:00Z', says: 'before 2026-03-09T00:00:00.000Z' },
])('refuses a job outside the period of the header: expected a time $says', ({ at, says }) => {
  expect(refusal(() => read(JSON.stringify(HEADER), jobLine(), jobLine({ at })))).toContain(
    `history.jsonl:3: at: expected a time ${says} (period of the header), got `,
  );
});

const NO_JOBS = `history.jsonl: the trace has no jobs; write one job per line, such as ${jobLine()}`;

it.each([
  { what: 'an empty text', text: '' },
  { what: 'blank lines', text: '\n \r\n\n' },
  { what: 'a header', text: '{"trace":1}' },
])('refuses a file that has no jobs, only $what', ({ text }) => {
  expect(refusal(() => read(text))).toBe(NO_JOBS);
  expect(refusal(() => readGood(text))).toBe(NO_JOBS);
});

it('refuses a file in which every line has an error, also with skipBad', () => {
  expect(refusal(() => readGood('x'))).toBe('history.jsonl:1: expected one JSON object per line, got "x"');
});

it('refuses a period of more than 400 days', () => {
  expect(refusal(() => read(jobLine(), jobLine({ at: '2062-03-02T09:00:00Z' })))).toBe(
    'history.jsonl: expected at most 400 days, got 13150, from 2026-03-02T09:00:00.000Z to 2062-03-02T09:01:00.000Z; check the times for a wrong year',
  );
});

describe('a valid trace', () => {
  it('has the whole minutes of its jobs as its period, in UTC, when there is no header', () => {
    const { trace } = read(jobLine({ at: '2026-03-02T09:00:30Z' }), jobLine({ at: '2026-03-02T09:05:00Z' }));
    expect(trace).toMatchObject({
      name: 'history',
      from: Date.parse('2026-03-02T09:00:00Z'),
      to: Date.parse('2026-03-02T09:06:00Z'),
      timezone: 'UTC',
      outages: [],
      startSeconds: undefined,
    });
  });

  it('sorts jobs that go back in time, keeps the order of equal times, and remarks on it', () => {
    const { trace, remarks } = read(
      jobLine({ seconds: 1 }),
      jobLine({ seconds: 2, at: '2026-03-02T08:00:00Z' }),
      jobLine({ seconds: 3 }),
    );
    expect(trace.jobs.map(({ seconds }) => seconds)).toEqual([2, 1, 3]);
    expect(remarks).toEqual(['sorted 1 line that went back in time']);
  });

  it.each([
    { what: 'a byte order mark', text: `\uFEFF${jobLine()}` },
    { what: 'Windows line ends and blank lines', text: `\r\n${jobLine()}\r\n\r\n` },
    { what: 'unknown fields', text: jobLine({ template: 'x' }) },
    { what: 'an offset instead of Z', text: jobLine({ at: '2026-03-02T10:00:00.000+01:00' }) },
    { what: 'a header before it', text: `${JSON.stringify({ ...HEADER, more: 1 })}\n${jobLine()}` },
  ])('may have $what', ({ text }) => {
    expect(read(text).trace.jobs).toEqual([{ ...JOB, at: Date.parse(JOB.at) }]);
  });

  it('may have builds of 0 s, of a fraction of a second and of a day', () => {
    const seconds = [0, 0.4, 86_400];
    const { trace } = read(...seconds.map((each) => jobLine({ seconds: each })));
    expect(trace.jobs.map((job) => job.seconds)).toEqual(seconds);
  });

  it('keeps the tags of a user-scoped job unchanged', () => {
    const tags = { scope: 'user', owner: 'u' };
    expect(read(jobLine({ tags })).trace.jobs[0]?.tags).toEqual(tags);
  });
});

describe('readTraceFile', () => {
  const folder = ownFolder();

  it('reads a file in chunks that cut lines and characters in two', () => {
    const file = join(folder, 'long.jsonl');
    const lines = Array.from({ length: 20_000 }, (_, index) =>
      jobLine({ organization: `組織 ü${'x'.repeat(index % 97)}` }),
    );
    writeFileSync(file, lines.join('\n'));
    const { trace } = readTraceFile(file);
    expect(trace.name).toBe('long');
    expect(trace.jobs.map(({ organization }) => organization)).toEqual(
      lines.map((line) => JSON.parse(line).organization),
    );
  });

  it('refuses a compressed file, and one that is not UTF-8', () => {
    const file = join(folder, 'week.gz');
    writeFileSync(file, gzipSync(jobLine()));
    expect(refusal(() => readTraceFile(file))).toBe(
      `${file}: reading the file: it is compressed; run gunzip first`,
    );
    writeFileSync(file, Buffer.from(`\ufeff${jobLine()}`, 'utf16le'));
    expect(refusal(() => readTraceFile(file))).toBe(
      `${file}: reading the file: it is not UTF-8; save it as UTF-8`,
    );
  });

  it('refuses a missing file and a folder, with the path in the message', () => {
    const missing = join(folder, 'missing.jsonl');
    expect(refusal(() => readTraceFile(missing))).toBe(
      `${missing}: reading the file: no such file; check the path`,
    );
    expect(refusal(() => readTraceFile(folder))).toBe(
      `${folder}: reading the file: the path is a folder; write the path of a file`,
    );
  });
});
