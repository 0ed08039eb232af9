/**
 * A `coder provisioner start` process (docs/internals/coder.md §5): one job at a time. At SIGTERM it takes no further
 * job, finishes its current one, and exits with 0. At SIGKILL the job stays unfinished.
 */

import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import {
  type AcquiredJob,
  ConnectionRefused,
  type Credential,
  type DaemonConnection,
  type DaemonServer,
  type InitWork,
  type JobResult,
  type StageSpan,
} from '../base/daemon-connection.ts';
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
/** The init of a template without settings of its own: nothing to download. */
const USUAL_INIT: InitWork = { warmMs: 2_000, providers: {} };

export class Daemon {
  readonly #options: DaemonOptions;
  #connection: DaemonConnection | undefined;
  #job:
    | { readonly acquired: AcquiredJob; readonly done: Planned; readonly stages: readonly StageSpan[] }
    | undefined;
  readonly #cache: ProviderCache;
  #dialling: Planned | undefined;
  #terminating = false;
  #hangs = false;
  #gone = false;

  constructor(options: DaemonOptions) {
    this.#options = options;
    this.#cache = new ProviderCache(options.random);
    this.#dialling = options.timeline.after(options.random.whole(...options.connect), () => this.#dial());
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  get isBusy(): boolean {
    return this.#job !== undefined;
  }

  /** Makes the process hang: it ignores SIGTERM and ends no job, but keeps its connection. */
  hang(): void {
    this.#hangs = true;
    this.#job?.done.cancel();
  }

  /** SIGTERM. A second one has no effect. */
  terminate(): void {
    if (this.#terminating || this.#gone || this.#hangs) return;
    this.#terminating = true;
    this.#dialling?.cancel();
    this.#connection?.cancelAcquire();
    if (this.#job === undefined) this.#exit(0);
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
    this.#connection?.close();
    const job = this.#job;
    job?.done.cancel();
    this.#job = undefined;
    return job?.acquired;
  }

  #dial(): void {
    const { server, credential, name, version } = this.#options;
    try {
      this.#connection = server.connect({ ...credential, name, version });
    } catch (error) {
      if (!(error instanceof ConnectionRefused)) throw error;
      this.#refused(error);
      return;
    }
    const connection = this.#connection;
    connection.onCancel((id) => {
      if (this.#job?.acquired.id === id && !this.#hangs) this.#finish(connection, 'canceled');
    });
    this.#acquire(connection);
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

  #acquire(connection: DaemonConnection): void {
    connection.acquire((acquired) => {
      const result = acquired.willFail ? 'failed' : 'succeeded';
      const { durationMs, stages } = this.#workOf(acquired);
      const done = this.#options.timeline.after(durationMs, () => this.#finish(connection, result));
      this.#job = { acquired, done, stages };
    });
  }

  /** A job takes longer by the downloads of its init. */
  #workOf({ durationMs, init = USUAL_INIT }: AcquiredJob) {
    const restMs = Math.max(0, durationMs - init.warmMs);
    const initMs = init === USUAL_INIT ? durationMs - restMs : this.#cache.init(init);
    const stages = stagesOf(this.#options.timeline.now(), { initMs, restMs });
    return { durationMs: initMs + restMs, stages };
  }

  #finish(connection: DaemonConnection, result: JobResult): void {
    if (this.#job === undefined) return;
    const { acquired, done, stages } = this.#job;
    done.cancel();
    this.#job = undefined;
    connection.complete(acquired.id, result, { stages });
    if (this.#terminating) this.#exit(0);
    else this.#acquire(connection);
  }

  #exit(code: number): void {
    const { timeline, random, onExit } = this.#options;
    timeline.after(random.whole(...EXIT_MS), () => {
      if (this.#gone) return;
      this.#gone = true;
      this.#connection?.close();
      onExit(code);
    });
  }
}

class ProviderCache {
  readonly #providers = new Set<string>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Runs an init, in milliseconds: downloads the providers that are missing. */
  init({ warmMs, providers, spread = 0 }: InitWork): number {
    let ms = warmMs;
    for (const [name, downloadMs] of Object.entries(providers)) {
      if (!this.#providers.has(name)) ms += downloadMs;
      this.#providers.add(name);
    }
    return Math.round(ms * this.#factor(spread));
  }

  /** Log-normal with a mean of 1, by Box and Muller. */
  #factor(spread: number): number {
    if (spread === 0) return 1;
    const radius = Math.sqrt(-2 * Math.log(1 - this.#random.next()));
    const normal = radius * Math.cos(2 * Math.PI * this.#random.next());
    return Math.exp(spread * normal - spread ** 2 / 2);
  }
}

/** The stages of a job that takes `initMs` for its init and `restMs` for all others together. */
function stagesOf(
  startedAt: EpochMs,
  { initMs, restMs }: { readonly initMs: number; readonly restMs: number },
): readonly StageSpan[] {
  const ends = [0, initMs, initMs + restMs * 0.3, initMs + restMs * 0.9, initMs + restMs].map(Math.round);
  const names = ['init', 'plan', 'apply', 'graph'] as const;
  return names.map((stage, index) => ({
    stage,
    startedAt: plusMs(startedAt, ends[index] ?? 0),
    endedAt: plusMs(startedAt, ends[index + 1] ?? 0),
  }));
}
