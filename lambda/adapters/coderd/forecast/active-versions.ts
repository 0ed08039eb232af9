/** The tags of template versions: one request a version ever, since a version never changes (docs/coder.md §10). */
import type { Tags } from '../../../decision/model/tags.ts';
import type { CoderdHttp } from '../http/http.ts';
import { templateVersionSchema } from '../http/schemas.ts';
import { settleAll } from './settle-all.ts';

const VERSIONS_AT_ONCE = 8;

export type VersionTags = {
  readonly tags: ReadonlyMap<string, Tags>;
  /** Why a version could not be read. */
  readonly failures: ReadonlyMap<string, unknown>;
};

export class ActiveVersions {
  readonly #http: CoderdHttp;
  #known: ReadonlyMap<string, Tags> = new Map();

  constructor(http: CoderdHttp) {
    this.#http = http;
  }

  /** Reads those that are not known yet; forgets all others. */
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
