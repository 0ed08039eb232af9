import type { DaemonId, EpochMs, JobId, OrganizationId } from '../../../../lambda/decision/model/brands.ts';
import type { TagSet } from '../../../../lambda/decision/model/tags.ts';
import type { TemplateRecord, TemplateVersion, Transition } from './templates.ts';

/** The user that prebuilt workspaces belong to (docs/internals/coder.md §10). */
export const PREBUILDS_USER = 'c42fdf75-3097-471c-8c33-fb52454d81c0';

export type JobType = 'template_version_import' | 'workspace_build' | 'template_version_dry_run';
export type JobStatus = 'pending' | 'running' | 'succeeded' | 'canceling' | 'canceled' | 'failed';

export type JobWorkspace = {
  readonly id: string;
  readonly name: string;
  readonly buildId: string;
  /** @default the initiator of the job */
  readonly ownerId?: string;
};

export type NewJob = {
  readonly id: JobId;
  readonly createdAt: EpochMs;
  readonly organizationId: OrganizationId;
  readonly initiatorId: string;
  readonly tags: TagSet;
  readonly tagKey: string;
  readonly type: JobType;
  /** Of workspace builds only. */
  readonly transition: Transition | undefined;
  readonly template: TemplateRecord;
  readonly version: TemplateVersion;
  /** Of workspace builds only. */
  readonly workspace: JobWorkspace | undefined;
  readonly durationMs: number;
  readonly willFail: boolean;
};

/** What ended a failed job: a reaper, or the daemon's report. */
export type FailedBy = 'hung-reaper' | 'pending-reaper' | 'reported';

/** A job. The record is live: it changes with the job. */
export type JobRecord = NewJob & {
  readonly startedAt: EpochMs | undefined;
  readonly canceledAt: EpochMs | undefined;
  readonly completedAt: EpochMs | undefined;
  readonly workerId: DaemonId | undefined;
  readonly error: string | undefined;
  readonly failedBy: FailedBy | undefined;
  readonly status: JobStatus;
};

/** A row of provisioner_jobs. Only `JobTable` changes it. */
export type Job = Omit<NewJob, 'template'> & {
  -readonly [Field in Exclude<keyof JobRecord, keyof NewJob | 'status'>]: JobRecord[Field];
} & {
  /** An imported version may get its template later. */
  template: TemplateRecord;
  /** 1, 2, …: the order of insertion and of created_at. */
  readonly sequence: number;
  /** When the last update came, if no session sends updates. */
  updatedAt: EpochMs;
  updatedBy: object | undefined;
  readonly status: JobStatus;
};

const NONE: readonly Job[] = [];

type WorkerJobs = { readonly current: Set<Job>; previous: Job | undefined };

export class JobTable {
  readonly #all: Job[] = [];
  readonly #byId = new Map<string, Job>();
  readonly #open = new Set<Job>();
  readonly #byWorker = new Map<DaemonId, WorkerJobs>();
  readonly #onCompleted: (job: Job) => void;
  #changes = 0;

  constructor(onCompleted: (job: Job) => void) {
    this.#onCompleted = onCompleted;
  }

  get changes(): number {
    return this.#changes;
  }

  insert(given: NewJob): Job {
    this.#changes += 1;
    const job = newJob(given, this.#all.length + 1);
    this.#all.push(job);
    this.#byId.set(job.id, job);
    this.#open.add(job);
    return job;
  }

  get(id: string): Job | undefined {
    return this.#byId.get(id);
  }

  all(): readonly Job[] {
    return this.#all;
  }

  /** Jobs without a completed_at: pending, running and canceling. Oldest first. */
  open(): ReadonlySet<Job> {
    return this.#open;
  }

  currentOf(worker: DaemonId): readonly Job[] {
    const current = this.#byWorker.get(worker)?.current;
    return current === undefined || current.size === 0 ? NONE : [...current];
  }

  previousOf(worker: DaemonId): Job | undefined {
    return this.#byWorker.get(worker)?.previous;
  }

  /** Hands a job to a daemon; its `session` sends updates from now on. */
  start(
    job: Job,
    given: { readonly worker: DaemonId; readonly session: object; readonly at: EpochMs },
  ): void {
    this.#changes += 1;
    job.startedAt = given.at;
    job.updatedAt = given.at;
    job.updatedBy = given.session;
    job.workerId = given.worker;
    const worker = this.#worker(given.worker);
    if (job.completedAt === undefined) worker.current.add(job);
    else if ((worker.previous?.completedAt ?? 0) < job.completedAt) worker.previous = job;
  }

  /** Marks a job as cancelled. A pending job is thereby complete (workspace build cancel handler). */
  cancel(job: Job, at: EpochMs): void {
    this.#changes += 1;
    job.canceledAt = at;
    if (job.workerId === undefined) this.#close(job, at);
  }

  complete(
    job: Job,
    given: {
      readonly at: EpochMs;
      readonly error?: string;
      readonly by: FailedBy;
    },
  ): void {
    job.startedAt ??= given.at; // the pending reaper sets it too
    job.error = given.error;
    job.failedBy = given.error === undefined ? undefined : given.by;
    this.#close(job, given.at);
  }

  #close(job: Job, at: EpochMs): void {
    this.#changes += 1;
    job.completedAt = at;
    job.updatedAt = at;
    job.updatedBy = undefined;
    this.#open.delete(job);
    if (job.workerId !== undefined) {
      const worker = this.#worker(job.workerId);
      worker.current.delete(job);
      worker.previous = job;
    }
    this.#onCompleted(job);
  }

  #worker(id: DaemonId): WorkerJobs {
    const found = this.#byWorker.get(id) ?? { current: new Set(), previous: undefined };
    this.#byWorker.set(id, found);
    return found;
  }
}

/** A job that succeeded at its creation, before the world began. It is in no table. */
export function pastJob(given: NewJob): JobRecord {
  const { createdAt } = given;
  return Object.assign(newJob(given, 0), { startedAt: createdAt, completedAt: createdAt });
}

function newJob(given: NewJob, sequence: number): Job {
  return {
    ...given,
    sequence,
    startedAt: undefined,
    canceledAt: undefined,
    completedAt: undefined,
    workerId: undefined,
    error: undefined,
    failedBy: undefined,
    updatedAt: given.createdAt,
    updatedBy: undefined,
    get status() {
      return statusOf(this);
    },
  };
}

/** The generated column job_status of provisioner_jobs. */
function statusOf(job: Job): JobStatus {
  if (job.error !== undefined) return 'failed';
  if (job.canceledAt !== undefined) return job.completedAt === undefined ? 'canceling' : 'canceled';
  if (job.completedAt !== undefined) return 'succeeded';
  return job.startedAt === undefined ? 'pending' : 'running';
}
