/** Derives the status of a reading and its error message from an answer of coderd. */
import type { EpochMs } from '../../../decision/model/brands.ts';
import { messageOf } from '../../../decision/model/message-of.ts';
import type { Reading } from '../../../decision/model/snapshot.ts';
import { type Rows, type RowsSchema, readingOfRows } from '../../shared/rows.ts';
import { CoderdError, type CoderdHttp, type Document } from './http.ts';

export type ReadingRequest = {
  /** The beginning of the error message: `listing workspaces`. */
  readonly what: string;
  /** The advice if coderd forbids it. */
  readonly role?: string | undefined;
  /** Number of items; 0 means all. */
  readonly limit?: number | undefined;
};

/** Runs one reading. Does not throw: an error becomes the status and the error message. */
export async function reading<T>(
  request: ReadingRequest,
  read: () => Promise<Document<Rows<T>>>,
): Promise<Reading<T>> {
  const limit = request.limit === undefined ? {} : { limit: request.limit };
  try {
    const { value, date } = await read();
    return { ...readingOfRows(request.what, value), ...limit, ...takenAt(date) };
  } catch (cause) {
    return { ...failure(request, cause), ...limit, items: [] };
  }
}

/** A client that reads documents. */
export type ReadableHttp = Pick<CoderdHttp, 'get'>;

type ListRequest = {
  /** The parameters without which it would be another list. @default none */
  readonly needed?: readonly string[];
  /** Ends the requests. @default never */
  readonly signal?: AbortSignal | undefined;
};

/** Reads a list. A parameter that coderd refuses is left out, and the list is incomplete. Throws CoderdError. */
export async function getList<T>(
  http: ReadableHttp,
  path: string,
  query: Readonly<Record<string, string>>,
  schema: RowsSchema<T>,
  { needed = [], signal }: ListRequest = {},
): Promise<Document<Rows<T>>> {
  try {
    return await http.get(path, query, schema, { signal });
  } catch (cause) {
    const all = cause instanceof CoderdError ? cause.refused : [];
    const refused = all.filter(({ field }) => Object.hasOwn(query, field));
    if (refused.length === 0 || refused.some(({ field }) => needed.includes(field))) throw cause;
    const names = new Set(refused.map(({ field }) => field));
    const rest = Object.fromEntries(Object.entries(query).filter(([name]) => !names.has(name)));
    const { value, date } = await http.get(path, rest, schema, { signal });
    const told = refused.map(({ field, detail }) => `${field} (${detail})`).join(', ');
    const incomplete = `coderd refuses ${told}, so ${names.size === 1 ? 'it was' : 'they were'} left out`;
    return { value: { ...value, incomplete }, date };
  }
}

/** So many rows are read of a list that does not fit into memory. */
const NEWEST = 1000;

/** As `reading`, of a whole list: `read` gets the limit. A list that is too long is `truncated`. */
export async function readingOfAll<T>(
  request: Omit<ReadingRequest, 'limit'>,
  read: (limit: string) => Promise<Document<Rows<T>>>,
): Promise<Reading<T>> {
  const whole = read('0');
  const cause: unknown = await whole.then(
    () => undefined,
    (cause) => cause,
  );
  if (!(cause instanceof CoderdError && cause.code === 'too-long'))
    return reading({ ...request, limit: 0 }, () => whole);
  const newest = await reading({ ...request, limit: NEWEST }, () => read(String(NEWEST)));
  const error = `${request.what}: ${cause.message}. Only the newest ${NEWEST} rows are read`;
  return newest.status === 'ok' ? { ...newest, status: 'truncated', error } : newest;
}

/** The status and the error message for a reading that failed with `cause`. */
export function failure(
  { what, role }: ReadingRequest,
  cause: unknown,
): { readonly status: 'forbidden' | 'failed'; readonly error: string } {
  const isForbidden = cause instanceof CoderdError && cause.code === 'not-found';
  const reason = messageOf(cause);
  const advice = isForbidden && role !== undefined ? `${role}. ` : '';
  return { status: isForbidden ? 'forbidden' : 'failed', error: `${what}: ${advice}${reason}` };
}

function takenAt(date: EpochMs | undefined): { readonly takenAt?: EpochMs } {
  return date === undefined ? {} : { takenAt: date };
}
