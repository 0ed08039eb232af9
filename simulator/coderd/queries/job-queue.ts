/**
 * What the list of jobs tells about the queue: places over all organizations and tags, and the
 * daemons that fit a job. It is derived from the tables when somebody reads it, and again only after
 * they have changed.
 */
import { tagsetContains } from '../rules/tagset-contains.ts';
import type { DaemonTable } from '../tables/daemons.ts';
import { type JobRecord, type JobTable, PREBUILDS_USER } from '../tables/jobs.ts';

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

  /** 0: the job is not pending. */
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
