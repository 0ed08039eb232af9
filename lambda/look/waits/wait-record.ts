/**
 * Finds the jobs that started since the last look, and splits their waits. Each job is returned
 * once. The memory is that of the process: when it began to look, which jobs it saw pending and
 * since when, which jobs it returned, and the tasks that it requested.
 */
import type { EpochMs, JobId, OrganizationId } from '../../decision/model/brands.ts';
import type { Plan } from '../../decision/model/plan.ts';
import type { PromisedStart, Promises } from '../../decision/model/promise.ts';
import type { Job, OrganizationReadings, Snapshot, Task } from '../../decision/model/snapshot.ts';
import { tagKey } from '../../decision/model/tags.ts';
import { HOUR_MS, MINUTE_MS } from '../../decision/model/units.ts';
import type { LookResult } from '../look.ts';
import { deriveJobWait, indexServing, type JobWait, type StartedJob } from './job-wait.ts';
import { type LaunchRequest, LaunchRequests } from './launch-requests.ts';

/** ECS forgets a stopped task after an hour (docs/internals/aws.md §1), so an older start cannot be split. */
const KEPT_MS = HOUR_MS;
/** Jobs that started this long before the first look of a process count as missed. */
const MISSED_MS = 10 * MINUTE_MS;
/** The list of workspaces, which tells a late start, is read every five minutes at least. */
const GONE_MS = 10 * MINUTE_MS;
/** So long a start waits for lists that a look could not read. */
const SETTLED_MS = 10 * MINUTE_MS;
/** Lambda may freeze a process for longer. Another process looks and returns jobs in this time. */
const FROZEN_MS = 3 * MINUTE_MS;

/** The waits of the jobs that started since the last look. */
export type StartedWaits = {
  readonly waits: readonly JobWait[];
  /**
   * At most so many jobs started and are not in `waits`: jobs that left the queue while no look saw
   * their start (a person may have canceled them; unschedulable ones did not start), jobs whose daemon
   * coderd does not list, and
   * those that started shortly before the first look of this process (an earlier process may have
   * returned them).
   */
  readonly missed: number;
};

type Pending = {
  readonly organization: OrganizationId;
  readonly from: EpochMs;
  /** What the first look that saw the job promised. Undefined: nothing. */
  promised?: PromisedStart | undefined;
  lastSeenAt: EpochMs;
  /** In the last look that saw it. */
  isSchedulable: boolean;
};

type Look = Pick<LookResult, 'snapshot' | 'plan' | 'outcome'> & Partial<Pick<LookResult, 'promises'>>;

export class WaitRecord {
  #since: EpochMs | undefined;
  #lastLookAt: EpochMs | undefined;
  readonly #pending = new Map<JobId, Pending>();
  readonly #returned = new Map<JobId, EpochMs>();
  readonly #requests = new LaunchRequests();

  /**
   * Call it once after each look. `durationMs`: how long the look took. With `promises` each wait has
   * what the first look that saw the job promised.
   */
  after({ snapshot, plan, outcome, promises }: Look, durationMs: number): StartedWaits {
    const { takenAt } = snapshot;
    const isFirst = this.#lastLookAt === undefined || takenAt - this.#lastLookAt > FROZEN_MS;
    this.#lastLookAt = takenAt;
    if (isFirst) this.#since = takenAt;
    this.#forget(takenAt);
    this.#notice(snapshot, plan, promises);
    if (isFirst) this.#forgetUnseen(takenAt);
    this.#requests.add(snapshot, outcome.applied, { durationMs, oldest: takenAt - KEPT_MS });
    const started = snapshot.coder.organizations.flatMap((organization) =>
      this.#startedIn(organization, snapshot),
    );
    const noticed = new Map(started.map(({ job }) => [job.id, this.#pending.get(job.id)]));
    for (const { job } of started) this.#pending.delete(job.id);
    const missed = isFirst ? startedShortlyBefore(snapshot, takenAt) : this.#gone(snapshot);
    return started.length === 0 ? { waits: [], missed } : this.#split(started, snapshot, { noticed, missed });
  }

  /** Counts the jobs that left the queue a while ago, each once. */
  #gone({ coder, takenAt }: Snapshot): number {
    const read = new Set(coder.organizations.flatMap(({ id, jobs }) => (jobs.status === 'ok' ? [id] : [])));
    const gone = [...this.#pending].filter(
      // a list that cannot be read shows no job, whether it is in the queue or not
      ([, { organization, lastSeenAt }]) =>
        lastSeenAt < takenAt - (read.has(organization) ? GONE_MS : KEPT_MS),
    );
    if (gone.length === 0) return 0;
    for (const [id] of gone) this.#pending.delete(id);
    const ended = new Set(
      coder.organizations.flatMap(({ recentJobs }) =>
        (recentJobs?.items ?? []).flatMap(({ id, completed_at }) => (completed_at == null ? [] : [id])),
      ),
    );
    return gone.filter(([id, { isSchedulable }]) => isSchedulable && !ended.has(id)).length;
  }

  #forget(now: EpochMs): void {
    const oldest = now - KEPT_MS;
    for (const [id, startedAt] of this.#returned) if (startedAt < oldest) this.#returned.delete(id);
  }

  /** Forgets the jobs that left the queue while another process looked. */
  #forgetUnseen(now: EpochMs): void {
    for (const [id, { lastSeenAt }] of this.#pending) if (lastSeenAt < now) this.#pending.delete(id);
  }

  #notice({ coder, takenAt }: Snapshot, { unserved }: Plan, promises?: () => Promises): void {
    const added = new Map<JobId, Pending>();
    const groups = new Set(unserved.map(({ organization, tags }) => `${organization} ${tagKey(tags)}`));
    for (const { id: organization, name, jobs } of coder.organizations)
      for (const { id, started_at, tags } of jobs.items) {
        const seen = { lastSeenAt: takenAt, isSchedulable: !groups.has(`${name} ${tagKey(tags)}`) };
        const known = this.#pending.get(id);
        if (known !== undefined) Object.assign(known, seen);
        else if (started_at == null) added.set(id, { organization, from: takenAt, ...seen });
      }
    for (const [id, pending] of added) this.#pending.set(id, pending);
    if (added.size === 0) return;
    for (const { id, startsAt } of promises?.().pendingJobs ?? []) {
      const pending = added.get(id);
      if (pending !== undefined && startsAt !== null) pending.promised = startsAt;
    }
  }

  /**
   * The jobs of an organization that started since the first look and were not returned yet. If a
   * list is unread that tells who served a job, the job comes with a later look.
   */
  #startedIn(organization: OrganizationReadings, { takenAt: now, ecs }: Snapshot): readonly StartedJob[] {
    const { jobs, previousJobs, recentJobs } = organization;
    const isRead = organization.daemons.status === 'ok' && isEcsRead(ecs);
    const earliest = Math.max(this.#since ?? now, now - KEPT_MS);
    const found = new Map<JobId, StartedJob>();
    for (const list of [recentJobs?.items ?? [], previousJobs.items, jobs.items])
      for (const job of list)
        if ((job.started_at ?? 0) > earliest && isStarted(job) && !this.#returned.has(job.id))
          if (isRead || job.started_at < now - SETTLED_MS) found.set(job.id, { job, organization });
    return [...found.values()];
  }

  #split(
    started: readonly StartedJob[],
    snapshot: Snapshot,
    {
      noticed,
      missed,
    }: { readonly noticed: ReadonlyMap<JobId, Pending | undefined>; readonly missed: number },
  ): StartedWaits {
    // first, so that a job whose wait cannot be computed does not fail the next look too
    for (const { job } of started) this.#returned.set(job.id, job.started_at);
    const tasks = indexServing(snapshot);
    const requests = this.#requests.ofTasks(snapshot, tasks);
    const waits: JobWait[] = [];
    let untold = 0;
    for (const one of started) {
      const pending = noticed.get(one.job.id);
      const remembered = (task: Task) => timesOf(requests.get(task), pending?.from);
      const wait = deriveJobWait({ ...one, remembered }, tasks);
      if (wait !== undefined) waits.push({ ...wait, promised: pending?.promised });
      if (tasks.daemonOf(one.job) === undefined || (wait === undefined && !isEcsRead(snapshot.ecs)))
        untold += 1;
    }
    return { waits, missed: missed + untold };
  }
}

/** Whether both lists are known that tell the pool and the task of a daemon. */
function isEcsRead({ services, tasks }: Snapshot['ecs']): boolean {
  return services.status === 'ok' && tasks.status === 'ok';
}

/** The look that requested the task noticed the job in the same moment, not before it. */
function timesOf(request: LaunchRequest | undefined, noticedAt: EpochMs | undefined) {
  return { requestedAt: request?.at, noticedAt: noticedAt === request?.takenAt ? undefined : noticedAt };
}

/**
 * A daemon has taken the job. coderd's reaper gives a job that it fails a start time too, but no
 * daemon (docs/internals/coder.md §5).
 */
function isStarted(job: Job): job is StartedJob['job'] {
  return job.started_at != null && job.worker_id != null;
}

function startedShortlyBefore({ coder }: Snapshot, now: EpochMs): number {
  const ids = coder.organizations
    .flatMap(({ jobs, previousJobs }) => [...previousJobs.items, ...jobs.items])
    .filter((job) => isStarted(job) && job.started_at > now - MISSED_MS)
    .map(({ id }) => id);
  return new Set(ids).size;
}
