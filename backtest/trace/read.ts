/**
 * Reads a trace: a header, if there is one, and a job a line. docs/traces.md says what is accepted. Lines are taken one by one, so that
 * a file may be longer than a text can be.
 */
import { basename } from 'node:path';
import { shownText } from '../../lambda/config/problems/shown.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { isoTime } from '../../lambda/decision/report/waiting.ts';
import { type LineProblem, Problems, TraceError } from './problems.ts';
import { type Checked, check, checkHeader, type Header, jobSchema, OBJECT } from './schema.ts';
import type { Trace, TraceJob } from './trace.ts';

export type ReadOptions = {
  /** The file's, for messages; the trace is called so where its header does not say otherwise. */
  readonly name: string;
  /** Leaves out bad lines, and counts them. A bad header is never left out: all figures depend on it. @default false */
  readonly skipBad?: boolean;
};

export type ReadTrace = {
  readonly trace: Trace;
  /** Bad lines that were left out. */
  readonly skipped: number;
  /** What may surprise. */
  readonly remarks: readonly string[];
};

/** Throws TraceError, with the first problems. */
export function readTrace(
  input: string | Iterable<string>,
  { name, skipBad = false }: ReadOptions,
): ReadTrace {
  const reader = new TraceReader(name);
  for (const line of typeof input === 'string' ? input.split('\n') : input) reader.take(line);
  return reader.finish(skipBad);
}

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
/** More is one wrong year in a time; and figures of every few seconds would not fit anywhere. */
export const LONGEST_DAYS = 400;

const EXAMPLE = '{"at":"2026-03-02T09:00:00Z","organization":"default","tags":{},"seconds":74,"kind":"user"}';

class TraceReader {
  readonly #name: string;
  readonly #problems: Problems;
  readonly #jobs: TraceJob[] = [];
  /** Of jobs with an id: its line. */
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
    // takes a byte order mark away, too
    const text = line.trim();
    if (text === '') return;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const value = parse(text);
    if (isHeader(value)) this.#takeHeader(value, isFirst);
    else this.#problems.add(this.#takeJob(value, text));
  }

  finish(skipBad: boolean): ReadTrace {
    const { badLines, first = '' } = this.#problems;
    if (this.#jobs.length === 0 && badLines === 0)
      throw new TraceError(`${this.#name}: no jobs in it; expected one a line: ${EXAMPLE}`);
    if (this.#jobs.length === 0 || (badLines > 0 && !skipBad)) throw new TraceError(this.#refusal());
    const remarks = [
      ...(badLines > 0 ? [`${lines(badLines)} left out; the first: ${first}`] : []),
      ...(this.#backwards > 0 ? [`${lines(this.#backwards)} went back in time; sorted`] : []),
    ];
    return { trace: this.#trace(), skipped: badLines, remarks };
  }

  #takeHeader(value: object, isFirst: boolean): void {
    if (!isFirst) {
      const message = 'a second header; only the first line of a file may be one';
      this.#problems.add([{ line: this.#line, path: '', message }]);
      return;
    }
    const header = checkHeader(value, this.#line);
    if (header.problems) {
      this.#problems.add(header.problems);
      throw new TraceError(this.#problems.text);
    }
    this.#header = header.value;
  }

  /** Returns what is wrong with it. */
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
    const bound = at < from ? `from ${isoTime(from)} on` : `before ${isoTime(to)}`;
    const message = `expected a time ${bound}, as the header says, got ${isoTime(at)}`;
    return [{ line: this.#line, path: 'at', message }];
  }

  #checkId(id: string | undefined): readonly LineProblem[] {
    const first = id === undefined ? undefined : this.#ids.get(id);
    if (id === undefined || first === undefined) return [];
    const message = `expected an id of its own, got ${shownText(id)} of line ${first}`;
    return [{ line: this.#line, path: 'id', message }];
  }

  #refusal(): string {
    const { badLines, text } = this.#problems;
    if (this.#jobs.length === 0) return text;
    const good = this.#jobs.length;
    return `${text}\n${this.#name}: ${lines(badLines)} bad, ${good} good; correct them, or leave them out with --skip-bad`;
  }

  #trace(): Trace {
    const jobs = this.#jobs.sort((a, b) => a.at - b.at);
    const {
      name = nameOf(this.#name),
      from = startOfMinute(jobs[0]?.at),
      to = plusMs(startOfMinute(jobs.at(-1)?.at), MINUTE_MS),
      timezone = 'UTC',
      outages = [],
      startSeconds,
    }: Partial<Header> = this.#header ?? {};
    this.#checkLength(from, to);
    return { name, from, to, timezone, outages, startSeconds, jobs };
  }

  #checkLength(from: EpochMs, to: EpochMs): void {
    const days = Math.ceil((to - from) / DAY_MS);
    if (days <= LONGEST_DAYS) return;
    throw new TraceError(
      `${this.#name}: expected at most ${LONGEST_DAYS} days, got ${days}, from ${isoTime(from)} to ${isoTime(to)}; look for a wrong year`,
    );
  }
}

/** Undefined for what is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isHeader(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'trace');
}

const lines = (count: number): string => `${count} line${count === 1 ? '' : 's'}`;

const startOfMinute = (time = 0): EpochMs => (Math.floor(time / MINUTE_MS) * MINUTE_MS) as EpochMs;

const nameOf = (file: string): string => basename(file).replace(/\.(?:jsonl|ndjson|json)$/, '') || file;
