import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readTraceFile } from '../../../backtest/trace/file.ts';
import { TraceError } from '../../../backtest/trace/problems.ts';
import { type ReadTrace, readTrace } from '../../../backtest/trace/read.ts';

const JOB = { at: '2026-03-02T09:00:00Z', organization: 'default', tags: {}, seconds: 74, kind: 'user' };
const jobLine = (fields: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ ...JOB, ...fields });
const read = (...lines: readonly string[]): ReadTrace =>
  readTrace(lines.join('\n'), { name: 'history.jsonl' });
const readGood = (...lines: readonly string[]): ReadTrace =>
  readTrace(lines.join('\n'), { name: 'history.jsonl', skipBad: true });

/** What a refusal says. */
function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(TraceError);
    return (error as TraceError).message;
  }
  throw new Error('it was read');
}

const TIME = 'at: expected a time with its zone, such as 2026-03-02T09:00:00Z';
const SECONDS = 'seconds: expected seconds from 0 to 86400 (a day)';

it.each([
  { line: jobLine({ at: undefined }), says: TIME.replace(': ', ': missing; ') },
  { line: jobLine({ at: 1772442000 }), says: `${TIME}, got 1772442000` },
  { line: jobLine({ at: 'nine' }), says: `${TIME}, got "nine"` },
  { line: jobLine({ at: '2026-02-30T09:00:00Z' }), says: `${TIME}, got "2026-02-30T09:00:00Z"` },
  {
    line: jobLine({ at: '2026-03-02T09:00:00' }),
    says: `${TIME}, got "2026-03-02T09:00:00"; its zone is missing: Z for UTC`,
  },
  {
    line: jobLine({ at: '2026-03-02 09:00' }),
    says: `${TIME}, got "2026-03-02 09:00"; its zone is missing: Z for UTC`,
  },
  { line: jobLine({ organization: undefined }), says: 'organization: missing; expected a name' },
  { line: jobLine({ organization: '' }), says: 'organization: expected a name, got ""' },
  {
    line: jobLine({ tags: undefined }),
    says: 'tags: missing; expected names with their values, such as {"size":"large"}; {} for an untagged job',
  },
  {
    line: jobLine({ tags: ['large'] }),
    says: 'tags: expected names with their values, such as {"size":"large"}; {} for an untagged job, got a list',
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
  { line: '[', says: 'expected one JSON object a line, got "["' },
  { line: '[1]', says: 'expected one JSON object a line, got a list' },
  { line: 'null', says: 'expected one JSON object a line, got nothing' },
  { line: '{"trace":1}', says: 'a second header; only the first line of a file may be one' },
])('a bad line is refused: $says', ({ line, says }) => {
  expect(refusal(() => read(jobLine(), line))).toBe(
    `history.jsonl:2: ${says}\nhistory.jsonl: 1 line bad, 1 good; correct them, or leave them out with --skip-bad`,
  );
  expect(readGood(jobLine(), line)).toMatchObject({
    skipped: 1,
    remarks: [`1 line left out; the first: history.jsonl:2: ${says}`],
    trace: { jobs: [{ seconds: 74 }] },
  });
});

it('an id that comes twice is refused, where it comes again', () => {
  expect(refusal(() => read(jobLine({ id: 'a' }), jobLine({ id: 'b' }), jobLine({ id: 'a' })))).toContain(
    'history.jsonl:3: id: expected an id of its own, got "a" of line 1\n',
  );
});

it('the id of a bad line is free again', () => {
  expect(readGood(jobLine({ id: 'a', seconds: -1 }), jobLine({ id: 'a' })).trace.jobs).toHaveLength(1);
});

it('every field of a line that is wrong is said, ten of all, and how many more there are', () => {
  const bad = jobLine({ at: 1, seconds: -1, kind: 'x', organization: '' });
  const said = refusal(() => read(...Array<string>(5).fill(bad))).split('\n');
  expect(said).toHaveLength(11);
  expect(said.slice(0, 4).map((line) => line.split(':').slice(0, 3).join(':'))).toEqual([
    'history.jsonl:1: at',
    'history.jsonl:1: organization',
    'history.jsonl:1: seconds',
    'history.jsonl:1: kind',
  ]);
  expect(said.at(-1)).toBe('… and 10 more');
});

it('what looks like a secret is never repeated', () => {
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
    says: 'startSeconds: expected two numbers of seconds up to 900, the least and the most: [30, 70], got [70, 30]',
  },
  {
    header: { startSeconds: [30, 70_000] },
    says: 'startSeconds[1]: expected two numbers of seconds up to 900, the least and the most: [30, 70], got 70000',
  },
  {
    header: { startSeconds: 40 },
    says: 'startSeconds: expected two numbers of seconds up to 900, the least and the most: [30, 70], got 40',
  },
  {
    header: { outages: [{ at: '2026-03-02T09:00:00Z' }] },
    says: 'outages[0].seconds: missing; expected seconds from 0 to 86400 (a day)',
  },
])('a bad header is refused, and never left out: $says', ({ header, says }) => {
  const lines = [JSON.stringify({ ...HEADER, ...header }), jobLine()];
  expect(refusal(() => read(...lines))).toBe(`history.jsonl:1: ${says}`);
  expect(refusal(() => readGood(...lines))).toBe(`history.jsonl:1: ${says}`);
});

it.each([
  { at: '2026-03-01T23:59:59.999Z', says: 'from 2026-03-02T00:00:00.000Z on' },
  { at: '2026-03-09T00:00:00Z', says: 'before 2026-03-09T00:00:00.000Z' },
])("a job outside of the header's period is refused: $says", ({ at, says }) => {
  expect(refusal(() => read(JSON.stringify(HEADER), jobLine(), jobLine({ at })))).toContain(
    `history.jsonl:3: at: expected a time ${says}, as the header says, got `,
  );
});

const NO_JOBS = `history.jsonl: no jobs in it; expected one a line: ${jobLine()}`;

it.each([
  { what: 'nothing', text: '' },
  { what: 'blank lines', text: '\n \r\n\n' },
  { what: 'a header alone', text: '{"trace":1}' },
])('a file with $what has no jobs', ({ text }) => {
  expect(refusal(() => read(text))).toBe(NO_JOBS);
  expect(refusal(() => readGood(text))).toBe(NO_JOBS);
});

it('a file of bad lines alone is refused with them, also where bad lines are left out', () => {
  expect(refusal(() => readGood('x'))).toBe('history.jsonl:1: expected one JSON object a line, got "x"');
});

it('a wrong year is found by the length of the period', () => {
  expect(refusal(() => read(jobLine(), jobLine({ at: '2062-03-02T09:00:00Z' })))).toBe(
    'history.jsonl: expected at most 400 days, got 13150, from 2026-03-02T09:00:00.000Z to 2062-03-02T09:01:00.000Z; look for a wrong year',
  );
});

describe('what is accepted', () => {
  it('without a header, the period is that of the jobs in whole minutes, in UTC', () => {
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

  it('times that go back are sorted, and remarked; those of one time keep their order', () => {
    const { trace, remarks } = read(
      jobLine({ seconds: 1 }),
      jobLine({ seconds: 2, at: '2026-03-02T08:00:00Z' }),
      jobLine({ seconds: 3 }),
    );
    expect(trace.jobs.map(({ seconds }) => seconds)).toEqual([2, 1, 3]);
    expect(remarks).toEqual(['1 line went back in time; sorted']);
  });

  it.each([
    { what: 'a byte order mark', text: `\uFEFF${jobLine()}` },
    { what: 'Windows line ends and blank lines', text: `\r\n${jobLine()}\r\n\r\n` },
    { what: 'unknown fields', text: jobLine({ template: 'x' }) },
    { what: 'an offset instead of Z', text: jobLine({ at: '2026-03-02T10:00:00.000+01:00' }) },
    { what: 'a header before it', text: `${JSON.stringify({ ...HEADER, more: 1 })}\n${jobLine()}` },
  ])('$what', ({ text }) => {
    expect(read(text).trace.jobs).toEqual([{ ...JOB, at: Date.parse(JOB.at) }]);
  });

  it('builds of no time, of fractions of a second and of a day', () => {
    const seconds = [0, 0.4, 86_400];
    const { trace } = read(...seconds.map((each) => jobLine({ seconds: each })));
    expect(trace.jobs.map((job) => job.seconds)).toEqual(seconds);
  });

  it('tags of a user-scoped job, as they are', () => {
    const tags = { scope: 'user', owner: 'u' };
    expect(read(jobLine({ tags })).trace.jobs[0]?.tags).toEqual(tags);
  });
});

describe('a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trace-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is read in pieces, whatever they cut in two', () => {
    const file = join(folder, 'long.jsonl');
    const lines = Array.from({ length: 20_000 }, (_, index) =>
      jobLine({ organization: `ü${'x'.repeat(index % 97)}` }),
    );
    writeFileSync(file, lines.join('\n'));
    const { trace } = readTraceFile(file);
    expect(trace.name).toBe('long');
    expect(trace.jobs.map(({ organization }) => organization)).toEqual(
      lines.map((line) => JSON.parse(line).organization),
    );
  });

  it('that is not there, or is a folder, is refused by name', () => {
    const missing = join(folder, 'missing.jsonl');
    expect(refusal(() => readTraceFile(missing))).toBe(
      `${missing}: reading the trace: no such file; check the path`,
    );
    expect(refusal(() => readTraceFile(folder))).toBe(
      `${folder}: reading the trace: the path is a folder; write the path of a file`,
    );
  });
});
