import type * as z from 'zod';

/** The first three places: `[3].created_at: expected an RFC 3339 time, saw "yesterday"`. */
export function describeSchemaMismatch(error: z.ZodError, value: unknown): string {
  const places = error.issues.slice(0, 3).map((issue) => {
    const seen = showValue(valueAt(value, issue.path));
    return `${showPath(issue.path)}: ${expectation(issue.message)}, saw ${seen}`;
  });
  const more = error.issues.length - places.length;
  return places.join('; ') + (more > 0 ? `; and ${more} more` : '');
}

function expectation(message: string): string {
  return message.replace(/^Invalid input: /, '').replace(/, received .*$/, '');
}

function showPath(path: readonly PropertyKey[]): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  return text.replace(/^\./, '') || 'the whole answer';
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined),
    value,
  );
}

const LONGEST = 60;

function showValue(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null)
    return `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'nothing in it'}`;
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
