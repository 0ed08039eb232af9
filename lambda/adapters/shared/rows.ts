/** The rows of a list, each by itself: one that cannot be read is left out, counted and named. */
import * as z from 'zod';
import type { LeftOutRow, Reading } from '../../decision/model/snapshot.ts';
import { describeSchemaMismatch } from './schema-mismatch.ts';

export type Rows<T> = {
  readonly items: readonly T[];
  readonly leftOut: readonly LeftOutRow[];
  /** Why the list may lack further rows. */
  readonly incomplete?: string | undefined;
  /** Of a page: how many rows there are, as its sender says. */
  readonly count?: number | undefined;
};

/** What the row belongs to, as far as it can be read. */
type OwnerOf = (row: unknown) => string | undefined;

/** The schema of a list, and that of one row of it, which `doctor` looks for. A `z.union` of lists has lost it. */
export type RowsSchema<T> = z.ZodType<Rows<T>> & { readonly row: z.ZodType<T> };

export function isRowsSchema(schema: z.core.$ZodType): schema is RowsSchema<unknown> {
  return 'row' in schema;
}

/** A list. It does not fit if it has rows and none can be read: then their format has changed. */
export function rowsOf<T extends z.ZodType>(row: T, ownerOf: OwnerOf = () => undefined) {
  const list = z.array(row);
  const schema = z.array(z.unknown()).transform((values, context): Rows<z.output<T>> => {
    const whole = list.safeParse(values);
    if (whole.success) return { items: whole.data, leftOut: [] };
    const rows = readEach(row, values, ownerOf);
    if (rows.items.length === 0) context.issues.push(...issuesAt([], whole.error, values));
    return rows;
  });
  return Object.assign(schema, { row });
}

/** The issues of a part of an answer, as issues of the answer. */
export function issuesAt(path: readonly PropertyKey[], { issues }: z.ZodError, input: unknown) {
  return issues.map((issue) => ({
    ...{ code: 'custom' as const, message: issue.message, input },
    path: [...path, ...issue.path],
  }));
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
  const value = fieldOf(row, field);
  return typeof value === 'string' ? value : undefined;
}

export function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;
}

/** Of several parts of one list. */
export function joinRows<T>(parts: readonly Rows<T>[]): Rows<T> {
  return {
    items: parts.flatMap(({ items }) => items),
    leftOut: parts.flatMap(({ leftOut }) => leftOut),
    incomplete: parts.find(({ incomplete }) => incomplete !== undefined)?.incomplete,
  };
}

/** `truncated` if rows may be missing, so that nothing is concluded from their absence. */
export function readingOfRows<T>(what: string, rows: Rows<T>): Reading<T> {
  const { items, leftOut, incomplete } = rows;
  const why = [leftOut.length > 0 ? describeLeftOut(rows) : [], incomplete ?? []].flat();
  if (why.length === 0) return { status: 'ok', items };
  const error = `${what}: ${why.join('; ')}`;
  return { status: 'truncated', error, items, ...(leftOut.length > 0 && { leftOut }) };
}

const MOST_NAMED = 3;

function describeLeftOut({ items, leftOut }: Rows<unknown>): string {
  const named = leftOut.slice(0, MOST_NAMED).map(({ row, why }) => `${JSON.stringify(row)} (${why})`);
  const more = leftOut.length > MOST_NAMED ? `, and ${leftOut.length - MOST_NAMED} more` : '';
  const are = leftOut.length === 1 ? 'is' : 'are';
  return `${leftOut.length} of ${items.length + leftOut.length} rows cannot be read and ${are} left out: ${named.join(', ')}${more}`;
}
