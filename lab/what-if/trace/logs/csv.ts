/** Reads a table with a header row, one job a row. Columns are found by name, or by the names that logs usually have. */
import { type CsvError, parse } from 'csv-parse/sync';
import { shownText } from '../../../../lambda/config/problems/shown.ts';
import { nearestName } from '../../../../lambda/config/schema/names.ts';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { TraceError } from '../problems.ts';
import { LONGEST_S } from '../schema.ts';
import { bad, type Log, type LogLine, leftOut } from './log.ts';
import { readTime, type TimeOptions } from './times.ts';

export const DURATION_UNITS = ['s', 'ms'] as const;

export type CsvOptions = ColumnOptions &
  TimeOptions & {
    readonly durations: (typeof DURATION_UNITS)[number];
    /** Whether durations will be scaled. Then a long one is no sign of a wrong unit. */
    readonly isScaled: boolean;
  };

/** Throws TraceError if the table is broken, or if its header lacks a column. */
export function readCsv(lines: Iterable<string>, options: CsvOptions): Log {
  const { file } = options;
  const [header, ...rows] = rowsOf([...lines].join('\n'), file);
  if (header === undefined)
    throw new TraceError(`${file}: reading the header: the file is empty; the first row names the columns`);
  const names = header.cells.map((name) => name.trim());
  const reader = new RowReader(names, columnsOf(names, options), options);
  return { lines: rows.map((row) => reader.read(row)) };
}

type Row = { readonly cells: readonly string[]; readonly line: number };

const DELIMITERS = [',', ';', '\t'];

/** The delimiter is the one that the first line has most of. */
function rowsOf(text: string, file: string): readonly Row[] {
  const [firstLine = ''] = text.trimStart().split('\n', 1);
  const [delimiter = ','] = DELIMITERS.toSorted(
    (a, b) => firstLine.split(b).length - firstLine.split(a).length,
  );
  const rows: Row[] = [];
  const onRecord = (cells: string[], { lines: line }: { readonly lines: number }): null => {
    rows.push({ cells, line });
    return null;
  };
  try {
    parse(text, {
      bom: true,
      delimiter,
      skip_empty_lines: true,
      relax_column_count: true,
      on_record: onRecord,
    });
  } catch (cause) {
    // after a wrong quote, rows cannot be told apart
    const { message } = cause as CsvError;
    throw new TraceError(
      `${file}: reading the table: ${message}; a text with quotes starts and ends with ", and has "" for each quote`,
      { cause },
    );
  }
  return rows;
}

type Cell = { readonly path: string; readonly text: string };
/** A value, or the line that takes the place of the job. */
type Outcome<T> = { readonly value: T; readonly line?: never } | { readonly line: LogLine };

class RowReader {
  readonly #names: readonly string[];
  readonly #columns: Columns;
  readonly #options: CsvOptions;

  constructor(names: readonly string[], columns: Columns, options: CsvOptions) {
    this.#names = names;
    this.#columns = columns;
    this.#options = options;
  }

  read({ cells, line }: Row): LogLine {
    const { length } = this.#names;
    if (cells.length !== length)
      return bad(line, {
        path: '',
        message: `expected ${length} cells as in the header, got ${cells.length}; a text with a delimiter needs quotes`,
      });
    const at = this.#time(this.#cell(cells, 'submitted') ?? this.#cell(cells, 'started'), line);
    if (at.line) return at.line;
    const seconds = this.#seconds(cells, line);
    if (seconds.line) return seconds.line;
    const group = this.#cell(cells, 'group')?.text;
    return { kind: 'job', job: { at: at.value, seconds: seconds.value, group } };
  }

  #cell(cells: readonly string[], column: keyof Columns): Cell | undefined {
    const position = this.#columns[column];
    if (position === undefined) return undefined;
    return { path: this.#names[position] ?? '', text: cells[position]?.trim() ?? '' };
  }

  #seconds(cells: readonly string[], line: number): Outcome<number> {
    const duration = this.#cell(cells, 'duration');
    if (duration === undefined) return this.#betweenTimes(cells, line);
    const { path, text } = duration;
    if (text === '') return { line: leftOut('unfinished') };
    const { durations, isScaled } = this.#options;
    const seconds = Number(text) / (durations === 'ms' ? 1000 : 1);
    if (seconds >= 0 && (seconds <= LONGEST_S || (isScaled && Number.isFinite(seconds))))
      return { value: seconds };
    const most = isScaled ? '' : ` to ${LONGEST_S} (one day)`;
    const hint =
      seconds > LONGEST_S && durations === 's' ? '; are these milliseconds? Then add --durations ms' : '';
    const message = `expected seconds from 0${most}, got ${shownText(text)}${hint}`;
    return { line: bad(line, { path, message }) };
  }

  #betweenTimes(cells: readonly string[], line: number): Outcome<number> {
    const finished = this.#cell(cells, 'finished');
    const start = this.#time(this.#cell(cells, 'started'), line);
    if (start.line) return start;
    const end = this.#time(finished, line);
    if (end.line) return end;
    if (end.value >= start.value) return { value: (end.value - start.value) / 1000 };
    const message = `expected a time after the start, got ${shownText(finished?.text ?? '')}`;
    return { line: bad(line, { path: finished?.path ?? '', message }) };
  }

  /** An empty cell: the job never came so far. */
  #time(cell: Cell | undefined, line: number): Outcome<EpochMs> {
    if (cell === undefined || cell.text === '') return { line: leftOut('unfinished') };
    const { at, message } = readTime(cell.text, this.#options);
    return message === undefined ? { value: at } : { line: bad(line, { path: cell.path, message }) };
  }
}

export const ROLES = ['submitted', 'started', 'finished', 'duration'] as const;
export type Role = (typeof ROLES)[number];

/** Names of columns as `plain` writes them, the best first. */
const USUAL: Readonly<Record<Role, readonly string[]>> = {
  submitted: [
    ...['submitted', 'submittedat', 'submittime', 'created', 'createdat', 'createtime', 'gmtcreate'],
    ...['arrival', 'arrivaltime', 'arrivedat', 'queuedat', 'timestamp', 'time', 'at'],
  ],
  started: ['started', 'startedat', 'starttime', 'start', 'runstartedat', 'begin'],
  finished: ['finished', 'finishedat', 'completed', 'completedat', 'endedat', 'endtime', 'end'],
  duration: ['duration', 'runtime', 'elapsed', 'exectime', 'seconds'],
};

type Columns = Readonly<Partial<Record<Role | 'group', number>>>;

type ColumnOptions = {
  readonly file: string;
  /** Names of columns, where they are not the usual ones. */
  readonly columns: Readonly<Partial<Record<Role, string>>>;
  readonly group?: string | undefined;
};

/** Throws TraceError if a column is missing. */
function columnsOf(header: readonly string[], { file, columns, group }: ColumnOptions): Columns {
  const named = (name: string): number => {
    const position = header.indexOf(name);
    if (position >= 0) return position;
    const near = nearestName(name, header);
    const guess = near === undefined ? '' : `did you mean "${near}"? `;
    throw new TraceError(
      `${file}: reading the header: there is no column "${name}"; ${guess}the columns are ${quoted(header)}`,
    );
  };
  const found = ROLES.flatMap((role) => {
    const name = columns[role];
    const position = name === undefined ? usualColumn(header, role) : named(name);
    return position === undefined ? [] : [[role, position] as const];
  });
  const all: Columns = Object.fromEntries([
    ...found,
    ...(group === undefined ? [] : [['group', named(group)] as const]),
  ]);
  checkComplete(all, { file, header });
  return all;
}

function usualColumn(header: readonly string[], role: Role): number | undefined {
  const plainNames = header.map(plain);
  return USUAL[role].map((name) => plainNames.indexOf(name)).find((position) => position >= 0);
}

/** `run_started_at` becomes `runstartedat`. Columns of milliseconds are found only by their names. */
const plain = (name: string): string =>
  name
    .replace(/(?<=.)(?:[ _(]+s|[ _(]*(?:secs?|seconds))\)?$/i, '')
    .replaceAll(/[^a-z0-9]/gi, '')
    .toLowerCase();

function checkComplete(
  { submitted, started, finished, duration }: Columns,
  { file, header }: { readonly file: string; readonly header: readonly string[] },
): void {
  const missing = (what: string, role: Role): never => {
    throw new TraceError(
      `${file}: reading the header: no column has ${what}; name it, such as --columns ${role}=NAME. The columns are ${quoted(header)}`,
    );
  };
  if (submitted === undefined && started === undefined)
    missing('the time at which a job was submitted', 'submitted');
  if (duration === undefined && (started === undefined || finished === undefined))
    missing('the duration of a job, nor the times of its start and end', 'duration');
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
