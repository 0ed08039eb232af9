/**
 * The part of the query language of CloudWatch Logs Insights that the command line uses (CloudWatch
 * Logs User Guide, "Supported commands"): `fields`, `filter`, `sort`, `dedup` and `limit`, joined
 * by `|`. A filter compares a field with a text or a number, or says `ispresent(field)`; `and` joins
 * conditions. Insights finds the fields of lines that are JSON objects by itself.
 */
import { parseQuietly } from '../../lambda/decision/model/parse-quietly.ts';
import { AwsError } from '../base/aws-service.ts';
import type { LogEvent, LogRow } from './model.ts';

type Step = (rows: readonly LogRow[]) => readonly LogRow[];

const DEFAULT_ROWS = 10_000;

/** The rows of a query, as texts. Throws AwsError for what it does not know. */
export function runInsights(
  events: readonly LogEvent[],
  query: string,
  limit: number = DEFAULT_ROWS,
): readonly LogRow[] {
  const commands = query.split('|').map((command) => command.trim());
  const shown = commands.flatMap((command) => namesAfter('fields', command));
  const steps = commands.map(toStep);
  const rows = steps.reduce<readonly LogRow[]>((rest, step) => step(rest), events.map(toRow));
  return rows.slice(0, limit).map((row) => pick(row, shown));
}

/** Time as Insights writes it: `2026-03-02 09:00:00.000`. */
function toRow({ timestamp, message }: LogEvent): LogRow {
  const own = {
    '@timestamp': new Date(timestamp).toISOString().replace('T', ' ').replace('Z', ''),
    '@message': message,
  };
  return { ...discovered(message), ...own };
}

/** The fields of a JSON line; nested ones with dots. Insights writes booleans as 1 and 0. */
function discovered(message: string): LogRow {
  const found: Record<string, string> = {};
  const visit = (value: unknown, path: string): void => {
    if (value === null || value === undefined) return;
    if (typeof value === 'object')
      for (const [key, item] of Object.entries(value)) visit(item, path === '' ? key : `${path}.${key}`);
    else if (path !== '') found[path] = typeof value === 'boolean' ? `${Number(value)}` : String(value);
  };
  visit(parseQuietly(message), '');
  return found;
}

function toStep(command: string): Step {
  if (command.startsWith('filter ')) {
    const conditions = command.slice('filter '.length).split(/ and /).map(toCondition);
    return (rows) => rows.filter((row) => conditions.every((isMet) => isMet(row)));
  }
  if (command.startsWith('fields ')) return (rows) => rows;
  const dedup = namesAfter('dedup', command);
  if (dedup.length > 0) return (rows) => deduplicated(rows, dedup);
  const limit = /^limit (\d+)$/.exec(command)?.[1];
  if (limit !== undefined) return (rows) => rows.slice(0, Number(limit));
  const [, field, order] = /^sort (@?[\w.]+)(?: (asc|desc))?$/.exec(command) ?? [];
  if (field === undefined) throw malformed(command);
  return (rows) => sorted(rows, field, order === 'asc' ? 1 : -1);
}

function namesAfter(word: string, command: string): readonly string[] {
  if (!command.startsWith(`${word} `)) return [];
  const names = command.slice(word.length + 1).split(',');
  return names.map((name) => {
    if (!/^@?[\w.]+$/.test(name.trim())) throw malformed(command);
    return name.trim();
  });
}

const CONDITION = /^(@?[\w.]+) (=|!=|<=|>=|<|>|like|in) ("[^"]*"|-?[\d.]+|\["[^\]]*"\])$/;

function toCondition(text: string): (row: LogRow) => boolean {
  const present = /^ispresent\((@?[\w.]+)\)$/.exec(text.trim())?.[1];
  if (present !== undefined) return (row) => row[present] !== undefined;
  const [, field, operator, literal] = CONDITION.exec(text.trim()) ?? [];
  if (field === undefined || operator === undefined || literal === undefined) throw malformed(text);
  const value: unknown = JSON.parse(literal);
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

function sorted(rows: readonly LogRow[], field: string, sign: 1 | -1): readonly LogRow[] {
  return rows.toSorted((one, other) => {
    const [a = '', b = ''] = [one[field], other[field]];
    const [x, y] = [Number(a), Number(b)];
    return sign * (Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y);
  });
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
