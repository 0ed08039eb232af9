import type { DaemonId, JobId, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import { type TagSet, tagKey } from '../../../lambda/decision/model/tags.ts';
import type { AcquiredJob, DaemonConnection, JobResult } from '../base/daemon-connection.ts';
import type { Random } from '../base/random.ts';
import { SimulatorError } from '../base/simulator-error.ts';
import type { Planned, Timeline } from '../base/timeline.ts';
import type { Acquirer, Asker } from './acquirer.ts';
import { CoderVersion } from './rules/versions.ts';
import { type DaemonRegistration, type DaemonTable, HEARTBEAT_MS } from './tables/daemons.ts';
import type { Job, JobTable } from './tables/jobs.ts';
import { type Admitted, daemonTags } from './tables/keys.ts';

/** Between updates of a job, whose answers tell that it was cancelled (docs/internals/coder.md §5). */
const UPDATE_MS = 500;

type Tables = {
  readonly timeline: Timeline;
  readonly jobs: JobTable;
  readonly daemons: DaemonTable;
};

type SessionParts = Tables & {
  /** Of the replica to which the daemon has connected. */
  readonly acquirer: Acquirer;
  readonly onClosed: (session: Session) => void;
};

/**
 * One websocket of one daemon, as coderd sees it. It works on the row that it found or created when
 * it was opened, even if that row is deleted or overwritten by another session later.
 *
 * A job is updated by the session to which it was handed. A session may find running jobs of its
 * row that no session updates. It adopts them, as those of a daemon that has reconnected. If it
 * then asks for a job, it was another process with the same name, and those jobs get no updates
 * again.
 */
class Session implements DaemonConnection, Asker {
  readonly id: DaemonId;
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
  readonly tagKey: string;
  readonly keyId: string;
  readonly #parts: SessionParts;
  readonly #heartbeat: Planned;
  readonly #held = new Set<Job>();
  readonly #adopted: readonly Job[];
  #onJob: ((job: AcquiredJob) => void) | undefined;
  #onCancel: (job: JobId) => void = () => {};
  #state: 'open' | 'closing' | 'closed by coderd' | 'closed' = 'open';

  constructor(registration: DaemonRegistration, parts: SessionParts) {
    const { timeline, daemons, jobs } = parts;
    this.id = daemons.upsert(registration, timeline.now()).id;
    this.organizationId = registration.organizationId;
    this.tags = registration.tags;
    this.tagKey = tagKey(registration.tags);
    this.keyId = registration.keyId;
    this.#parts = parts;
    this.#heartbeat = timeline.every(HEARTBEAT_MS, () => daemons.beat(this.id, timeline.now()));
    this.#adopted = jobs.currentOf(this.id).filter((job) => job.updatedBy === undefined);
    for (const job of this.#adopted) job.updatedBy = this;
  }

  acquire(onJob: (job: AcquiredJob) => void): void {
    if (this.#state === 'closed by coderd') return;
    this.#mustBeOpen('asking for a job');
    if (this.#onJob !== undefined || this.#held.size > 0)
      throw new SimulatorError(
        `asking for a job: daemon ${this.id} has already asked or has a job; it may have one job at a time`,
      );
    for (const job of this.#adopted) if (job.updatedBy === this) job.updatedBy = undefined;
    this.#onJob = onJob;
    this.#parts.acquirer.ask(this);
  }

  cancelAcquire(): void {
    this.#onJob = undefined;
    this.#parts.acquirer.withdraw(this);
  }

  onCancel(listener: (job: JobId) => void): void {
    this.#onCancel = listener;
  }

  /** The daemon learns it with the answer to its next update. */
  tellCancelled(job: Job): void {
    this.#parts.timeline.after(UPDATE_MS, () => {
      if (job.updatedBy === this) this.#onCancel(job.id);
    });
  }

  take(job: Job): void {
    const { jobs, timeline } = this.#parts;
    const onJob = this.#onJob;
    if (onJob === undefined)
      throw new SimulatorError(`handing over job ${job.id}: daemon ${this.id} has not asked for a job`);
    const isCancelled = job.completedAt !== undefined;
    jobs.start(job, { worker: this.id, session: this, at: timeline.now() });
    this.#held.add(job);
    this.#onJob = undefined;
    onJob({
      id: job.id,
      durationMs: isCancelled ? UPDATE_MS : job.durationMs,
      willFail: job.willFail && !isCancelled,
    });
  }

  /** Without effect if the job has another worker or has ended (by a reaper or a cancellation). */
  complete(id: JobId, result: JobResult): void {
    if (this.#state === 'closed by coderd') return;
    this.#mustBeOpen('completing a job');
    const job = this.#parts.jobs.get(id);
    if (job === undefined) throw new SimulatorError(`completing job ${id}: there is none`);
    this.#held.delete(job);
    if (job.workerId === this.id && job.completedAt === undefined) {
      const error = errorOf(result);
      this.#parts.jobs.complete(job, {
        at: this.#parts.timeline.now(),
        by: 'reported',
        ...(error !== undefined && { error }),
      });
    }
    if (this.#state === 'closing') this.#close('closed by coderd');
  }

  close(): void {
    if (this.#state === 'closed by coderd') this.#state = 'closed';
    if (this.#state !== 'closed') this.#close('closed');
  }

  /** Its websocket ends, and the daemon does not come back: it still waits, or its network is cut off. */
  lose(): void {
    this.#close('closed by coderd');
  }

  /** Closes the session of a deleted key, a busy one after its job (docs/internals/coder.md §3). */
  closeWhenFree(): void {
    const isBusy = this.#held.size > 0 || this.#adopted.some((job) => job.updatedBy === this);
    if (isBusy) this.#state = 'closing';
    else this.#close('closed by coderd');
  }

  #close(state: 'closed by coderd' | 'closed'): void {
    this.#state = state;
    this.cancelAcquire();
    this.#heartbeat.cancel();
    for (const job of [...this.#held, ...this.#adopted]) {
      if (job.updatedBy !== this) continue;
      job.updatedBy = undefined;
      job.updatedAt = this.#parts.timeline.now();
    }
    this.#parts.onClosed(this);
  }

  #mustBeOpen(doing: string): void {
    if (this.#state === 'open' || this.#state === 'closing') return;
    throw new SimulatorError(`${doing}: the websocket of daemon ${this.id} is closed; connect again`);
  }
}

/** An interrupted daemon reports a failure, whatever interrupted it (docs/internals/coder.md §5). */
function errorOf(result: JobResult): string | undefined {
  if (result === 'failed') return 'terraform apply: exit status 1';
  return result === 'canceled' ? 'canceled' : undefined;
}

type SessionsParts = Tables & { readonly acquirers: readonly Acquirer[]; readonly random: Random };

export class Sessions {
  readonly #open = new Set<Session>();
  readonly #parts: SessionsParts;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
  }

  open(admitted: Admitted, daemon: { readonly name: string; readonly version: string }): DaemonConnection {
    const { key } = admitted;
    const { acquirers, random, ...tables } = this.#parts;
    const acquirer = acquirers.length > 1 ? random.pick(acquirers) : acquirers[0];
    if (acquirer === undefined) throw new SimulatorError('connecting a daemon: coderd has no replica');
    const session = new Session(
      {
        organizationId: key.organizationId,
        name: daemon.name,
        keyId: key.id,
        keyName: key.name,
        tags: daemonTags(admitted),
        version: daemon.version,
        apiVersion: new CoderVersion(daemon.version).provisionerApi,
      },
      { ...tables, acquirer, onClosed: (closed) => this.#open.delete(closed) },
    );
    this.#open.add(session);
    return session;
  }

  tellCancelled(job: Job): void {
    for (const session of this.#open) if (job.updatedBy === session) session.tellCancelled(job);
  }

  lose(ids: ReadonlySet<DaemonId>): void {
    for (const session of [...this.#open]) if (ids.has(session.id)) session.lose();
  }

  closeOfKey(keyId: string): void {
    for (const session of [...this.#open]) if (session.keyId === keyId) session.closeWhenFree();
  }
}
