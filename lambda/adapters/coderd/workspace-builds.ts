/** Reads past builds of workspaces into the record of recent jobs (docs/internals/coder.md §10). */
import type { EpochMs } from '../../decision/model/brands.ts';
import type { Workspace } from '../../decision/model/snapshot.ts';
import type { PastSource } from '../../look/stock/past-builds.ts';
import { settleAll } from './forecast/settle-all.ts';
import { buildRows } from './http/lists.ts';
import type { ReadableHttp } from './http/reading.ts';
import { buildsPath } from './http/schemas.ts';
import type { RememberedJobs } from './job-record.ts';

const AT_ONCE = 4;
/** Of one workspace. An answer has the agents of each build, about 10 KB. */
const MOST_BUILDS = '100';

export class WorkspaceBuilds implements PastSource {
  readonly #http: ReadableHttp;
  readonly #record: RememberedJobs;

  constructor(http: ReadableHttp, record: RememberedJobs) {
    this.#http = http;
    this.#record = record;
  }

  /** The first request that fails is the last one: coderd is in trouble, or refuses all of them. */
  async read(workspaces: readonly Workspace[], since: EpochMs, signal: AbortSignal): Promise<void> {
    const query = { since: new Date(since).toISOString(), limit: MOST_BUILDS };
    let hasFailed = false;
    await settleAll(workspaces, AT_ONCE, async (workspace) => {
      if (hasFailed) return;
      try {
        const { value } = await this.#http.get(buildsPath(workspace.id), query, buildRows, { signal });
        this.#record.addBuilds(workspace, value.items);
      } catch {
        hasFailed = true;
      }
    });
  }
}
