/**
 * A mapping whose names are words of others: tags, variables, ids. zod's own record drops the name `__proto__`,
 * which coderd, JSON and YAML allow: a job with this tag would read as one without tags.
 */
import * as z from 'zod';

/** As `z.record`, and with the entry `__proto__`. */
export function mapping<Name extends z.ZodString, Value extends z.ZodType>(
  names: Name,
  values: Value,
  error?: string,
): z.ZodRecord<Name, Value> {
  const own = error === undefined ? {} : { error: () => error };
  return new Mapping({ type: 'record', keyType: names, valueType: values, ...own }) as z.ZodRecord<
    Name,
    Value
  >;
}

type Definition = z.core.$ZodRecordDef<z.ZodString, z.ZodType>;

const ZodRecord: z.core.$constructor<z.ZodRecord, z.core.$ZodRecordDef> = z.ZodRecord;

const Mapping: z.core.$constructor<z.ZodRecord<z.ZodString, z.ZodType>, Definition> = z.core.$constructor(
  'Mapping',
  (schema, definition) => {
    ZodRecord.init(schema, definition);
    const { parse } = schema._zod;
    schema._zod.parse = (payload, context) => {
      const given = payload.value;
      const parsed = parse(payload, context);
      // a record that is none keeps its value
      if (parsed instanceof Promise || parsed.value === given || !hasProto(given)) return parsed;
      const { keyType, valueType } = definition;
      const name = keyType.safeParse(PROTO);
      const value = valueType._zod.run({ value: given[PROTO], issues: [] }, context);
      if (value instanceof Promise) throw new z.core.$ZodAsyncError();
      if (!name.success) {
        const wrong = { code: 'invalid_key', origin: 'record', issues: name.error.issues } as const;
        parsed.issues.push({ ...wrong, input: PROTO, path: [PROTO], inst: schema });
      }
      parsed.issues.push(...z.core.util.prefixIssues(PROTO, value.issues));
      parsed.value = Object.fromEntries([...Object.entries(Object(parsed.value)), [PROTO, value.value]]);
      return parsed;
    };
  },
);

const PROTO = '__proto__';

function hasProto(given: unknown): given is { readonly [PROTO]: unknown } {
  return typeof given === 'object' && given !== null && Object.hasOwn(given, PROTO);
}
