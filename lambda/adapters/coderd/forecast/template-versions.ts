/** A version never changes, so one request for each is enough (docs/internals/coder.md §10). */
import type * as z from 'zod';
import { unique } from '../../../decision/model/collections.ts';
import type { Tags } from '../../../decision/model/tags.ts';
import { joinRows, type Rows } from '../../shared/rows.ts';
import type { CoderdHttp, Document } from '../http/http.ts';
import { templateRows } from '../http/lists.ts';
import { type listedTemplateSchema, templateVersionSchema } from '../http/schemas.ts';
import { settleAll } from './settle-all.ts';

export type VersionTags = {
  readonly known: ReadonlyMap<string, Tags>;
  /** By version id: the error that prevented the reading. */
  readonly failures: ReadonlyMap<string, unknown>;
};

const AT_ONCE = 8;

export class ActiveVersions {
  readonly #http: CoderdHttp;
  #known: ReadonlyMap<string, Tags> = new Map();

  constructor(http: CoderdHttp) {
    this.#http = http;
  }

  /** Reads the versions that are not known yet, and forgets all versions that are not in `ids`. */
  async read(ids: ReadonlySet<string>, signal: AbortSignal): Promise<VersionTags> {
    const unknown = [...ids].filter((id) => !this.#known.has(id));
    const outcomes = await settleAll(unknown, AT_ONCE, (id) => this.#readOne(id, signal));
    const failures = new Map<string, unknown>();
    const known = new Map([...this.#known].filter(([id]) => ids.has(id)));
    for (const [index, id] of unknown.entries()) {
      const outcome = outcomes[index];
      if (outcome?.status === 'fulfilled') known.set(id, outcome.value);
      else failures.set(id, outcome?.reason);
    }
    this.#known = known;
    return { known, failures };
  }

  async #readOne(id: string, signal: AbortSignal): Promise<Tags> {
    const path = `/api/v2/templateversions/${encodeURIComponent(id)}`;
    return (await this.#http.get(path, {}, templateVersionSchema, { signal })).value.job.tags;
  }
}

export type ListedTemplate = z.output<typeof listedTemplateSchema>;

/** Since 2.23 coderd lists deprecated templates only on request. Their workspaces are still built. */
const LISTS = [{}, { q: 'deprecated:true' }] as const;

/** Throws CoderdError. */
export async function listTemplates(
  http: CoderdHttp,
  signal?: AbortSignal,
): Promise<Document<Rows<ListedTemplate>>> {
  const lists = await Promise.all(
    LISTS.map((query) => http.get('/api/v2/templates', query, templateRows, { signal })),
  );
  const { items, leftOut } = joinRows(lists.map((answer) => answer.value));
  const value = { items: unique(items, ({ id }) => id), leftOut: unique(leftOut, ({ row }) => row) };
  return { value, date: lists[0]?.date };
}
