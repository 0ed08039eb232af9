/**
 * Lists provisioner jobs in both forms (docs/internals/coder.md §1): a list, and from coder#27919 on, if coderd takes
 * it over, `{ jobs, count }` with the filters in `q`. That coderd may ignore today's filters, so its first answer may
 * have other jobs than those asked for.
 */
import * as z from 'zod';
import { ownValue } from '../../decision/model/collections.ts';
import type { Organization } from '../../look/ports.ts';
import type { Rows, RowsSchema } from '../shared/rows.ts';
import { CoderdError, type Document } from './http/http.ts';
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
  const page = new Page(rows);
  try {
    const needed = Object.keys(filter);
    const today = await getList(http, path, { ...filter, limit }, page.schema, { needed, signal });
    if (page.count === undefined || needed.length === 0) return today;
  } catch (cause) {
    if (!(cause instanceof CoderdError && cause.refused.some(({ field }) => Object.hasOwn(filter, field))))
      throw cause;
  }
  const query = { q: searchFor(filter), limit: limit === '0' ? MOST : limit };
  const { value, date } = await getList(http, path, query, page.schema, { signal });
  const { count = 0 } = page;
  const seen = value.items.length + value.leftOut.length;
  const incomplete = count > seen ? `coderd counts ${count} jobs and lists ${seen}` : value.incomplete;
  return { value: { ...value, incomplete }, date };
}

/** The largest limit, because 0 is 100 there. */
const MOST = String(2 ** 31 - 1);

const KEYS: Readonly<Record<string, string>> = { status: 'status', ids: 'id' };

function searchFor(filter: Filter): string {
  return Object.entries(filter)
    .map(([name, values]) => `${ownValue(KEYS, name)}:${values}`)
    .join(' ');
}

const pageSchema = z.object({ jobs: z.array(z.unknown()), count: z.int().nonnegative() });

/** Reads an answer in either form, and keeps the count of the second one. */
class Page<T> {
  count: number | undefined;
  readonly schema: RowsSchema<T>;

  constructor(rows: RowsSchema<T>) {
    const schema = z
      .unknown()
      .transform((answer) => {
        const { data } = pageSchema.safeParse(answer);
        this.count = data?.count;
        return data?.jobs ?? answer;
      })
      .pipe(rows);
    this.schema = Object.assign(schema, { row: rows.row });
  }
}
