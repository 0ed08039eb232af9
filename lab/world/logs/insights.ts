/**
 * The part of the query language of CloudWatch Logs Insights that the command line uses (CloudWatch Logs User
 * Guide, "Supported commands"): `fields`, `filter` and `sort`, joined by `|`. A filter compares a field with a text
 * or a list of texts; `and` joins conditions. Insights finds the fields of lines that are JSON objects by itself.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';
import { AwsError } from '../base/aws-service.ts';

export type LogEvent = { readonly eventId: string; readonly timestamp: EpochMs; readonly message: string };

export type LogRow = Readonly<Record<string, string>>;

type Step = (rows: readonly LogRow[]) => readonly LogRow[];

const DEFAULT_ROWS = 10_000;

/** The rows of a query, as texts: the fields that it names and the row's pointer. Throws AwsError. */
export function runInsights(
  events: readonly LogEvent[],
  query: string,
  limit: number = DEFAULT_ROWS,
): readonly LogRow[] {
  const commands = query.split('|').map((command) => command.trim());
  const shown = [...commands.flatMap(fieldsIn), '@ptr'];
  const rows = commands.map(toStep).reduce<readonly LogRow[]>((rest, step) => step(rest), events.map(toRow));
  return rows.slice(0, limit).map((row) => pick(row, shown));
}

/** Time as Insights writes it: `2026-03-02 09:00:00.000`. */
function toRow({ eventId, timestamp, message }: LogEvent): LogRow {
  const time = new Date(timestamp).toISOString().replace('T', ' ').replace('Z', '');
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
  if (command.startsWith('fields ')) return (rows) => rows;
  if (command.startsWith('filter ')) {
    const conditions = command.slice('filter '.length).split(/ and /).map(toCondition);
    return (rows) => rows.filter((row) => conditions.every((isMet) => isMet(row)));
  }
  const [, field, order] = /^sort (@?[\w.]+) (asc|desc)$/.exec(command) ?? [];
  if (field === undefined) throw malformed(command);
  const sign = order === 'asc' ? 1 : -1;
  return (rows) => rows.toSorted((a, b) => sign * (a[field] ?? '').localeCompare(b[field] ?? ''));
}

function fieldsIn(command: string): readonly string[] {
  if (!command.startsWith('fields ')) return [];
  const names = command.slice('fields '.length).split(', ');
  if (!names.every((name) => /^@?[\w.]+$/.test(name))) throw malformed(command);
  return names;
}

function toCondition(text: string): (row: LogRow) => boolean {
  const [, field = '', literal] = /^(@?[\w.]+) (?:=|in) ("[^"]*"|\["[^\]]*"\])$/.exec(text.trim()) ?? [];
  if (literal === undefined) throw malformed(text);
  const wanted: readonly unknown[] = [JSON.parse(literal)].flat();
  return (row) => wanted.includes(row[field]);
}

function pick(row: LogRow, fields: readonly string[]): LogRow {
  return Object.fromEntries(
    fields.flatMap((field) => (row[field] === undefined ? [] : [[field, row[field]]])),
  );
}

function malformed(command: string): AwsError {
  return new AwsError('MalformedQueryException', `unexpected symbol found in "${command}"`);
}
