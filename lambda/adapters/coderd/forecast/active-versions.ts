/**
 * Reads the tags of template versions from coderd. A version never changes, so one request for each
 * version is enough (docs/internals/coder.md §10).
 */
import type { Tags } from '../../../decision/model/tags.ts';
import type { CoderdHttp } from '../http/http.ts';
import { templateVersionSchema } from '../http/schemas.ts';
import { settleAll } from './settle-all.ts';

const VERSIONS_AT_ONCE = 8;

export type VersionTags = {
  readonly tags: ReadonlyMap<string, Tags>;
  /** By version id: the error that prevented the reading. */
  readonly failures: ReadonlyMap<string, unknown>;
};

export class ActiveVersions {
  readonly #http: CoderdHttp;
  #known: ReadonlyMap<string, Tags> = new Map();

  constructor(http: CoderdHttp) {
    this.#http = http;
  }

  /** Reads the versions that are not known yet, and forgets all versions that are not in `ids`. */
  async read(ids: ReadonlySet<string>, signal: AbortSignal): Promise<VersionTags> {
    const known = [...this.#known].filter(([id]) => ids.has(id));
    const unknown = [...ids].filter((id) => !this.#known.has(id));
    const outcomes = await settleAll(unknown, VERSIONS_AT_ONCE, (id) => this.#readOne(id, signal));
    const failures = new Map<string, unknown>();
    const tags = new Map(known);
    for (const [index, id] of unknown.entries()) {
      const outcome = outcomes[index];
      if (outcome?.status === 'fulfilled') tags.set(id, outcome.value);
      else failures.set(id, outcome?.reason);
    }
    this.#known = tags;
    return { tags, failures };
  }

  async #readOne(id: string, signal: AbortSignal): Promise<Tags> {
    const path = `/api/v2/templateversions/${encodeURIComponent(id)}`;
    return (await this.#http.get(path, {}, templateVersionSchema, signal)).value.job.tags;
  }
}
