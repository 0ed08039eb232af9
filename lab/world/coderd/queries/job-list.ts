/** GetProvisionerJobsByOrganizationAndStatus…, and its JSON (docs/internals/coder.md §1). */
import type { OrganizationId } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { KeptRows } from '../../base/kept-rows.ts';
import { tagsetContains } from '../rules/tagset-contains.ts';
import type { CoderVersion } from '../rules/versions.ts';
import type { DaemonTable } from '../tables/daemons.ts';
import { type Job, type JobRecord, type JobTable, PREBUILDS_USER } from '../tables/jobs.ts';
import { NIL_UUID } from '../tables/keys.ts';
import { optionalTime, rfc3339 } from './times.ts';

export type JobQuery = {
  readonly organizationId: OrganizationId;
  /** 0 = all. */
  readonly limit: number;
  /** Empty = any. */
  readonly statuses: readonly string[];
  /** Lower-case; empty = any. */
  readonly ids: readonly string[];
  readonly tags: Tags;
  readonly initiatorId: string | undefined;
};

type Tables = {
  readonly jobs: JobTable;
  readonly daemons: DaemonTable;
  readonly queue: JobQueue;
  readonly version: CoderVersion;
};

const NO_METADATA = {
  template_version_name: '',
  template_id: NIL_UUID,
  template_name: '',
  template_display_name: '',
  template_icon: '',
} as const;

const OPEN_STATUSES: readonly string[] = ['pending', 'running', 'canceling'];

export function listJobs(query: JobQuery, tables: Tables) {
  return select(query, tables.jobs).map((job) => listedJob(job, tables));
}

function select(query: JobQuery, jobs: JobTable): readonly Job[] {
  const found: Job[] = [];
  const candidates = candidatesFor(query, jobs);
  for (let index = candidates.length - 1; index >= 0; index--) {
    const job = candidates[index];
    if (job === undefined || !matches(job, query)) continue;
    found.push(job);
    if (found.length === query.limit) break;
  }
  return found;
}

/** The jobs to filter. Jobs asked for by id, or as not completed, are found without a scan of all jobs. */
function candidatesFor({ ids, statuses }: JobQuery, jobs: JobTable): readonly Job[] {
  if (ids.length > 0)
    return [...new Set(ids)].flatMap((id) => jobs.get(id) ?? []).sort((a, b) => a.sequence - b.sequence);
  const onlyOpen = statuses.length > 0 && statuses.every((status) => OPEN_STATUSES.includes(status));
  return onlyOpen ? [...jobs.open()] : jobs.all();
}

function matches(job: Job, query: JobQuery): boolean {
  return (
    job.organizationId === query.organizationId &&
    (query.statuses.length === 0 || query.statuses.includes(job.status)) &&
    tagsetContains(job.tags, query.tags) &&
    (query.initiatorId === undefined || job.initiatorId === query.initiatorId)
  );
}

const listed = new KeptRows<JobRecord>();

/** An item of the list. The queue is that of the time at which a field is read. */
function listedJob(job: JobRecord, { daemons, queue, version }: Tables) {
  const worker = job.workerId === undefined ? undefined : daemons.get(job.workerId)?.name;
  return listed.of(job, [...changing(job), worker], () => ({
    ...jobAnswer(job, version),
    worker_name: version.does('tellsWorkerNames') ? worker : undefined,
    metadata: metadata(job, version),
    get queue_position() {
      return queue.positionOf(job);
    },
    get queue_size() {
      return queue.size;
    },
    get available_workers() {
      return queue.workersFor(job);
    },
  }));
}

const answers = new KeptRows<JobRecord>();

/** A job as in the answers of builds and template versions, which have no names and here no queue. */
export function jobAnswer(job: JobRecord, version: CoderVersion) {
  return answers.of(job, changing(job), () => ({
    id: job.id,
    created_at: rfc3339(job.createdAt),
    started_at: optionalTime(job.startedAt),
    completed_at: optionalTime(job.completedAt),
    canceled_at: optionalTime(job.canceledAt),
    error: job.error,
    status: job.status,
    worker_id: job.workerId,
    worker_name: undefined,
    file_id: job.version.fileId,
    tags: job.tags,
    queue_position: 0,
    queue_size: 0,
    organization_id: job.organizationId,
    initiator_id: version.does('knowsInitiators') ? job.initiatorId : undefined,
    input:
      job.workspace === undefined
        ? { template_version_id: job.version.id }
        : { workspace_build_id: job.workspace.buildId },
    type: job.type,
    available_workers: undefined,
    metadata: NO_METADATA,
    logs_overflowed: version.does('tellsLogOverflow') ? false : undefined,
  }));
}

export type JobAnswer = ReturnType<typeof jobAnswer>;

function changing(job: JobRecord): readonly unknown[] {
  const { startedAt, completedAt, canceledAt, workerId, error, template } = job;
  return [startedAt, completedAt, canceledAt, workerId, error, template];
}

function metadata({ template, version, workspace, transition }: JobRecord, coder: CoderVersion) {
  return {
    template_version_name: version.name,
    template_id: template.id,
    template_name: template.name,
    template_display_name: '',
    template_icon: '',
    workspace_id: workspace?.id,
    workspace_name: workspace?.name,
    workspace_build_transition: coder.does('tellsTransitions') ? transition : undefined,
  };
}

export class JobQueue {
  readonly #jobs: JobTable;
  readonly #daemons: DaemonTable;
  #positions: ReadonlyMap<JobRecord, number> = new Map();
  #positionsAt = -1;
  /** By organization and tag key. */
  readonly #workers = new Map<string, readonly string[]>();
  #workersAt = -1;

  constructor(jobs: JobTable, daemons: DaemonTable) {
    this.#jobs = jobs;
    this.#daemons = daemons;
  }

  get size(): number {
    return this.#current().size;
  }

  positionOf(job: JobRecord): number {
    return this.#current().get(job) ?? 0;
  }

  /** Every daemon row that fits a pending job, including offline ones; undefined if there is none. */
  workersFor(job: JobRecord): readonly string[] | undefined {
    if (job.startedAt !== undefined) return undefined;
    if (this.#workersAt !== this.#daemons.changes) this.#workers.clear();
    this.#workersAt = this.#daemons.changes;
    const key = `${job.organizationId} ${job.tagKey}`;
    const workers = this.#workers.get(key) ?? this.#fitting(job);
    this.#workers.set(key, workers);
    return workers.length === 0 ? undefined : workers;
  }

  #fitting({ organizationId, tags }: JobRecord): readonly string[] {
    return this.#daemons
      .all()
      .filter((daemon) => daemon.organizationId === organizationId && tagsetContains(daemon.tags, tags))
      .map(({ id }) => id)
      .toArray();
  }

  /** Prebuilds last, then the oldest first. */
  #current(): ReadonlyMap<JobRecord, number> {
    if (this.#positionsAt === this.#jobs.changes) return this.#positions;
    const pending = [...this.#jobs.open()].filter(({ status }) => status === 'pending');
    const isPrebuild = ({ initiatorId }: JobRecord): boolean => initiatorId === PREBUILDS_USER;
    const ranked = [...pending.filter((job) => !isPrebuild(job)), ...pending.filter(isPrebuild)];
    this.#positions = new Map(ranked.map((job, index) => [job, index + 1]));
    this.#positionsAt = this.#jobs.changes;
    return this.#positions;
  }
}
