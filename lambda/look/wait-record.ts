/**
 * Finds the jobs that started since the last look, and splits their waits. Each job is returned
 * once. The memory is that of the process: when it began to look, which jobs it saw pending and
 * since when, which jobs it returned, and the tasks that it requested.
 */
import type { EpochMs, JobId, PoolName } from '../decision/model/brands.ts';
import { by } from '../decision/model/collections.ts';
import type { Job, OrganizationReadings, Snapshot, Task } from '../decision/model/snapshot.ts';
import {
  daemonOf,
  deriveJobWait,
  indexServing,
  type JobWait,
  type ServingTasks,
  type StartedJob,
} from '../decision/waits/job-wait.ts';
import type { LookResult } from './look.ts';

/** ECS forgets a stopped task after an hour (docs/aws.md §1), so an older start cannot be split. */
const KEPT_MS = 3_600_000;
/** Jobs that started this long before the first look of a process count as missed. */
const MISSED_MS = 10 * 60_000;
/** The list of workspaces, which tells a late start, is read every five minutes at least. */
const GONE_MS = 10 * 60_000;

/** The waits of the jobs that started since the last look. */
export type StartedWaits = {
  readonly waits: readonly JobWait[];
  /**
   * At most so many jobs started and are not in `waits`: jobs that left the queue while no look saw
   * their start (a person may have canceled them), jobs whose daemon coderd does not list, and
   * those that started shortly before the first look of this process (an earlier process may have
   * returned them).
   */
  readonly missed: number;
};

/** A raised count: ECS was to create so many tasks. */
type Request = {
  readonly pool: PoolName;
  /** The time of the snapshot. */
  readonly takenAt: EpochMs;
  /** When the look began, by the function's clock. */
  readonly lookedAt: EpochMs;
  readonly at: EpochMs;
  readonly tasks: number;
};

export class WaitRecord {
  #since: EpochMs | undefined;
  readonly #pending = new Map<JobId, { readonly from: EpochMs; lastSeenAt: EpochMs }>();
  readonly #returned = new Map<JobId, EpochMs>();
  #requests: readonly Request[] = [];

  /** `durationMs`: how long the look took. Call it once after each look. */
  after({ snapshot, outcome }: Pick<LookResult, 'snapshot' | 'outcome'>, durationMs: number): StartedWaits {
    const { takenAt } = snapshot;
    const isFirst = this.#since === undefined;
    this.#since ??= takenAt;
    this.#forget(takenAt);
    this.#notice(snapshot);
    this.#request(snapshot, outcome, durationMs);
    const started = snapshot.coder.organizations.flatMap((organization) =>
      this.#startedIn(organization, takenAt),
    );
    const noticed = new Map(started.map(({ job }) => [job.id, this.#pending.get(job.id)?.from]));
    for (const { job } of started) this.#pending.delete(job.id);
    const missed = isFirst ? startedShortlyBefore(snapshot, takenAt) : this.#gone(snapshot);
    return started.length === 0 ? { waits: [], missed } : this.#split(started, snapshot, { noticed, missed });
  }

  /** Counts the jobs that left the queue a while ago, each once. */
  #gone({ coder, takenAt }: Snapshot): number {
    const gone = [...this.#pending].filter(([, { lastSeenAt }]) => lastSeenAt < takenAt - GONE_MS);
    if (gone.length === 0) return 0;
    for (const [id] of gone) this.#pending.delete(id);
    const ended = new Set(
      coder.organizations.flatMap(({ recentJobs }) =>
        (recentJobs?.items ?? []).flatMap(({ id, completed_at }) => (completed_at == null ? [] : [id])),
      ),
    );
    return gone.filter(([id]) => !ended.has(id)).length;
  }

  #forget(now: EpochMs): void {
    const oldest = now - KEPT_MS;
    for (const [id, startedAt] of this.#returned) if (startedAt < oldest) this.#returned.delete(id);
    this.#requests = this.#requests.filter(({ at }) => at >= oldest);
  }

  #notice({ coder, takenAt }: Snapshot): void {
    for (const { id, started_at } of coder.organizations.flatMap(({ jobs }) => jobs.items)) {
      const known = this.#pending.get(id);
      if (known !== undefined) known.lastSeenAt = takenAt;
      else if (started_at == null) this.#pending.set(id, { from: takenAt, lastSeenAt: takenAt });
    }
  }

  #request({ clock, takenAt }: Snapshot, { applied }: LookResult['outcome'], durationMs: number): void {
    const lookedAt = clock ?? takenAt;
    const raised = applied.flatMap((action) => {
      if (action.kind !== 'set-desired' || action.to <= action.from) return [];
      if (action.why === 'count-below-tasks') return [];
      const at = (lookedAt + durationMs) as EpochMs;
      return [{ pool: action.pool, takenAt, lookedAt, at, tasks: action.to - action.from }];
    });
    this.#requests = [...this.#requests, ...raised];
  }

  /** The jobs of an organization that started since the first look and were not returned yet. */
  #startedIn(organization: OrganizationReadings, now: EpochMs): readonly StartedJob[] {
    const { jobs, previousJobs, recentJobs } = organization;
    const earliest = Math.max(this.#since ?? now, now - KEPT_MS);
    const found = new Map<JobId, StartedJob>();
    for (const list of [recentJobs?.items ?? [], previousJobs.items, jobs.items])
      for (const job of list)
        if ((job.started_at ?? 0) > earliest && isStarted(job) && !this.#returned.has(job.id))
          found.set(job.id, { job, organization });
    return [...found.values()];
  }

  #split(
    started: readonly StartedJob[],
    snapshot: Snapshot,
    {
      noticed,
      missed,
    }: { readonly noticed: ReadonlyMap<JobId, EpochMs | undefined>; readonly missed: number },
  ): StartedWaits {
    const tasks = indexServing(snapshot);
    const requests = this.#requestsOf(snapshot, tasks);
    const waits = started
      .flatMap((one) => {
        const remembered = (task: Task) => timesOf(requests.get(task), noticed.get(one.job.id));
        return deriveJobWait({ ...one, remembered }, tasks) ?? [];
      })
      .toSorted(
        by(
          ({ startedAt }) => startedAt,
          ({ id }) => id,
        ),
      );
    for (const { job } of started) this.#returned.set(job.id, job.started_at);
    return { waits, missed: missed + started.filter((one) => daemonOf(one) === undefined).length };
  }

  /**
   * The request of this process that made each task. A pool's tasks, in order of creation, belong to its
   * requests in order of time. A task beyond them replaces one that stopped.
   */
  #requestsOf({ ecs }: Snapshot, { poolOf }: ServingTasks): ReadonlyMap<Task, Request> {
    const found = new Map<Task, Request>();
    const left = this.#requests.map((request) => ({ ...request }));
    for (const task of ecs.tasks.items.toSorted(by(({ createdAt }) => createdAt ?? 0))) {
      const { createdAt } = task;
      if (createdAt === undefined) continue;
      const pool = poolOf(task);
      const request = left.find((one) => one.tasks > 0 && one.pool === pool && one.lookedAt <= createdAt);
      if (request === undefined) continue;
      request.tasks -= 1;
      found.set(task, request);
    }
    return found;
  }
}

/** The look that requested the task noticed the job in the same moment, not before it. */
function timesOf(request: Request | undefined, noticedAt: EpochMs | undefined) {
  return { requestedAt: request?.at, noticedAt: noticedAt === request?.takenAt ? undefined : noticedAt };
}

/**
 * A daemon has taken the job. coderd's reaper gives a job that it fails a start time too, but no
 * daemon (docs/coder.md §5).
 */
function isStarted(job: Job): job is StartedJob['job'] {
  if (job.started_at == null) return false;
  return job.worker_id != null || job.completed_at == null || job.completed_at > job.started_at;
}

function startedShortlyBefore({ coder }: Snapshot, now: EpochMs): number {
  const ids = coder.organizations
    .flatMap(({ jobs, previousJobs }) => [...previousJobs.items, ...jobs.items])
    .filter((job) => isStarted(job) && job.started_at <= now && job.started_at > now - MISSED_MS)
    .map(({ id }) => id);
  return new Set(ids).size;
}
