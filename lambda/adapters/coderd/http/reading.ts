/** Grades what coderd answers: the status of a reading, with a sentence. */
import type { EpochMs } from '../../../decision/model/brands.ts';
import type { Reading } from '../../../decision/model/snapshot.ts';
import { CoderdError, type Document } from './http.ts';

/** What a reading is called in its sentence, and the role that its absence asks for. */
export type Asked = {
  readonly what: string;
  readonly role?: string | undefined;
  /** Items, 0 = all. */
  readonly limit?: number | undefined;
};

/** Runs one reading; what goes wrong becomes its status, with a sentence. */
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

/** The status and the sentence of what went wrong. */
export function failure(
  { what, role }: Asked,
  cause: unknown,
): { readonly status: 'forbidden' | 'failed'; readonly error: string } {
  const isForbidden = cause instanceof CoderdError && cause.code === 'not-found';
  const said = cause instanceof Error ? cause.message : String(cause);
  const advice = isForbidden && role !== undefined ? `; ${role}` : '';
  return { status: isForbidden ? 'forbidden' : 'failed', error: `${what}: ${said}${advice}` };
}

function takenAt(date: EpochMs | undefined): { readonly takenAt?: EpochMs } {
  return date === undefined ? {} : { takenAt: date };
}
