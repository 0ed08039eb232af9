/**
 * The part of the query language of CloudWatch Logs Insights that the command line and the saved
 * queries use (CloudWatch Logs User Guide, "Supported commands"): `fields`, `filter`, `unnest`, `stats`,
 * `sort`, `display`, `dedup` and `limit`, joined by `|`. A filter compares a field, or a sum of fields,
 * with a text or a number, or says `ispresent(field)`; `and` joins conditions. Insights finds the fields
 * of lines that are JSON objects by itself.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';
import { AwsError } from '../base/aws-service.ts';

export type LogEvent = { readonly eventId: string; readonly timestamp: EpochMs; readonly message: string };

export type LogRow = Readonly<Record<string, string>>;

type Step = (rows: readonly LogRow[]) => readonly LogRow[];

const DEFAULT_ROWS = 10_000;

/** The rows of a query, as texts. Throws AwsError for what it does not know. */
export function runInsights(
  events: readonly LogEvent[],
  query: string,
  limit: number = DEFAULT_ROWS,
): readonly LogRow[] {
  const commands = query.split('|').map((command) => command.trim());
  const shown = namesShown(commands);
  const steps = commands.map(toStep);
  const rows = steps.reduce<readonly LogRow[]>((rest, step) => step(rest), events.map(toRow));
  return rows.slice(0, limit).map((row) => pick(row, shown));
}

/** Time as Insights writes it: `2026-03-02 09:00:00.000`. */
function toRow({ eventId, timestamp, message }: LogEvent): LogRow {
  const own = {
    '@ptr': eventId,
    '@timestamp': timeText(timestamp),
    '@message': message,
  };
  return { ...discovered(message), ...own };
}

const timeText = (at: number): string => new Date(at).toISOString().replace('T', ' ').replace('Z', '');
const timeOf = (row: LogRow | undefined): number => Date.parse(`${row?.['@timestamp']?.replace(' ', 'T')}Z`);

/** The last `stats` says what is shown, else `display`, else the names of `fields`, and the row's pointer. */
function namesShown(commands: readonly string[]): readonly string[] {
  const stats = commands.findLast((command) => command.startsWith('stats '));
  if (stats !== undefined) return columnsOf(stats).map(({ name }) => name);
  const displayed = commands.flatMap((command) => namesAfter('display', command));
  if (displayed.length > 0) return [...displayed, '@ptr'];
  const named = commands.flatMap((command) =>
    fieldsIn(command).flatMap(({ name, from }) => (from ? [] : [name])),
  );
  return [...named, '@ptr'];
}

/** The fields of a JSON text; nested ones with dots. Insights writes booleans as 1 and 0. */
function discovered(message: string, prefix = ''): LogRow {
  const found: Record<string, string> = {};
  const visit = (value: unknown, path: string): void => {
    if (value === null || value === undefined) return;
    if (typeof value === 'object')
      for (const [key, item] of Object.entries(value)) visit(item, path === '' ? key : `${path}.${key}`);
    else if (path !== '') found[path] = typeof value === 'boolean' ? `${Number(value)}` : String(value);
  };
  visit(parseQuietly(message), prefix);
  return found;
}

function toStep(command: string): Step {
  if (command.startsWith('filter ')) {
    const conditions = command.slice('filter '.length).split(/ and /).map(toCondition);
    return (rows) => rows.filter((row) => conditions.every((isMet) => isMet(row)));
  }
  if (command.startsWith('display ')) return (rows) => rows;
  if (command.startsWith('fields ')) {
    const made = fieldsIn(command).filter(({ from }) => from !== undefined);
    return (rows) => (made.length === 0 ? rows : rows.map((row) => made.reduce(withField, row)));
  }
  if (command.startsWith('stats ')) return grouped(command);
  const [, list, item] = /^unnest ([\w.]+) into (\w+)$/.exec(command) ?? [];
  if (list !== undefined && item !== undefined)
    return (rows) => rows.flatMap((row) => unnested(row, list, item));
  const dedup = namesAfter('dedup', command);
  if (dedup.length > 0) return (rows) => deduplicated(rows, dedup);
  const limit = /^limit (\d+)$/.exec(command)?.[1];
  if (limit !== undefined) return (rows) => rows.slice(0, Number(limit));
  if (!command.startsWith('sort ')) throw malformed(command);
  const keys = command.slice('sort '.length).split(',').map(toSortKey);
  return (rows) => rows.toSorted((a, b) => keys.reduce((order, key) => order || key(a, b), 0));
}

type MadeField = { readonly name: string; readonly from?: { readonly call: string; readonly field: string } };

/** `a, jsonParse(b) as c, coalesce(d, 0) as e`. */
function fieldsIn(command: string): readonly MadeField[] {
  if (!command.startsWith('fields ')) return [];
  return command
    .slice('fields '.length)
    .split(/,(?![^(]*\))/)
    .map((text) => {
      const made = /^(?<call>jsonParse|coalesce)\((?<field>@?[\w.]+)(?:, 0)?\) as (?<name>\w+)$/.exec(
        text.trim(),
      );
      const { call = '', field = '', name = '' } = made?.groups ?? {};
      if (made !== null) return { name, from: { call, field } };
      if (!/^@?[\w.]+$/.test(text.trim())) throw malformed(command);
      return { name: text.trim() };
    });
}

function withField(row: LogRow, { name, from }: MadeField): LogRow {
  const value = row[from?.field ?? name];
  return from?.call === 'jsonParse'
    ? { ...row, ...discovered(value ?? '', name) }
    : { ...row, [name]: value ?? '0' };
}

/** A row for each item of a list, whose fields are called `list.0`, `list.1.name` and so on. */
function unnested(row: LogRow, list: string, item: string): readonly LogRow[] {
  const entries = Object.entries(row);
  const own = entries.filter(([field]) => field.startsWith(`${list}.`));
  const rest = Object.fromEntries(entries.filter(([field]) => !field.startsWith(`${list}.`)));
  const items = Map.groupBy(own, ([field]) => field.slice(list.length + 1).split('.', 1)[0]);
  return [...items].map(([index, fields]) => ({
    ...rest,
    ...Object.fromEntries(
      fields.map(([field, value]) => [item + field.slice(`${list}.${index}`.length), value]),
    ),
  }));
}

type Column = { readonly name: string; readonly of: (rows: readonly LogRow[]) => string | undefined };

const AGGREGATES: Readonly<Record<string, (values: readonly string[]) => string | number | undefined>> = {
  count: (values) => values.length,
  sum: (values) => total(values),
  avg: (values) => total(values) / values.length,
  min: (values) => values.toSorted(byValue)[0],
  max: (values) => values.toSorted(byValue).at(-1),
  // the newest event comes first
  latest: (values) => values[0],
};

const total = (values: readonly string[]): number => values.reduce((sum, value) => sum + Number(value), 0);

/** What a `stats` shows: what it groups by, then its figures. */
function columnsOf(command: string): readonly Column[] {
  const { figures = '', by = '' } = /^stats (?<figures>.+?)(?: by (?<by>.+))?$/.exec(command)?.groups ?? {};
  return [...(by === '' ? [] : by.split(', ').map(groupColumn)), ...figures.split(', ').map(figureColumn)];
}

function figureColumn(text: string): Column {
  const {
    call = '',
    field = '',
    divisor = '1',
    name = text,
  } = /^(?<call>\w+)\((?<field>\*|@?[\w.]+)\)(?: \/ (?<divisor>\d+))?(?: as (?<name>\w+))?$/.exec(text)
    ?.groups ?? {};
  const aggregate = AGGREGATES[call];
  if (aggregate === undefined) throw malformed(text);
  return {
    name,
    of: (rows) => {
      const values = rows.flatMap((row) => (field === '*' ? [''] : (row[field] ?? [])));
      const value = values.length === 0 && field !== '*' ? undefined : aggregate(values);
      return typeof value === 'number' ? `${value / Number(divisor)}` : value;
    },
  };
}

const BIN_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000 };

/** `pool.name as name`, `id`, `bin(5m) as since`. */
function groupColumn(text: string): Column {
  const [, count, unit = '', bin] = /^bin\((\d+)([mh])\) as (\w+)$/.exec(text) ?? [];
  if (bin !== undefined) {
    const ms = Number(count) * (BIN_MS[unit] ?? 1);
    return { name: bin, of: ([row]) => timeText(Math.floor(timeOf(row) / ms) * ms) };
  }
  const [, field = '', name = field] = /^([\w.]+)(?: as (\w+))?$/.exec(text) ?? [];
  if (field === '') throw malformed(text);
  return { name, of: ([row]) => row?.[field] };
}

function grouped(command: string): Step {
  const columns = columnsOf(command);
  const by = / by (.+)$/.exec(command)?.[1]?.split(', ').map(groupColumn) ?? [];
  return (rows) => {
    const groups = Map.groupBy(rows, (row) => JSON.stringify(by.map(({ of }) => of([row]))));
    return [...groups.values()].map((group) =>
      Object.fromEntries(columns.flatMap(({ name, of }) => [[name, of(group)]].filter(isTold))),
    );
  };
}

const isTold = (entry: (string | undefined)[]): entry is [string, string] => entry[1] !== undefined;

function namesAfter(word: string, command: string): readonly string[] {
  if (!command.startsWith(`${word} `)) return [];
  const names = command.slice(word.length + 1).split(',');
  return names.map((name) => {
    if (!/^@?[\w.]+$/.test(name.trim())) throw malformed(command);
    return name.trim();
  });
}

const CONDITION = /^(@?[\w.]+(?: \+ [\w.]+)*) (=|!=|<=|>=|<|>|like|in) ("[^"]*"|-?[\d.]+|\["[^\]]*"\])$/;

function toCondition(text: string): (row: LogRow) => boolean {
  const present = /^ispresent\((@?[\w.]+)\)$/.exec(text.trim())?.[1];
  if (present !== undefined) return (row) => row[present] !== undefined;
  const [, field, operator, literal] = CONDITION.exec(text.trim()) ?? [];
  if (field === undefined || operator === undefined || literal === undefined) throw malformed(text);
  const value: unknown = JSON.parse(literal);
  const fields = field.split(' + ');
  if (fields.length > 1)
    return (row) => compares(`${total(fields.map((name) => row[name] ?? '0'))}`, operator, value);
  return (row) => compares(row[field], operator, value);
}

function compares(seen: string | undefined, operator: string, value: unknown): boolean {
  if (seen === undefined) return operator === '!=';
  if (operator === 'in') return Array.isArray(value) && value.includes(seen);
  if (operator === 'like') return seen.includes(String(value));
  const difference = typeof value === 'number' ? Number(seen) - value : seen.localeCompare(String(value));
  if (operator === '=') return difference === 0;
  if (operator === '!=') return difference !== 0;
  if (operator === '<' || operator === '<=') return difference < 0 || (operator === '<=' && difference === 0);
  return difference > 0 || (operator === '>=' && difference === 0);
}

function deduplicated(rows: readonly LogRow[], fields: readonly string[]): readonly LogRow[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = JSON.stringify(fields.map((field) => row[field]));
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function toSortKey(text: string): (one: LogRow, other: LogRow) => number {
  const [, field, order] = /^(@?[\w.]+)(?: (asc|desc))?$/.exec(text.trim()) ?? [];
  if (field === undefined) throw malformed(text);
  const sign = order === 'asc' ? 1 : -1;
  return (one, other) => sign * byValue(one[field], other[field]);
}

function byValue(a = '', b = ''): number {
  const [x, y] = [Number(a), Number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
}

function pick(row: LogRow, fields: readonly string[]): LogRow {
  const shown = fields.length === 0 ? ['@timestamp', '@message'] : fields;
  return Object.fromEntries(
    shown.flatMap((field) => (row[field] === undefined ? [] : [[field, row[field]]])),
  );
}

function malformed(command: string): AwsError {
  return new AwsError('MalformedQueryException', `unexpected symbol found in "${command}"`);
}
