/**
 * Asks coderd for past builds, once for each organization, if no record tells them: after the first deployment, or
 * when the record is lost. The builds are those of a few workspaces: a list of past jobs makes coderd read every job
 * (docs/internals/coder.md §11). A failure changes how fast the process learns, and nothing else.
 */
import { PREBUILDS_USER } from '../../decision/demand/record.ts';
import { type EpochMs, type OrganizationId, plusMs } from '../../decision/model/brands.ts';
import { by } from '../../decision/model/collections.ts';
import type { PoolConfig } from '../../decision/model/config.ts';
import type { OrganizationReadings, Snapshot, Workspace } from '../../decision/model/snapshot.ts';
import { canRun, tagKey } from '../../decision/model/tags.ts';
import { DAY_MS } from '../../decision/model/units.ts';

/** In all organizations. Each takes about 10 ms of coderd's database. */
const MOST_REQUESTS = 20;
/** As long as builds are learned. */
const PAST_MS = 7 * DAY_MS;

export interface PastSource {
  /**
   * Reads the builds of these workspaces since a time, with one request for each, so that `Coderd.recentJobs` has
   * them. Does not throw.
   */
  read(workspaces: readonly Workspace[], since: EpochMs, signal: AbortSignal): Promise<void>;
}

type PastBuildsOptions = {
  readonly source: PastSource;
  readonly learner: {
    isRestored(organization: OrganizationId): boolean;
    startAgain(organization: OrganizationId): void;
  };
  /** @default no record is kept */
  readonly record?: { readonly isAwaited: boolean } | undefined;
};

type Look = {
  readonly snapshot: Pick<Snapshot, 'coder' | 'takenAt'>;
  readonly pools: readonly PoolConfig[];
  readonly signal: AbortSignal;
};

export class PastBuilds {
  readonly #options: PastBuildsOptions;
  readonly #asked = new Set<OrganizationId>();

  constructor(options: PastBuildsOptions) {
    this.#options = options;
  }

  /** Call it after the actions of a look. Ends when `signal` aborts. Does not throw. */
  async read({ snapshot: { coder, takenAt }, pools, signal }: Look): Promise<void> {
    const { source, learner, record } = this.#options;
    if (record?.isAwaited) return;
    const unknown = coder.organizations.filter(({ id, workspaces }) => {
      return workspaces?.status === 'ok' && !this.#asked.has(id) && !learner.isRestored(id);
    });
    for (const { id } of unknown) this.#asked.add(id);
    const since = plusMs(takenAt, -PAST_MS);
    const chosen = chooseWorkspaces(unknown, pools, since).slice(0, MOST_REQUESTS);
    if (chosen.length === 0) return;
    await Promise.race([source.read(chosen, since, signal), endOf(signal)]);
    for (const id of new Set(chosen.map(({ organization_id }) => organization_id))) learner.startAgain(id);
  }
}

/**
 * Those that may have builds that no list shows. Tag sets take turns, so that a pool with few workspaces is known
 * wholly; in each the workspace with the newest build comes first.
 */
function chooseWorkspaces(
  organizations: readonly OrganizationReadings[],
  pools: readonly PoolConfig[],
  since: EpochMs,
): readonly Workspace[] {
  const turns = new Map<string, number>();
  return organizations
    .flatMap(({ id, name, workspaces }) => {
      const own = pools.filter(({ organization }) => organization === name || organization === id);
      return (workspaces?.items ?? []).filter(({ latest_build: { job } }) =>
        own.some((pool) => job.tags != null && canRun(pool.tags, job.tags)),
      );
    })
    .filter((workspace) => builtAt(workspace) > since && isOfPerson(workspace))
    .sort(by((workspace) => -builtAt(workspace), 'id'))
    .map((workspace) => {
      const key = `${workspace.organization_id} ${tagKey(workspace.latest_build.job.tags ?? {})}`;
      const turn = turns.get(key) ?? 0;
      turns.set(key, turn + 1);
      return { workspace, turn };
    })
    .sort(by(({ turn }) => turn))
    .map(({ workspace }) => workspace);
}

function builtAt({ latest_build: { job, created_at } }: Workspace): number {
  return job.created_at ?? created_at ?? Number.NEGATIVE_INFINITY;
}

/** An unclaimed prebuilt workspace has no build of a person. */
function isOfPerson({ latest_build: { initiator_id } }: Workspace): boolean {
  return initiator_id !== PREBUILDS_USER;
}

function endOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
