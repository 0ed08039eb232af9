/** An optional header, then one job a line (docs/backtest.md), taken one at a time: files can be long. */
import { basename } from 'node:path';
import { shownText } from '../../../lambda/config/problems/shown.ts';
import { type EpochMs, isoTime, plusMs } from '../../../lambda/decision/model/brands.ts';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';
import { DAY_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { some } from '../../../lambda/explain/format.ts';
import { type LineProblem, Problems, TraceError } from './problems.ts';
import { type Checked, check, checkHeader, type Header, jobSchema, OBJECT } from './schema.ts';
import type { Trace, TraceJob } from './trace.ts';

type ReadOptions = {
  /** The file name, for messages. It is also the name of the trace, unless the header has one. */
  readonly name: string;
  /** Leaves out invalid lines and counts them. An invalid header is always an error. @default false */
  readonly skipBad?: boolean;
};

export type ReadTrace = {
  readonly trace: Trace;
  readonly skipped: number;
  /** Sentences about lines that were left out or sorted. */
  readonly remarks: readonly string[];
};

/** Throws TraceError with the first problems. */
export function readTrace(
  input: string | Iterable<string>,
  { name, skipBad = false }: ReadOptions,
): ReadTrace {
  const reader = new TraceReader(name);
  for (const line of typeof input === 'string' ? input.split('\n') : input) reader.take(line);
  return reader.finish(skipBad);
}

/** A longer period is probably a wrong year in one time. Its simulation would also take too long. */
export const LONGEST_DAYS = 400;

const EXAMPLE = '{"at":"2026-03-02T09:00:00Z","organization":"default","tags":{},"seconds":74,"kind":"user"}';

class TraceReader {
  readonly #name: string;
  readonly #problems: Problems;
  readonly #jobs: TraceJob[] = [];
  /** Ids of jobs, with the line of each. */
  readonly #ids = new Map<string, number>();
  #header: Header | undefined;
  #line = 0;
  #isFirst = true;
  #backwards = 0;

  constructor(name: string) {
    this.#name = name;
    this.#problems = new Problems(name);
  }

  take(line: string): void {
    this.#line++;
    // trim removes a byte order mark too
    const text = line.trim();
    if (text === '') return;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const value = parseQuietly(text);
    if (isHeader(value)) this.#takeHeader(value, isFirst);
    else this.#problems.add(this.#takeJob(value, text));
  }

  finish(skipBad: boolean): ReadTrace {
    const { badLines } = this.#problems;
    if (this.#jobs.length === 0 && badLines === 0)
      throw new TraceError(
        `${this.#name}: the trace has no jobs; write one job per line, such as ${EXAMPLE}`,
      );
    const remarks = [
      ...this.#problems.settle(this.#jobs.length, skipBad),
      ...(this.#backwards > 0 ? [`sorted ${some(this.#backwards, 'line')} that went back in time`] : []),
    ];
    return { trace: traceOf(this.#name, this.#jobs, this.#header), skipped: badLines, remarks };
  }

  #takeHeader(value: object, isFirst: boolean): void {
    if (!isFirst) {
      const message = 'this is a second header; only the first line of a file may be a header';
      this.#problems.add([{ line: this.#line, path: '', message }]);
      return;
    }
    const header = checkHeader(value, this.#line);
    if (header.problems) {
      this.#problems.add(header.problems);
      this.#problems.refuse();
    }
    this.#header = header.value;
  }

  /** Returns the problems of the line. */
  #takeJob(value: unknown, text: string): readonly LineProblem[] {
    const line = this.#line;
    if (value === undefined) return [{ line, path: '', message: `${OBJECT}, got ${shownText(text)}` }];
    const checked: Checked<TraceJob & { readonly id?: string | undefined }> = check(jobSchema, value, line);
    if (checked.problems) return checked.problems;
    const { id, ...job } = checked.value;
    const problems = [...this.#checkPeriod(job.at), ...this.#checkId(id)];
    if (problems.length > 0) return problems;
    if (id !== undefined) this.#ids.set(id, line);
    if (job.at < (this.#jobs.at(-1)?.at ?? 0)) this.#backwards++;
    this.#jobs.push(job);
    return [];
  }

  #checkPeriod(at: EpochMs): readonly LineProblem[] {
    const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = this.#header ?? {};
    if (from <= at && at < to) return [];
    const bound = at < from ? `at or after ${isoTime(from)}` : `before ${isoTime(to)}`;
    const message = `expected a time ${bound} (period of the header), got ${isoTime(at)}`;
    return [{ line: this.#line, path: 'at', message }];
  }

  #checkId(id: string | undefined): readonly LineProblem[] {
    const first = id === undefined ? undefined : this.#ids.get(id);
    if (id === undefined || first === undefined) return [];
    const message = `expected a unique id, got ${shownText(id)}, which line ${first} has too`;
    return [{ line: this.#line, path: 'id', message }];
  }
}

/** Jobs in any order, with the fields of a header. Throws TraceError if the period is too long. */
function traceOf(file: string, unsorted: readonly TraceJob[], header: Partial<Header> = {}): Trace {
  const jobs = unsorted.toSorted((a, b) => a.at - b.at);
  const {
    name = nameOf(file),
    from = startOfMinute(jobs[0]?.at),
    to = plusMs(startOfMinute(jobs.at(-1)?.at), MINUTE_MS),
    timezone = 'UTC',
    outages = [],
    startSeconds,
  } = header;
  checkLength(file, from, to);
  return { name, from, to, timezone, outages, startSeconds, jobs };
}

function checkLength(file: string, from: EpochMs, to: EpochMs): void {
  const days = Math.ceil((to - from) / DAY_MS);
  if (days <= LONGEST_DAYS) return;
  throw new TraceError(
    `${file}: expected at most ${LONGEST_DAYS} days, got ${days}, from ${isoTime(from)} to ${isoTime(to)}; check the times for a wrong year`,
  );
}

function isHeader(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'trace');
}

const startOfMinute = (time = 0): EpochMs => (Math.floor(time / MINUTE_MS) * MINUTE_MS) as EpochMs;

const nameOf = (file: string): string => basename(file).replace(/\.(?:jsonl|ndjson|json|txt)$/, '') || file;
