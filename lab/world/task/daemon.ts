/**
 * A `coder provisioner start` process (docs/internals/coder.md §5): one job at a time. At SIGTERM it takes no further
 * job, finishes its current one, and exits with 0. At SIGKILL the job stays unfinished.
 */
import {
  type AcquiredJob,
  ConnectionRefused,
  type Credential,
  type DaemonServer,
} from '../base/daemon-connection.ts';
import { JobRunner } from '../base/job-runner.ts';
import type { Random } from '../base/random.ts';
import type { Planned, Timeline } from '../base/timeline.ts';
import type { Range } from '../ecs/parts/latencies.ts';

export type DaemonOptions = {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly server: DaemonServer;
  /** From the start until it is registered with coderd. */
  readonly connect: Range;
  readonly credential: Credential;
  readonly name: string;
  readonly version: string;
  readonly onExit: (code: number) => void;
  /** Called for a job that was running when the process was killed. */
  readonly onKilledJob: (job: AcquiredJob) => void;
};

/** A daemon's process, as its container needs it. */
export type DaemonProcess = Pick<Daemon, 'isBusy' | 'terminate' | 'kill'>;

/** The time between two attempts to connect to coderd; the real backoff ends at 10 s. */
const REDIAL_MS = 10_000;
const EXIT_MS: Range = [50, 300];

export class Daemon {
  readonly #options: DaemonOptions;
  #runner: JobRunner | undefined;
  #dialling: Planned | undefined;
  #terminating = false;
  #hangs = false;
  #gone = false;

  constructor(options: DaemonOptions) {
    this.#options = options;
    this.#dialling = options.timeline.after(options.random.whole(...options.connect), () => this.#dial());
  }

  get isConnected(): boolean {
    return this.#runner !== undefined;
  }

  get isBusy(): boolean {
    return this.#runner?.isBusy ?? false;
  }

  /** Makes the process hang: it ignores SIGTERM and ends no job, but keeps its connection. */
  hang(): void {
    this.#hangs = true;
    this.#runner?.hang();
  }

  /** SIGTERM. A second one has no effect. */
  terminate(): void {
    if (this.#terminating || this.#gone || this.#hangs) return;
    this.#terminating = true;
    this.#dialling?.cancel();
    if (this.#runner === undefined) this.#exit(0);
    else this.#runner.terminate();
  }

  kill(): void {
    const job = this.#die();
    if (job !== undefined) this.#options.onKilledJob(job);
  }

  /** Unasked (a crash, out of memory). Returns the job that stays unfinished. */
  crash(code: number): AcquiredJob | undefined {
    if (this.#gone) return undefined;
    const job = this.#die();
    this.#options.onExit(code);
    return job;
  }

  #die(): AcquiredJob | undefined {
    if (this.#gone) return undefined;
    this.#gone = true;
    this.#dialling?.cancel();
    return this.#runner?.kill();
  }

  #dial(): void {
    const { server, timeline, credential, name, version } = this.#options;
    try {
      const connection = server.connect({ ...credential, name, version });
      this.#runner = new JobRunner(connection, timeline, () => this.#exit(0));
    } catch (error) {
      if (!(error instanceof ConnectionRefused)) throw error;
      this.#refused(error);
    }
  }

  /**
   * With an invalid key or token it exits at once, without a licence or the right it stays and does nothing, and with
   * an invalid pre-shared key or version it redials without end (docs/internals/coder.md §5).
   */
  #refused({ status, message }: ConnectionRefused): void {
    const isUnknownPsk = status === 401 && this.#options.credential.psk !== undefined;
    const redials = isUnknownPsk || (status === 400 && message.startsWith('Incompatible'));
    if (redials) this.#dialling = this.#options.timeline.after(REDIAL_MS, () => this.#dial());
    else if (status !== 403) this.#exit(1);
  }

  #exit(code: number): void {
    const { timeline, random, onExit } = this.#options;
    timeline.after(random.whole(...EXIT_MS), () => {
      if (this.#gone) return;
      this.#die();
      onExit(code);
    });
  }
}
