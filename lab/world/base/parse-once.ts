/** Parses each object of a list only once (lab/world/base/kept-rows.ts). */
import * as z from 'zod';
import { isRowsSchema } from '../../../lambda/adapters/shared/rows.ts';

const parsed = new WeakMap<z.ZodType, WeakMap<object, unknown>>();

export function parseOnce<T extends z.ZodType>(schema: T, value: unknown): z.ZodSafeParseResult<z.output<T>> {
  const data = remembered(schema, value);
  return data === undefined ? schema.safeParse(value) : { success: true, data: data as z.output<T> };
}

/** Undefined if the value has no lists, or something in it does not fit. */
function remembered(schema: z.ZodType, value: unknown): unknown {
  if (isRowsSchema(schema) && Array.isArray(value)) {
    const items = itemsOf(schema.row, value);
    return items && { items, leftOut: [] };
  }
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return itemsOf(schema.element as z.ZodType, value);
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return undefined;
  if (!Object.values(value).some(Array.isArray)) return undefined;
  const fields = Object.entries(schema.shape).map(([name, field]) => {
    const given: unknown = (value as Record<string, unknown>)[name];
    return [name, remembered(field, given) ?? field.safeParse(given).data] as const;
  });
  return fields.some(([, field]) => field === undefined) ? undefined : Object.fromEntries(fields);
}

function itemsOf(schema: z.ZodType, items: readonly unknown[]): readonly unknown[] | undefined {
  const known = parsed.get(schema) ?? new WeakMap<object, unknown>();
  parsed.set(schema, known);
  const found: unknown[] = [];
  for (const item of items) {
    if (typeof item !== 'object' || item === null) return undefined;
    let data = known.get(item);
    if (data === undefined) {
      data = schema.safeParse(item).data;
      if (data === undefined) return undefined;
      known.set(item, data);
    }
    found.push(data);
  }
  return found;
}
