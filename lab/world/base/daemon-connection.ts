/** The interface between a provisioner daemon and coderd, the two halves of the world. */
import type { DaemonId, JobId } from '../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';

export type AcquiredJob = {
  readonly id: JobId;
  readonly durationMs: number;
  readonly willFail: boolean;
};

export type JobResult = 'succeeded' | 'failed' | 'canceled';

export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused';
  readonly status: 400 | 401 | 403 | 404;
  constructor(status: 400 | 401 | 403 | 404, message: string) {
    super(message);
    this.status = status;
  }
}

/** One websocket of one daemon. coderd writes a heartbeat at once, then every 60 s while it is open. */
export interface DaemonConnection {
  readonly id: DaemonId;
  /** `onJob` is called at most once: at once or much later. A second call before it is an error. */
  acquire(onJob: (job: AcquiredJob) => void): void;
  /** Withdraws the request for a job. A job handed over before stays with the daemon. */
  cancelAcquire(): void;
  /** Called for each of the daemon's jobs that is cancelled while it runs, with the daemon's next update. */
  onCancel(listener: (job: JobId) => void): void;
  /** Ends the job; `canceled` means that it was interrupted. */
  complete(job: JobId, result: JobResult): void;
  /**
   * A running job gets no more updates, so the hang reaper finds it 5 min later. Nothing else is written: the row
   * stays idle or busy until it is stale.
   */
  close(): void;
}

/** How a daemon identifies itself, and what it asks to be (docs/internals/coder.md §3). */
export type Credential = {
  readonly key?: string;
  readonly psk?: string;
  readonly token?: string;
  /** The name or id in the path of the request. @default the default organization */
  readonly organization?: string;
  /** @default none */
  readonly tags?: Tags;
};

export interface DaemonServer {
  /**
   * The same name and organization reuse a row.
   * @throws ConnectionRefused with 401 for an unknown credential, 403 without a licence or the right
   */
  connect(daemon: Credential & { readonly name: string; readonly version: string }): DaemonConnection;
}

/** The server, with listeners for what its daemons do. */
export function listening(
  server: DaemonServer,
  listeners: {
    readonly onConnect: () => void;
    readonly onJob: (job: AcquiredJob) => void;
    readonly onComplete: () => void;
  },
): DaemonServer {
  return {
    connect: (daemon) => {
      const connection = server.connect(daemon);
      listeners.onConnect();
      return {
        id: connection.id,
        acquire: (onJob) =>
          connection.acquire((job) => {
            listeners.onJob(job);
            onJob(job);
          }),
        cancelAcquire: () => connection.cancelAcquire(),
        onCancel: (listener) => connection.onCancel(listener),
        close: () => connection.close(),
        complete: (job, result) => {
          listeners.onComplete();
          connection.complete(job, result);
        },
      };
    },
  };
}
