/** What a provisioner daemon and coderd say to each other: the seam between the two halves of the world. */
import type { DaemonId, JobId } from '../../lambda/decision/model/brands.ts';

/** A job as its daemon gets it. */
export type AcquiredJob = { readonly id: JobId; readonly durationMs: number; readonly willFail: boolean };

/** coderd's answer to a daemon that it doesn't let in. */
export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused';
  readonly status: 400 | 401 | 403;
  constructor(status: 400 | 401 | 403, message: string) {
    super(message);
    this.status = status;
  }
}

/** One websocket of one daemon. coderd heartbeats it at once, then every 60 s, for as long as it is open. */
export interface DaemonConnection {
  readonly id: DaemonId;
  /**
   * Asks for the next job. The callback comes at most once, when a job is handed over: at once or much later.
   * Asking twice without having had a job is an error of the caller.
   */
  acquire(onJob: (job: AcquiredJob) => void): void;
  /** Takes the request for a job back. A job handed over before stays the daemon's. */
  cancelAcquire(): void;
  /** Told of each of its jobs that somebody cancels while it runs: with the next update that the daemon sends. */
  onCancel(listener: (job: JobId) => void): void;
  /** Ends the job; `canceled`: it was interrupted. */
  complete(job: JobId, result: 'succeeded' | 'failed' | 'canceled'): void;
  /**
   * Closes the websocket. A running job gets no more updates from then on (real daemons send one every 500 ms
   * while the socket is open), so the hang reaper finds it 5 min later. Nothing else is written: the row reads idle or busy until it is stale.
   */
  close(): void;
}

/** The part of coderd that daemons talk to. */
export interface DaemonServer {
  /** Throws ConnectionRefused: unknown key 401, no licence 403. The same name and organization reuse a row. */
  connect(daemon: {
    readonly key: string;
    readonly name: string;
    readonly version: string;
  }): DaemonConnection;
}
