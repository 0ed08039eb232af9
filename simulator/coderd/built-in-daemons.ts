import type { DaemonId, JobId } from '../../lambda/decision/model/brands.ts';
import type { AcquiredJob, DaemonConnection, JobResult } from '../base/daemon-connection.ts';
import type { Planned, Timeline } from '../base/timeline.ts';

/** One of coderd's own daemons: it runs one job after the other until it is told to leave. */
export class BuiltInDaemon {
  readonly #connection: DaemonConnection;
  readonly #timeline: Timeline;
  #job: { readonly id: JobId; readonly end: Planned } | undefined;
  #state: 'working' | 'leaving' | 'gone' = 'working';

  constructor(connection: DaemonConnection, timeline: Timeline) {
    this.#connection = connection;
    this.#timeline = timeline;
    connection.onCancel((id) => {
      if (this.#job?.id === id) this.#finish(this.#job, 'canceled');
    });
    this.#acquire();
  }

  get id(): DaemonId {
    return this.#connection.id;
  }

  get isGone(): boolean {
    return this.#state === 'gone';
  }

  /** As at SIGTERM: it takes no further job, and finishes its current one. */
  terminate(): void {
    this.#state = 'leaving';
    this.#connection.cancelAcquire();
    if (this.#job === undefined) this.#leave();
  }

  /** As at SIGKILL: its job stays unfinished. */
  kill(): void {
    this.#job?.end.cancel();
    this.#leave();
  }

  #acquire(): void {
    this.#connection.acquire(({ id, durationMs, willFail }: AcquiredJob) => {
      const end = this.#timeline.after(durationMs, () => {
        if (this.#job !== undefined) this.#finish(this.#job, willFail ? 'failed' : 'succeeded');
      });
      this.#job = { id, end };
    });
  }

  #finish(job: { readonly id: JobId; readonly end: Planned }, result: JobResult): void {
    job.end.cancel();
    this.#job = undefined;
    this.#connection.complete(job.id, result);
    if (this.#state === 'leaving') this.#leave();
    else this.#acquire();
  }

  #leave(): void {
    this.#state = 'gone';
    this.#connection.close();
  }
}
