import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { runs } from '../../../../test/support/runs.ts';
import { TraceError } from '../../../what-if/trace/problems.ts';
import { readTrace } from '../../../what-if/trace/read.ts';
import { JOB_KINDS, TRANSITIONS, type Trace } from '../../../what-if/trace/trace.ts';
import { writeTrace } from '../../../what-if/trace/write.ts';

const FROM = Date.parse('2026-03-02T00:00:00Z');
const DAYS = 9;
const TO = FROM + DAYS * 86_400_000;

const time = fc.integer({ min: FROM, max: TO - 1 }).map((ms) => ms as EpochMs);
const name = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' });
const seconds = fc.double({ min: 0, max: 86_400, noNaN: true }).map((each) => each + 0);
const tagName = name.filter((each) => each !== '__proto__');
const job = fc.record(
  {
    at: time,
    organization: name,
    tags: fc.dictionary(tagName, fc.string({ maxLength: 5, unit: 'grapheme' }), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
    seconds,
    kind: fc.constantFrom(...JOB_KINDS),
    workspace: name,
    transition: fc.constantFrom(...TRANSITIONS),
  },
  { requiredKeys: ['at', 'organization', 'tags', 'seconds', 'kind'] },
);
const startSecond = fc.double({ min: 0, max: 900, noNaN: true }).map((value) => value + 0);
const start = fc.tuple(startSecond, startSecond).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);

const traces: fc.Arbitrary<Trace> = fc.record({
  name,
  from: fc.constant(FROM as EpochMs),
  to: fc.constant(TO as EpochMs),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata'),
  outages: fc.array(fc.record({ at: time, seconds }), { maxLength: 3 }),
  startSeconds: fc.option(start, { nil: undefined }),
  jobs: fc.array(job, { minLength: 1, maxLength: 20 }).map((jobs) => jobs.sort((a, b) => a.at - b.at)),
});

it('reads a written trace back without any change', () => {
  fc.assert(
    fc.property(traces, (trace) => {
      const {
        trace: again,
        skipped,
        remarks,
      } = readTrace([...writeTrace(trace)].join(''), { name: 'x.jsonl' });
      expect(again).toEqual(trace);
      expect({ skipped, remarks }).toEqual({ skipped: 0, remarks: [] });
    }),
    runs(500),
  );
});

it('reads single lines to the same trace as the whole text', () => {
  fc.assert(
    fc.property(traces, (trace) => {
      expect(readTrace(writeTrace(trace), { name: 'x.jsonl' }).trace).toEqual(trace);
    }),
    runs(100),
  );
});

const anyField = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('2026-03-02T09:00:00Z', '9999-12-31T23:59:59Z', 'user', 'UTC', {}, 1, 1e308, '__proto__'),
);
const fields = ['trace', 'name', 'from', 'to', 'timezone', 'startSeconds', 'outages']
  .concat(['id', 'at', 'organization', 'tags', 'seconds', 'kind'])
  .map((field) => [field, anyField] as const);
const anyLine = fc.oneof(
  fc.record(Object.fromEntries(fields), { requiredKeys: [] }).map((value) => JSON.stringify(value)),
  fc.json({ maxDepth: 2 }),
  fc.string({ maxLength: 10 }),
);

it('reads any lines, or refuses them with the file name and a reason', () => {
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 5 }), fc.boolean(), (lines, skipBad) => {
      try {
        readTrace(lines.join('\n'), { name: 'x.jsonl', skipBad });
      } catch (error) {
        if (!(error instanceof TraceError)) throw error;
        expect(error.message).toMatch(/^x\.jsonl(:\d+)?: \S/);
      }
    }),
    runs(1000),
  );
});
