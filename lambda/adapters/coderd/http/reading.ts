/** Derives the status of a reading and its error message from an answer of coderd. */

import type { EpochMs } from '../../../decision/model/brands.ts';
import { messageOf } from '../../../decision/model/message-of.ts';
import type { Reading } from '../../../decision/model/snapshot.ts';
import { CoderdError, type Document } from './http.ts';

/**
 * The name of a reading in its error message, and the advice about the role if coderd forbids it.
 */
export type Asked = {
  readonly what: string;
  readonly role?: string | undefined;
  /** Number of items; 0 means all. */
  readonly limit?: number | undefined;
};

/** Runs one reading. Does not throw: an error becomes the status and the error message. */
export async function reading<T>(
  asked: Asked,
  read: () => Promise<Document<readonly T[]>>,
): Promise<Reading<T>> {
  const limit = asked.limit === undefined ? {} : { limit: asked.limit };
  try {
    const { value, date } = await read();
    return { status: 'ok', ...limit, ...takenAt(date), items: value };
  } catch (cause) {
    return { ...failure(asked, cause), ...limit, items: [] };
  }
}

/** The status and the error message for a reading that failed with `cause`. */
export function failure(
  { what, role }: Asked,
  cause: unknown,
): { readonly status: 'forbidden' | 'failed'; readonly error: string } {
  const isForbidden = cause instanceof CoderdError && cause.code === 'not-found';
  const reason = messageOf(cause);
  const advice = isForbidden && role !== undefined ? `; ${role}` : '';
  return { status: isForbidden ? 'forbidden' : 'failed', error: `${what}: ${reason}${advice}` };
}

function takenAt(date: EpochMs | undefined): { readonly takenAt?: EpochMs } {
  return date === undefined ? {} : { takenAt: date };
}
