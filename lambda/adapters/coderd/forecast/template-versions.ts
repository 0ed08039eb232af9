/** A version never changes, so one request for each is enough (docs/internals/coder.md §10). */

import type * as z from 'zod';
import { unique } from '../../../decision/model/collections.ts';
import type { Template, Workspace } from '../../../decision/model/snapshot.ts';
import type { Tags } from '../../../decision/model/tags.ts';
import { joinRows, type Rows } from '../../shared/rows.ts';
import type { CoderdHttp, Document } from '../http/http.ts';
import {
  type listedTemplateSchema,
  presetsSchema,
  templateRows,
  templateVersionSchema,
} from '../http/schemas.ts';
import { settleAll } from './settle-all.ts';

type KnownVersions<T> = {
  readonly known: ReadonlyMap<string, T>;
  /** By version id: the error that prevented the reading. */
  readonly failures: ReadonlyMap<string, unknown>;
};

type Limits = { readonly atOnce: number; readonly most?: number };

class PerVersion<T> {
  readonly #read: (id: string, signal: AbortSignal) => Promise<T>;
  readonly #limits: Limits;
  #known: ReadonlyMap<string, T> = new Map();

  /** `most`: the most requests of one reading. @default no limit */
  constructor(read: (id: string, signal: AbortSignal) => Promise<T>, limits: Limits) {
    this.#read = read;
    this.#limits = limits;
  }

  /** Reads the versions that are not known yet, and forgets all versions that are not in `ids`. */
  async read(ids: ReadonlySet<string>, signal: AbortSignal): Promise<KnownVersions<T>> {
    const { atOnce, most } = this.#limits;
    const unknown = [...ids].filter((id) => !this.#known.has(id)).slice(0, most);
    const outcomes = await settleAll(unknown, atOnce, (id) => this.#read(id, signal));
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
}

const pathOf = (version: string): string => `/api/v2/templateversions/${encodeURIComponent(version)}`;

export type VersionTags = KnownVersions<Tags>;

export class ActiveVersions extends PerVersion<Tags> {
  constructor(http: CoderdHttp) {
    super(
      async (id, signal) => (await http.get(pathOf(id), {}, templateVersionSchema, signal)).value.job.tags,
      { atOnce: 8 },
    );
  }
}

type Names = Readonly<Record<string, string>>;

/** A look waits for the names, which are worth no more. */
const LONGEST_MS = 1_000;

/** Names of presets whose prebuilt workspaces have failed: the list of workspaces has only ids. */
export class PresetNames {
  readonly #versions: PerVersion<Names>;

  /** The presets of further versions keep their ids for now. */
  constructor(http: CoderdHttp) {
    const readOne = async (version: string, signal: AbortSignal): Promise<Names> => {
      const { value } = await http.get(`${pathOf(version)}/presets`, {}, presetsSchema, signal);
      return Object.fromEntries((value ?? []).map(({ ID, Name }) => [ID, Name]));
    };
    this.#versions = new PerVersion(readOne, { atOnce: 4, most: 20 });
  }

  /** The known names of all presets of failing versions. Does not throw: without a name there is the id. */
  async read(
    workspaces: readonly Workspace[],
    templates: readonly Template[],
    signal: AbortSignal,
  ): Promise<Names> {
    const failing = new Set(workspaces.filter(isFailedPrebuild).map(({ template_id }) => template_id));
    const versions = templates.filter(({ id }) => failing.has(id)).map((each) => each.active_version_id);
    const brief = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
    const { known } = await this.#versions.read(new Set(versions), brief);
    return Object.assign({}, ...known.values());
  }
}

function isFailedPrebuild({ is_prebuild, outdated, latest_build: { transition, job } }: Workspace): boolean {
  return is_prebuild === true && outdated === false && transition === 'start' && job.status === 'failed';
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
    LISTS.map((query) => http.get('/api/v2/templates', query, templateRows, signal)),
  );
  const { items, leftOut } = joinRows(lists.map((answer) => answer.value));
  const value = { items: unique(items, ({ id }) => id), leftOut: unique(leftOut, ({ row }) => row) };
  return { value, date: lists[0]?.date };
}
