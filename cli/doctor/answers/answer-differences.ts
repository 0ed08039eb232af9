/** Compares an answer of coderd with recorded ones of tested releases, as far as the product needs it. */
import * as z from 'zod';
import { refusalOf } from '../../../lambda/adapters/coderd/http/answer.ts';
import { isRowsSchema, type Rows, readingOfRows } from '../../../lambda/adapters/shared/rows.ts';
import { describeSchemaMismatch } from '../../../lambda/adapters/shared/schema-mismatch.ts';
import { compareVersion } from '../../../lambda/decision/model/version.ts';
import type { DeepQuestion } from './read-only-steps.ts';
import type { Transcript } from './recordings.ts';

/** An answer of coderd. `body` is undefined if it is not JSON. */
export type JsonAnswer = { readonly status: number; readonly body: unknown };

export type Verdict =
  /** `isEmpty`: the answer is a list without items, so there was nothing to compare. */
  | { readonly kind: 'same'; readonly isEmpty?: boolean }
  /** The token's user has no right to read it. */
  | { readonly kind: 'forbidden' }
  /** `isUnreadable`: the product cannot read the answer. */
  | {
      readonly kind: 'differs';
      readonly isUnreadable: boolean;
      readonly said: string;
      readonly tested: string;
    };

const SAME: Verdict = { kind: 'same' };

export type Tested = { readonly transcripts: readonly Transcript[]; readonly version: string };

/** Fields that came after the oldest supported release (docs/internals/coder.md §12). */
const SINCE: ReadonlyMap<string, string> = new Map([
  ['workspaces.latest_build.template_version_preset_id', '2.22'],
  ['workspaces.is_prebuild', '2.25'],
]);

/** An answer that one of the releases gives does not differ; else the difference from the first one. */
export function compareWithAll(
  question: DeepQuestion,
  answer: JsonAnswer,
  { transcripts, version }: Tested,
): Verdict {
  const verdicts = transcripts.map(({ entries }) => compareAnswer(question, answer, { entries, version }));
  return verdicts.find(({ kind }) => kind !== 'differs') ?? verdicts[0] ?? SAME;
}

function compareAnswer(
  question: DeepQuestion,
  answer: JsonAnswer,
  { entries, version }: Pick<Transcript, 'entries'> & Pick<Tested, 'version'>,
): Verdict {
  const entry = entries.find(({ step }) => step === question.step);
  if (entry === undefined || !('asked' in entry)) return SAME;
  if (isForbidden(answer, entry)) return { kind: 'forbidden' };
  const { schema } = question;
  if (answer.status === 200 && entry.status === 200)
    return compareReading({ schema, answer, samples: samplesOf(question, entries), version });
  return answer.status === entry.status
    ? SAME
    : { kind: 'differs', isUnreadable: false, said: describe(answer), tested: `${entry.status}` };
}

/** coderd answers 403 or 404 without the right to read. A proxy's answer in another form is not coderd's. */
function isForbidden({ status, body }: JsonAnswer, expected: JsonAnswer): boolean {
  const isRefused = refusalOf(status) === 'not-found' && status !== expected.status;
  return isRefused && refusal.safeParse(body).success;
}

const refusal = z.object({ message: z.string() });

function describe({ status, body }: JsonAnswer): string {
  const { message } = refusal.safeParse(body).data ?? {};
  if (message !== undefined) return `${status} ${JSON.stringify(message.slice(0, 200))}`;
  return `${status} ${body === undefined ? 'without JSON' : 'with a document'}`;
}

type ReadingAnswer = {
  readonly schema: z.ZodType;
  readonly answer: JsonAnswer;
  /** Answers of the tested release at the same path. */
  readonly samples: readonly unknown[];
  readonly version: string;
};

function compareReading({ schema, answer, samples, version }: ReadingAnswer): Verdict {
  const rowsIn = (body: unknown) => (isRowsSchema(schema) ? listIn(body) : body);
  const tested = '200 with what the product reads';
  const misfit = misfitOf(schema, answer.body);
  if (answer.body === undefined)
    return { kind: 'differs', isUnreadable: true, said: describe(answer), tested };
  if (misfit !== undefined)
    return { kind: 'differs', isUnreadable: true, said: `200 with another shape, ${misfit}`, tested };
  const missing = fieldsRead(schema).filter(
    (field) =>
      !isLater(field, version) &&
      share(samples.map(rowsIn), field) === 'all' &&
      share([rowsIn(answer.body)], field) === 'none',
  );
  if (missing.length === 0) return { kind: 'same', isEmpty: isEmptyList(answer.body) };
  const names = missing.map((field) => field.join('.')).join(', ');
  return { kind: 'differs', isUnreadable: false, said: `200 without ${names}`, tested: `200 with ${names}` };
}

/** What of the answer cannot be read. A row that the product leaves out counts; one that was not asked for does not. */
function misfitOf(schema: z.ZodType, body: unknown): string | undefined {
  const { data, error } = schema.safeParse(body);
  if (error !== undefined) return describeSchemaMismatch(error, body);
  const lists = isRowsSchema(schema) ? [data] : Object.values(data ?? {}).filter(areRows);
  const asked = lists.map((rows) => ({ ...(rows as Rows<unknown>), incomplete: undefined }));
  return asked.flatMap((rows) => readingOfRows('the list', rows).error ?? [])[0];
}

function areRows(value: unknown): value is Rows<unknown> {
  return isObject(value) && Array.isArray(value.items) && Array.isArray(value.leftOut);
}

function isLater(field: Field, version: string): boolean {
  const since = SINCE.get(field.join('.'));
  return since !== undefined && (compareVersion(version, since) ?? 0) < 0;
}

/** Whether the body is an empty list, or a page with an empty list. */
function isEmptyList(body: unknown): boolean {
  const list = listIn(body);
  return Array.isArray(list) && list.length === 0;
}

/** The list of a page, or the body itself. */
function listIn(body: unknown): unknown {
  return isObject(body) ? Object.values(body).find(Array.isArray) : body;
}

/** The recorded answers at this path, for any user and any parameters. */
function samplesOf({ step, path, body }: DeepQuestion, entries: Transcript['entries']): readonly unknown[] {
  const pattern = patternOf(path);
  return entries.flatMap((entry) => {
    if (!('asked' in entry) || entry.status !== 200) return [];
    // If the question has a body, the answer depends on it.
    if (body !== undefined && entry.step !== step) return [];
    const [, asked] = /^\w+ (.*?)(?:\?.*)? as \S+$/.exec(entry.asked) ?? [];
    return patternOf(asked ?? '') === pattern ? [entry.body] : [];
  });
}

const patternOf = (path: string): string => path.replaceAll(/\{[^}]*\}/g, '{}');

type Field = readonly string[];

/** The paths of all fields that a schema names. Lists are not a step of a path. */
function fieldsRead(schema: z.ZodType): readonly Field[] {
  return [...fieldsOf(documentOf(schema))];
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** With the fields of each row: the schema of a list alone takes rows of any kind. */
function documentOf(schema: z.core.$ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    ...{ io: 'input', unrepresentable: 'any' },
    override: ({ zodSchema, jsonSchema }) => {
      if (isRowsSchema(zodSchema)) jsonSchema.items = documentOf(zodSchema.row);
    },
  });
}

function* fieldsOf(schema: z.core.JSONSchema._JSONSchema, path: Field = []): Iterable<Field> {
  if (typeof schema === 'boolean') return;
  const { properties = {}, items, anyOf = [] }: JsonSchema = schema;
  for (const part of [...anyOf, items ?? true].flat()) yield* fieldsOf(part, path);
  for (const [name, part] of Object.entries(properties)) {
    yield [...path, name];
    yield* fieldsOf(part, [...path, name]);
  }
}

/** How many of the objects that can have the field have it, with a value or null. */
function share(documents: readonly unknown[], field: Field): 'all' | 'some' | 'none' | undefined {
  const name = field.at(-1) ?? '';
  const objects = field
    .slice(0, -1)
    .reduce((found, step) => objectsIn(found.map((object) => object[step])), objectsIn(documents));
  if (objects.length === 0) return undefined;
  const having = objects.filter((object) => object[name] !== undefined).length;
  if (having === 0) return 'none';
  return having === objects.length ? 'all' : 'some';
}

type Fields = Readonly<Record<string, unknown>>;

function objectsIn(values: readonly unknown[]): readonly Fields[] {
  return values.flat().filter(isObject);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
