/**
 * Reads the names of presets of which prebuilt workspaces have failed. The list of workspaces has
 * only ids, which no page of Coder shows. A version's presets never change, so one request for each
 * version is enough (docs/internals/coder.md §10). While all is well there is no request.
 */
import type { Template, Workspace } from '../../../decision/model/snapshot.ts';
import type { CoderdHttp } from '../http/http.ts';
import { presetsSchema } from '../http/schemas.ts';
import { settleAll } from './settle-all.ts';

/** Names by preset id. */
type Names = Readonly<Record<string, string>>;

const VERSIONS_AT_ONCE = 4;
/** The most requests of one reading. The presets of further versions keep their ids for now. */
const MOST_VERSIONS = 20;
/** A look waits for the reading, and names are worth no more. */
const LONGEST_MS = 1_000;

export class PresetNames {
  readonly #http: CoderdHttp;
  #known: ReadonlyMap<string, Names> = new Map();

  constructor(http: CoderdHttp) {
    this.#http = http;
  }

  /**
   * The known names of all presets of failing versions, and forgets those of other versions. Does
   * not throw: without a name there is still the id.
   */
  async read(
    workspaces: readonly Workspace[],
    templates: readonly Template[],
    signal: AbortSignal,
  ): Promise<Names> {
    const failing = new Set(workspaces.filter(isFailedPrebuild).map(({ template_id }) => template_id));
    if (failing.size === 0 && this.#known.size === 0) return {};
    const versions = templates
      .filter(({ id }) => failing.has(id))
      .map(({ active_version_id }) => active_version_id);
    const unknown = versions.filter((id) => !this.#known.has(id)).slice(0, MOST_VERSIONS);
    const brief = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
    const outcomes = await settleAll(unknown, VERSIONS_AT_ONCE, (id) => this.#readOne(id, brief));
    const read = outcomes.flatMap((outcome, index) =>
      outcome.status === 'fulfilled' ? [[unknown[index] ?? '', outcome.value] as const] : [],
    );
    this.#known = new Map([...[...this.#known].filter(([id]) => versions.includes(id)), ...read]);
    return Object.assign({}, ...this.#known.values());
  }

  async #readOne(version: string, signal: AbortSignal): Promise<Names> {
    const path = `/api/v2/templateversions/${encodeURIComponent(version)}/presets`;
    const { value } = await this.#http.get(path, {}, presetsSchema, signal);
    return Object.fromEntries((value ?? []).map(({ ID, Name }) => [ID, Name]));
  }
}

function isFailedPrebuild({ is_prebuild, outdated, latest_build: { transition, job } }: Workspace): boolean {
  return is_prebuild === true && outdated === false && transition === 'start' && job.status === 'failed';
}
