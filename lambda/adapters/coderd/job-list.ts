/**
 * Lists provisioner jobs in both forms (docs/internals/coder.md §1): a list, and from coder#27919 on, if coderd takes
 * it over, `{ jobs, count }` with the filters in `q`. That coderd may ignore today's filters, so its first answer may
 * have other jobs than those asked for.
 */
import { ownValue } from '../../decision/model/collections.ts';
import type { Organization } from '../../look/ports.ts';
import type { Rows, RowsSchema } from '../shared/rows.ts';
import { CoderdError, type Document } from './http/http.ts';
import { listOrPage } from './http/lists.ts';
import { getList, type ReadableHttp } from './http/reading.ts';
import { listPath } from './http/schemas.ts';

type Filter = { readonly status: string } | { readonly ids: string } | Readonly<Record<never, string>>;

type Asked<T> = {
  readonly filter: Filter;
  /** 0: all. */
  readonly limit: string;
  readonly rows: RowsSchema<T>;
  /** Ends the requests. @default never */
  readonly signal?: AbortSignal | undefined;
};

/** Throws CoderdError. */
export async function listJobs<T>(
  http: ReadableHttp,
  organization: Pick<Organization, 'id'>,
  { filter, limit, rows, signal }: Asked<T>,
): Promise<Document<Rows<T>>> {
  const path = listPath(organization, 'provisionerjobs');
  const schema = listOrPage(rows, 'jobs', limit === '0' ? undefined : Number(limit));
  try {
    const needed = Object.keys(filter);
    const today = await getList(http, path, { ...filter, limit }, schema, { needed, signal });
    if (today.value.count === undefined || needed.length === 0) return today;
  } catch (cause) {
    if (!(cause instanceof CoderdError && cause.refused.some(({ field }) => Object.hasOwn(filter, field))))
      throw cause;
  }
  const query = { q: searchFor(filter), limit: limit === '0' ? MOST : limit };
  return getList(http, path, query, schema, { signal });
}

/** The largest limit, because 0 is 100 there. */
const MOST = String(2 ** 31 - 1);

const KEYS: Readonly<Record<string, string>> = { status: 'status', ids: 'id' };

function searchFor(filter: Filter): string {
  return Object.entries(filter)
    .map(([name, values]) => `${ownValue(KEYS, name)}:${values}`)
    .join(' ');
}
