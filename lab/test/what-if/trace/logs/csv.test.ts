import { describe, expect, it } from 'vitest';
import { type CsvOptions, readCsv } from '../../../../what-if/trace/logs/csv.ts';
import { refusal, shownLines } from './support.ts';

const OPTIONS: CsvOptions = { file: 'ci.csv', columns: {}, times: 'iso', durations: 's', isScaled: false };
const read = (text: string, options: Partial<CsvOptions> = {}) =>
  shownLines(readCsv(text.split('\n'), { ...OPTIONS, ...options }));

const DAY = '2026-03-02';

describe('columns', () => {
  it.each([
    { header: 'created_at,duration', because: 'GitLab' },
    { header: 'gmt_create,exec_time_seconds', because: 'Alibaba' },
    { header: 'Submit Time,Run Time (s)', because: 'words and a unit' },
    { header: 'startedAt,elapsed_sec', because: 'only the start is known' },
    { header: '"timestamp","seconds"', because: 'quoted' },
    { header: '\ufeffat,duration', because: 'a byte order mark' },
  ])('finds the columns of the header $header: $because', ({ header }) => {
    expect(read(`${header}\n${DAY}T09:00:00Z,74`)).toEqual(['09:00:00Z 74 s']);
  });

  it('takes no column of milliseconds for one of seconds', () => {
    expect(refusal(() => read('created,duration_ms\n1,2'))).toContain('no column has the duration of a job');
  });

  it('takes the time of submission rather than that of the start', () => {
    const text = `started_at,created_at,finished_at\n${DAY}T09:01:00Z,${DAY}T09:00:00Z,${DAY}T09:02:14.5Z`;
    expect(read(text)).toEqual(['09:00:00Z 74.5 s']);
  });

  it('takes the columns that the options name', () => {
    const text = `id,came,took,size\n7,${DAY}T09:00:00Z,74,large`;
    const columns = { submitted: 'came', duration: 'took' };
    expect(read(text, { columns, group: 'size' })).toEqual(['09:00:00Z 74 s large']);
  });

  it('refuses a header that lacks a column, and names those that it has', () => {
    expect(refusal(() => read('when,duration\n1,2'))).toBe(
      'ci.csv: reading the header: no column has the time at which a job was submitted; name it, such as --columns submitted=NAME. The columns are "when", "duration"',
    );
    expect(refusal(() => read('created,finished\n1,2'))).toBe(
      'ci.csv: reading the header: no column has the duration of a job, nor the times of its start and end; name it, such as --columns duration=NAME. The columns are "created", "finished"',
    );
    expect(refusal(() => read('created,duration\n1,2', { columns: { duration: 'durations' } }))).toBe(
      'ci.csv: reading the header: there is no column "durations"; did you mean "duration"? the columns are "created", "duration"',
    );
    expect(refusal(() => read(''))).toBe(
      'ci.csv: reading the header: the file is empty; the first row names the columns',
    );
  });
});

describe('tables', () => {
  it.each([
    { text: `created;duration\n${DAY}T09:00:00Z;74`, because: 'semicolons' },
    { text: `created\tduration\n${DAY}T09:00:00Z\t74`, because: 'tabs' },
    {
      text: `created,duration\r\n${DAY}T09:00:00Z,74\r\n\r\n`,
      because: 'Windows line ends and a blank line',
    },
    { text: `created, duration\n ${DAY}T09:00:00Z , 74 `, because: 'spaces' },
  ])('reads $because', ({ text }) => {
    expect(read(text)).toEqual(['09:00:00Z 74 s']);
  });

  it('gives the line of the file after a text with a line break', () => {
    const text = `title,created,duration\n"fix\nthe ""build""",${DAY}T09:00:00Z,74\nx,nine,74`;
    expect(read(text)).toEqual([
      '09:00:00Z 74 s',
      '4: created: expected a time, such as 2026-03-02T09:00:00Z, got "nine"',
    ]);
  });

  it('reports a row with too few or too many cells', () => {
    expect(read(`created,duration\n${DAY}T09:00:00Z\n${DAY}T09:00:00Z,7,4`)).toEqual([
      '2: : expected 2 cells as in the header, got 1; a text with a delimiter needs quotes',
      '3: : expected 2 cells as in the header, got 3; a text with a delimiter needs quotes',
    ]);
  });

  it('refuses a table with a wrong quote, after which no row is certain', () => {
    expect(refusal(() => read(`created,duration\n${DAY}T09:00:00Z,"74\n${DAY}T09:00:00Z,74`))).toBe(
      'ci.csv: reading the table: Quote Not Closed: the parsing is finished with an opening quote at line 3; a text with quotes starts and ends with ", and has "" for each quote',
    );
  });
});

describe('times', () => {
  const at = (text: string, options: Partial<CsvOptions> = {}) =>
    read(`created,duration\n"${text}",1`, options)[0];

  it.each([
    ['2026-03-02T09:00:00Z', '09:00:00Z'],
    ['2026-03-02 10:00:00.25+01', '09:00:00.250Z'],
    ['2026-03-02 14:30+0530', '09:00:00Z'],
    ['2026-03-02T04:00:00-05:00', '09:00:00Z'],
    ['2026-03-02 09:00:00 UTC', '09:00:00Z'],
  ])('reads %s', (text, time) => {
    expect(at(text)).toBe(`${time} 1 s`);
  });

  it('reads a time without a zone in the zone of the option, and refuses it without', () => {
    expect(at('2026-07-02 09:00:00', { timezone: 'Europe/Berlin' })).toBe('07:00:00Z 1 s');
    expect(at('2026-12-02 09:00:00', { timezone: 'Europe/Berlin' })).toBe('08:00:00Z 1 s');
    expect(at('2026-03-02 09:00:00')).toBe(
      '2: created: expected a time with a time zone, got "2026-03-02 09:00:00"; say which zone: --timezone UTC, or its IANA name',
    );
  });

  it('reads seconds and milliseconds since 1970 only if the option says so', () => {
    expect(at('1772442000.5', { times: 's' })).toBe('09:00:00.500Z 1 s');
    expect(at('1772442000500', { times: 'ms' })).toBe('09:00:00.500Z 1 s');
    expect(at('1772442000')).toBe(
      '2: created: expected a time, such as 2026-03-02T09:00:00Z, got "1772442000"; if it counts from 1970, add --times s or --times ms',
    );
    expect(at('1772442000500', { times: 's' })).toBe(
      '2: created: expected seconds since 1970, got "1772442000500"; are these milliseconds? Then write --times ms',
    );
    expect(at('2026-03-02T09:00:00Z', { times: 's' })).toBe(
      '2: created: expected seconds since 1970, got "2026-03-02T09:00:00Z"; leave out --times',
    );
  });

  it.each(['2026-02-30T09:00:00Z', '2026-03-02', '02.03.2026 09:00', '-1', '1e9', 'NaN', 'null'])(
    'refuses %s',
    (text) => {
      expect(at(text)).toContain(`2: created: expected a time, such as 2026-03-02T09:00:00Z, got "${text}"`);
    },
  );
});

describe('durations', () => {
  const took = (text: string, options: Partial<CsvOptions> = {}) =>
    read(`created,duration\n${DAY}T09:00:00Z,${text}`, options)[0];

  it('reads seconds, or milliseconds if the option says so', () => {
    expect(took('74.25')).toBe('09:00:00Z 74.25 s');
    expect(took('0')).toBe('09:00:00Z 0 s');
    expect(took('74250', { durations: 'ms' })).toBe('09:00:00Z 74.25 s');
  });

  it.each([
    ['-1', ''],
    ['1m14s', ''],
    ['NaN', ''],
    ['Infinity', '; are these milliseconds? Then add --durations ms'],
    ['86401', '; are these milliseconds? Then add --durations ms'],
  ])('refuses %s', (text, hint) => {
    expect(took(text)).toBe(`2: duration: expected seconds from 0 to 86400 (one day), got "${text}"${hint}`);
  });

  it('accepts more than a day if durations are scaled, but nothing without an end', () => {
    expect(took('86401', { isScaled: true })).toBe('09:00:00Z 86401 s');
    expect(took('Infinity', { isScaled: true })).toContain('2: duration: expected seconds from 0, got');
  });

  it('leaves out a job that has not started or not ended', () => {
    const text = `created,started,finished\n${DAY}T09:00:00Z,,\n${DAY}T09:00:00Z,${DAY}T09:01:00Z,`;
    expect(read(text)).toEqual(['unfinished', 'unfinished']);
    expect(took('')).toBe('unfinished');
  });

  it('refuses an end before the start', () => {
    expect(read(`started,finished\n${DAY}T09:01:00Z,${DAY}T09:00:00Z`)).toEqual([
      `2: finished: expected a time after the start, got "${DAY}T09:00:00Z"`,
    ]);
  });
});
