import type { DaemonId } from '../../../lambda/decision/model/brands.ts';
import type { AcquiredJob, DaemonConnection, JobResult } from './daemon-connection.ts';
import type { Planned, Timeline } from './timeline.ts';

/** A connected daemon at work (docs/internals/coder.md §5): one job after the other, until it is told to leave. */
export class JobRunner {
  readonly id: DaemonId;
  readonly #connection: DaemonConnection;
  readonly #timeline: Timeline;
  readonly #onLeft: () => void;
  #job: { readonly acquired: AcquiredJob; readonly done: Planned } | undefined;
  #state: 'working' | 'leaving' | 'gone' = 'working';
  #hangs = false;

  /** `onLeft`: called once it has no job after it was told to leave. @default its connection closes */
  constructor(connection: DaemonConnection, timeline: Timeline, onLeft?: () => void) {
    this.id = connection.id;
    this.#connection = connection;
    this.#timeline = timeline;
    this.#onLeft = onLeft ?? (() => void this.kill());
    connection.onCancel((id) => {
      if (this.#job?.acquired.id === id && !this.#hangs) this.#finish('canceled');
    });
    this.#acquire();
  }

  get isBusy(): boolean {
    return this.#job !== undefined;
  }

  get isGone(): boolean {
    return this.#state === 'gone';
  }

  /** As at SIGTERM: it takes no further job, and finishes its current one. */
  terminate(): void {
    this.#state = 'leaving';
    this.#connection.cancelAcquire();
    if (this.#job === undefined) this.#onLeft();
  }

  /** Ends no job any more, but keeps its connection. */
  hang(): void {
    this.#hangs = true;
    this.#job?.done.cancel();
  }

  /** As at SIGKILL. Returns the job that stays unfinished. */
  kill(): AcquiredJob | undefined {
    this.#state = 'gone';
    this.#connection.close();
    const job = this.#job;
    job?.done.cancel();
    this.#job = undefined;
    return job?.acquired;
  }

  #acquire(): void {
    this.#connection.acquire((acquired) => {
      const result = acquired.willFail ? 'failed' : 'succeeded';
      const done = this.#timeline.after(acquired.durationMs, () => this.#finish(result));
      this.#job = { acquired, done };
    });
  }

  #finish(result: JobResult): void {
    if (this.#job === undefined) return;
    const { acquired, done } = this.#job;
    done.cancel();
    this.#job = undefined;
    this.#connection.complete(acquired.id, result);
    if (this.#state === 'leaving') this.#onLeft();
    else this.#acquire();
  }
}
