/**
 * The part of the query language of CloudWatch Logs Insights that the command line uses (CloudWatch Logs User
 * Guide, "Supported commands"), joined by `|`: `fields` with names, `jsonParse` and `coalesce`, `filter`, `unnest`,
 * `stats` and `sort`. A filter compares a field with a text or a list of texts; `and` joins conditions. Insights finds
 * the fields of lines that are JSON objects by itself.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';
import { AwsError } from '../base/aws-service.ts';

export type LogEvent = { readonly eventId: string; readonly timestamp: EpochMs; readonly message: string };

export type LogRow = Readonly<Record<string, string>>;

/** With the values of `jsonParse`, which have parts. */
type Row = Readonly<Record<string, unknown>>;
type Step = (rows: readonly Row[]) => readonly Row[];

const DEFAULT_ROWS = 10_000;

/** The rows of a query, as texts: the fields that it names and the row's pointer. Throws AwsError. */
export function runInsights(
  events: readonly LogEvent[],
  query: string,
  limit: number = DEFAULT_ROWS,
): readonly LogRow[] {
  const commands = query.split('|').map((command) => command.trim());
  const rows = commands.map(toStep).reduce<readonly Row[]>((rest, step) => step(rest), events.map(toRow));
  const counted = commands.find((command) => command.startsWith('stats '));
  const shown = counted === undefined ? [...commands.flatMap(fieldsIn), '@ptr'] : columnsIn(counted);
  return rows.slice(0, limit).map((row) => pick(row, shown));
}

/** `2026-03-02 09:00:00.000`. */
const insightsTime = (at: number): string => new Date(at).toISOString().replace('T', ' ').replace('Z', '');

function toRow({ eventId, timestamp, message }: LogEvent): LogRow {
  const time = insightsTime(timestamp);
  return { ...discovered(message), '@ptr': eventId, '@timestamp': time, '@message': message };
}

/** The fields of a JSON text; nested ones with dots. Insights writes booleans as 1 and 0. */
function discovered(message: string): LogRow {
  const found = new Map<string, string>();
  const visit = (value: unknown, path: string): void => {
    if (value === null || value === undefined) return;
    if (typeof value === 'object')
      for (const [key, item] of Object.entries(value)) visit(item, path === '' ? key : `${path}.${key}`);
    else if (path !== '') found.set(path, typeof value === 'boolean' ? `${Number(value)}` : String(value));
  };
  visit(parseQuietly(message), '');
  return Object.fromEntries(found);
}

function toStep(command: string): Step {
  if (command.startsWith('fields ')) return computed(command);
  if (command.startsWith('unnest ')) return unnested(command);
  if (command.startsWith('stats ')) return counted(command);
  if (command.startsWith('filter ')) {
    const conditions = command.slice('filter '.length).split(/ and /).map(toCondition);
    return (rows) => rows.filter((row) => conditions.every((isMet) => isMet(row)));
  }
  const [, field, order] = /^sort (@?[\w.]+) (asc|desc)$/.exec(command) ?? [];
  if (field === undefined) throw malformed(command);
  const sign = order === 'asc' ? 1 : -1;
  return (rows) => rows.toSorted((a, b) => sign * textOf(a[field]).localeCompare(textOf(b[field])));
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value));

/** A field of the row, or a part of a value of `jsonParse`. */
function valueAt(row: Row, path: string): unknown {
  if (Object.hasOwn(row, path)) return row[path];
  const [first = '', ...rest] = path.split('.');
  return rest.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined),
    Object.hasOwn(row, first) ? row[first] : undefined,
  );
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The items of a list that commas join, outside parentheses. */
const itemsOf = (list: string): readonly string[] => list.split(/, (?![^(]*\))/);

const COMPUTED = /^(?:jsonParse\((@message)\)|coalesce\((@?[\w.]+), "([^"]*)"\)) as (\w+)$/;

function computed(command: string): Step {
  const items = itemsOf(command.slice('fields '.length)).map((item) => COMPUTED.exec(item));
  return (rows) =>
    rows.map((row) => ({
      ...row,
      ...Object.fromEntries(
        items.flatMap((match) => {
          if (match === null) return [];
          const [, parsed, path = '', other, name = ''] = match;
          return [[name, parsed ? parseQuietly(textOf(row[parsed])) : (valueAt(row, path) ?? other)]];
        }),
      ),
    }));
}

/** "Based on the number of items a field contains": a record without the list is taken to give none. */
function unnested(command: string): Step {
  const [, path = '', name] = /^unnest ([\w.]+) into (\w+)$/.exec(command) ?? [];
  if (name === undefined) throw malformed(command);
  return (rows) =>
    rows.flatMap((row) => [valueAt(row, path) ?? []].flat().map((item) => ({ ...row, [name]: item })));
}

const COLUMN = /^(count|avg|max|pct)\(([\w.]+)(?:, (\d+))?\) as (\w+)$/;
const KEY = /^(?:bin\((\d+)m\)|([\w.]+))(?: as (\w+))?$/;

function counted(command: string): Step {
  const { columns, keys } = partsOf(command);
  return (rows) => {
    const groups = Map.groupBy(rows, (row) => JSON.stringify(keys.map((key) => key.of(row))));
    return [...groups].map(([group, own]) => {
      const values = JSON.parse(group) as readonly unknown[];
      const aggregates = columns.flatMap(({ name, of }) => {
        const value = of(own);
        return value === undefined ? [] : [[name, value] as const];
      });
      return Object.fromEntries([
        ...keys.map(({ name }, at) => [name, values[at] ?? ''] as const),
        ...aggregates,
      ]);
    });
  };
}

const columnsIn = (command: string): readonly string[] => {
  const { columns, keys } = partsOf(command);
  return [...keys, ...columns].map(({ name }) => name);
};

function partsOf(command: string) {
  const [columns = '', keys] = command.slice('stats '.length).split(' by ');
  if (keys === undefined) throw malformed(command);
  return {
    columns: itemsOf(columns).map((column) => {
      const [, kind = '', path = '', percent, name] = COLUMN.exec(column) ?? [];
      if (name === undefined) throw malformed(column);
      return { name, of: (rows: readonly Row[]) => aggregate(kind, rows, path, Number(percent)) };
    }),
    keys: itemsOf(keys).map((key) => {
      const [, minutes, path = '', name = path] = KEY.exec(key) ?? [];
      if (name === '') throw malformed(key);
      return { name, of: (row: Row) => (minutes ? binOf(row, Number(minutes)) : valueAt(row, path)) };
    }),
  };
}

function aggregate(kind: string, rows: readonly Row[], path: string, percent: number): number | undefined {
  const found = rows
    .map((row) => valueAt(row, path))
    .filter((value) => value !== undefined && value !== null);
  if (kind === 'count') return found.length;
  const numbers = found.map(Number).toSorted((a, b) => a - b);
  if (numbers.length === 0) return undefined;
  if (kind === 'max') return numbers.at(-1);
  if (kind === 'avg') return numbers.reduce((all, each) => all + each, 0) / numbers.length;
  return numbers[Math.min(numbers.length - 1, Math.ceil((percent / 100) * numbers.length) - 1)];
}

function binOf(row: Row, minutes: number): string {
  const width = minutes * 60_000;
  const at = Date.parse(`${textOf(row['@timestamp']).replace(' ', 'T')}Z`);
  return insightsTime(Math.floor(at / width) * width);
}

function fieldsIn(command: string): readonly string[] {
  if (!command.startsWith('fields ')) return [];
  const items = itemsOf(command.slice('fields '.length));
  if (!items.every((item) => /^@?[\w.]+$/.test(item) || COMPUTED.test(item))) throw malformed(command);
  return items.map((item) => COMPUTED.exec(item)?.[4] ?? item);
}

function toCondition(text: string): (row: Row) => boolean {
  const [, field = '', literal] = /^(@?[\w.]+) (?:=|in) ("[^"]*"|\["[^\]]*"\])$/.exec(text.trim()) ?? [];
  if (literal === undefined) throw malformed(text);
  const wanted: readonly unknown[] = [JSON.parse(literal)].flat();
  return (row) => wanted.includes(row[field]);
}

function pick(row: Row, fields: readonly string[]): LogRow {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = valueAt(row, field);
      return value === undefined ? [] : [[field, isObject(value) ? JSON.stringify(value) : String(value)]];
    }),
  );
}

function malformed(command: string): AwsError {
  return new AwsError('MalformedQueryException', `unexpected symbol found in "${command}"`);
}
