/** The rows of a list, each by itself: one that cannot be read is left out, counted and named. */
import * as z from 'zod';
import type { LeftOutRow, Reading } from '../../decision/model/snapshot.ts';
import { describeSchemaMismatch } from './schema-mismatch.ts';

export type Rows<T> = { readonly items: readonly T[]; readonly leftOut: readonly LeftOutRow[] };

/** What the row belongs to, as far as it can be read. */
type OwnerOf = (row: unknown) => string | undefined;

/** The schemas that `rowsOf` made, with that of one row. */
export const rowSchemas = new WeakMap<z.ZodType, z.ZodType>();

/** A list. It does not fit if it has rows and none can be read: then their format has changed. */
export function rowsOf<T extends z.ZodType>(row: T, ownerOf: OwnerOf = () => undefined) {
  const list = z.array(row);
  const schema = z.array(z.unknown()).transform((values, context): Rows<z.output<T>> => {
    const whole = list.safeParse(values);
    if (whole.success) return { items: whole.data, leftOut: [] };
    const rows = readEach(row, values, ownerOf);
    if (rows.items.length === 0)
      for (const { path, message } of whole.error.issues)
        context.issues.push({ code: 'custom', path: [...path], message, input: values });
    return rows;
  });
  rowSchemas.set(schema, row);
  return schema;
}

function readEach<T extends z.ZodType>(
  row: T,
  values: readonly unknown[],
  ownerOf: OwnerOf,
): Rows<z.output<T>> {
  const [items, leftOut]: [z.output<T>[], LeftOutRow[]] = [[], []];
  for (const value of values) {
    const { data, error } = row.safeParse(value);
    if (error === undefined) items.push(data);
    else leftOut.push({ row: nameOf(value), why: describeSchemaMismatch(error, value), of: ownerOf(value) });
  }
  return { items, leftOut };
}

const NAMES = ['name', 'id', 'serviceArn', 'taskArn', 'user_id', 'Name', 'ARN'];

function nameOf(row: unknown): string {
  return NAMES.map((field) => textAt(row, field)).find((text) => text !== undefined) ?? 'without a name';
}

/** A field of a row, if it is a text. */
export function textAt(row: unknown, field: string): string | undefined {
  const value: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, field) : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Of several parts of one list. */
export function joinRows<T>(parts: readonly Rows<T>[]): Rows<T> {
  return { items: parts.flatMap(({ items }) => items), leftOut: parts.flatMap(({ leftOut }) => leftOut) };
}

const MOST_NAMED = 3;

/** `truncated` if rows are left out, so that nothing is concluded from their absence. */
export function readingOfRows<T>(what: string, { items, leftOut }: Rows<T>): Reading<T> {
  if (leftOut.length === 0) return { status: 'ok', items };
  const named = leftOut.slice(0, MOST_NAMED).map(({ row, why }) => `${JSON.stringify(row)} (${why})`);
  const more = leftOut.length > MOST_NAMED ? `, and ${leftOut.length - MOST_NAMED} more` : '';
  const all = items.length + leftOut.length;
  const error = `${what}: ${leftOut.length} of ${all} rows cannot be read and ${leftOut.length === 1 ? 'is' : 'are'} left out: ${named.join(', ')}${more}`;
  return { status: 'truncated', error, items, leftOut };
}
