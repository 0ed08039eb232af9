/** Checks the lines of a trace against the format of docs/backtest.md. Unknown fields are ignored. */
import * as z from 'zod';
import { shownPath } from '../../../lambda/config/problems/problems.ts';
import { type Path, shown } from '../../../lambda/config/problems/shown.ts';
import { nearestName, timeZoneProblem } from '../../../lambda/config/schema/names.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { mapping } from '../../../lambda/shared/mapping.ts';
import type { LineProblem } from './problems.ts';
import { JOB_KINDS, TRANSITIONS } from './trace.ts';

/** Also the message for a line that is not JSON. */
export const OBJECT = 'expected one JSON object per line';

/** A longer one is probably in the wrong unit: builds take minutes, and the guard's lease covers 17 h. */
export const LONGEST_S = 86_400;

const TIME = 'expected a time with a time zone, such as 2026-03-02T09:00:00Z';
const SECONDS = `expected seconds from 0 to ${LONGEST_S} (one day)`;
/** A world begins a quarter of an hour before the period of the trace. Fargate never takes that long. */
const LONGEST_START_S = 900;
const START = `expected two numbers of seconds up to ${LONGEST_START_S}, shortest and longest, such as [30, 70]`;
const NAME = 'expected a name';
const TRANSITION = `expected one of ${TRANSITIONS.join(', ')}`;
const KIND = `expected one of ${JOB_KINDS.join(', ')}`;

const time = z.iso.datetime({ offset: true, error: TIME }).transform((text) => Date.parse(text) as EpochMs);
const seconds = z.number({ error: SECONDS }).min(0, SECONDS).max(LONGEST_S, SECONDS);
const name = z.string({ error: NAME }).min(1, NAME);

export const jobSchema = z.object(
  {
    id: z.string({ error: 'expected a string' }).optional(),
    at: time,
    organization: name,
    tags: mapping(
      z.string(),
      z.string({ error: 'expected a string' }),
      'expected tag names with values, such as {"size":"large"}; write {} for an untagged job',
    ),
    seconds,
    kind: z.enum(JOB_KINDS, { error: KIND }),
    workspace: z.string({ error: 'expected a string' }).min(1, NAME).optional(),
    transition: z.enum(TRANSITIONS, { error: TRANSITION }).optional(),
  },
  { error: OBJECT },
);

const startSecond = z.number({ error: START }).min(0, START).max(LONGEST_START_S, START);

const headerSchema = z.object({
  trace: z.literal(1, { error: 'expected 1, the version of the format' }),
  name: name.optional(),
  from: time.optional(),
  to: time.optional(),
  timezone: name.optional(),
  startSeconds: z
    .tuple([startSecond, startSecond], { error: START })
    .refine(([from, to]) => from <= to, START)
    .optional(),
  outages: z
    .array(z.object({ at: time, seconds }, { error: 'expected {"at":…,"seconds":…}' }), {
      error: 'expected a list of outages: [{"at":"2026-03-02T09:00:00Z","seconds":600}]',
    })
    .optional(),
});
export type Header = z.output<typeof headerSchema>;

export type Checked<T> =
  | { readonly value: T; readonly problems?: never }
  | { readonly problems: readonly LineProblem[] };

/** Checks a line against a schema. Returns at most one problem for each field. */
export function check<T>(schema: z.ZodType<T>, value: unknown, line: number): Checked<T> {
  const result = schema.safeParse(value);
  if (result.success) return { value: result.data };
  const problems = new Map<string, LineProblem>();
  for (const { path: steps, message } of result.error.issues) {
    const path = steps.filter((step) => typeof step !== 'symbol');
    const key = shownPath(path);
    if (!problems.has(key)) problems.set(key, { line, path: key, message: explain(message, path, value) });
  }
  return { problems: [...problems.values()] };
}

export function checkHeader(value: unknown, line: number): Checked<Header> {
  const checked = check(headerSchema, value, line);
  if (checked.problems) return checked;
  const { from, to, timezone } = checked.value;
  const zone = timezone === undefined ? undefined : timeZoneProblem(timezone);
  const problems: LineProblem[] = [];
  if (zone !== undefined)
    problems.push({ line, path: 'timezone', message: `${shown(timezone, [])} ${zone}` });
  if (from !== undefined && to !== undefined && from >= to)
    problems.push({ line, path: 'to', message: 'expected a time after "from"' });
  return problems.length > 0 ? { problems } : checked;
}

function explain(message: string, path: Path, value: unknown): string {
  const seen = path.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined),
    value,
  );
  if (seen === undefined) return `missing; ${message}`;
  return `${message}, got ${seenText(message, seen, path)}${hint(message, seen)}`;
}

function seenText(message: string, seen: unknown, path: Path): string {
  const isNumbers = Array.isArray(seen) && seen.every((item) => typeof item === 'number');
  return message === START && isNumbers ? `[${seen.join(', ')}]` : shown(seen, path);
}

function hint(message: string, seen: unknown): string {
  switch (message) {
    case TIME:
      return typeof seen === 'string' && LOCAL_TIME.test(seen)
        ? '; the time zone is missing: append Z for UTC'
        : '';
    case SECONDS:
      if (typeof seen === 'string' && /^\d+(\.\d+)?$/.test(seen)) return '; remove the quotes';
      return typeof seen === 'number' && seen > LONGEST_S ? '; are these milliseconds?' : '';
    case KIND: {
      const near = typeof seen === 'string' ? nearestName(seen, JOB_KINDS) : undefined;
      return near === undefined ? '' : `; did you mean "${near}"?`;
    }
    case 'expected a string':
      return typeof seen === 'number' || typeof seen === 'boolean' ? '; put it in quotes' : '';
    default:
      return '';
  }
}

const LOCAL_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/;
