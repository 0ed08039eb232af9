import { expect, it } from 'vitest';
import { readSwf } from '../../../../backtest/trace/logs/swf.ts';
import { refusal, shownLines } from './support.ts';

const START = '; UnixStartTime: 1772442000';
/** A job line: submit time, run time, status, queue, partition. */
const job = (submit: number | string, run: number, status = 1, queue = 3, partition = 8): string =>
  `  7 ${submit} -1 ${run} 128 -1 -1 -1 -1 -1 ${status} 4 1 6 ${queue} ${partition} -1 -1`;
const swf = (lines: readonly string[], group?: string) => readSwf(lines, { file: 'nasa.swf', group });

it('adds the submit time of a job to the start of the log', () => {
  const log = swf(['; Version: 2.2', ';', START, '; Note: a: b', job(0, 1451), '', job(60, 0, -1)]);
  expect(shownLines(log)).toEqual(['09:00:00Z 1451 s', '09:01:00Z 0 s']);
});

it('takes the time zone of the log if it is a known one', () => {
  expect(swf([START, '; TimeZoneString: US/Pacific', job(0, 1)]).timezone).toBe('US/Pacific');
  expect(swf([START, '; TimeZoneString: somewhere', job(0, 1)])).not.toHaveProperty('timezone');
  expect(swf([START, '; TimeZone: -28800', job(0, 1)])).not.toHaveProperty('timezone');
});

it.each([
  { line: job(0, -1), is: 'never-ran', because: 'its run time is unknown' },
  { line: job(0, 0, 5), is: 'never-ran', because: 'it was cancelled before it ran' },
  { line: job(0, 9, 5), is: '09:00:00Z 9 s', because: 'it was cancelled while it ran' },
  { line: job(0, 9, 0), is: '09:00:00Z 9 s', because: 'it failed' },
  { line: job(0, 9, 2), is: 'part', because: 'the log has the job as a whole too' },
  { line: job(0, 9, 4), is: 'part', because: 'it is the last part of a failed job' },
  { line: job(-1, 9), is: '2: submit time: expected seconds from 0, got -1', because: 'it is unknown' },
  { line: '1 2 3', is: '2: : expected 18 numbers, got "1 2 3"', because: 'fields are missing' },
  {
    line: job('9:00', 9),
    is: '2: : expected 18 numbers, got "7 9:00 -1 9 128 -1 -1 -1 -1 -1 1 4 1 6 3 8 -1 -1"',
    because: 'the submit time is no number',
  },
])('reads $line as $is: $because', ({ line, is }) => {
  expect(shownLines(swf([START, line]))).toEqual([is]);
});

it('groups jobs by a field', () => {
  expect(shownLines(swf([START, job(0, 9)], 'queue'))).toEqual(['09:00:00Z 9 s 3']);
  expect(shownLines(swf([START, job(0, 9)], 'partition'))).toEqual(['09:00:00Z 9 s 8']);
  expect(refusal(() => swf([START], 'site'))).toBe(
    'nasa.swf: reading a log in SWF: there is no field "site"; for --group choose from user, group, application, queue, partition',
  );
});

it('refuses a log without a start time', () => {
  const expected =
    'nasa.swf: reading a log in SWF: expected "; UnixStartTime: SECONDS" before the first job, got';
  const advice = '; add the time of second 0, in seconds since 1970';
  expect(refusal(() => swf([job(0, 1), START]))).toBe(`${expected} nothing${advice}`);
  expect(
    refusal(() => swf(['; UnixStartTime: 1993', job(0, 1)].map((line) => line.replace('1993', 'x')))),
  ).toBe(`${expected} "x"${advice}`);
});
