/**
 * One time limit for all readings of a look, so that three slow answers one after another leave time
 * to decide and to act. A reading that is late fails, and its requests end. Only the forecast, the token
 * and the license have budgets of their own, because they can serve earlier answers.
 */
import type { Reading } from '../decision/model/snapshot.ts';
import type { Coderd, ReadableEcs, StartTimer } from './ports.ts';
import { CODERD_READINGS, ECS_READINGS } from './reading-names.ts';

/** An invocation has 55 s, and what this leaves is for the writes to ECS. */
const READINGS_MS = 30_000;

type TimeLimitOptions = {
  /** Aborts when the invocation is over. @default never */
  readonly until?: AbortSignal | undefined;
  readonly ms?: number;
  /** @default by the clock of the process */
  readonly startTimer?: StartTimer | undefined;
};

export class TimeLimit {
  /** Aborts when the time is up, or the invocation is over. */
  readonly signal: AbortSignal;
  readonly #over = Promise.withResolvers<void>();
  readonly #ms: number;
  #why = 'the invocation ended before the answer came; the next one looks again';
  /** Call it after the last reading. */
  readonly end: () => void;

  constructor({ until, ms = READINGS_MS, startTimer = startRealTimer }: TimeLimitOptions = {}) {
    const late = new AbortController();
    this.#ms = ms;
    this.end = startTimer(ms, () => {
      this.#why = `the readings of this look took longer than ${ms / 1000} s; check the load of coderd and its database, and the network`;
      late.abort();
    });
    this.signal = until === undefined ? late.signal : AbortSignal.any([late.signal, until]);
    if (this.signal.aborted) this.#over.resolve();
    this.signal.addEventListener('abort', () => this.#over.resolve(), { once: true });
  }

  coderd(coderd: Coderd): Coderd {
    const { signal } = this;
    const what = CODERD_READINGS;
    return {
      buildInfo: () => this.#reading(what.buildInfo, coderd.buildInfo(signal)),
      organizations: () => this.#reading(what.organizations, coderd.organizations(signal)),
      jobs: (organization, build) =>
        this.#reading(what.jobs(organization), coderd.jobs(organization, build, signal)),
      daemons: (organization, build) =>
        this.#reading(what.daemons(organization), coderd.daemons(organization, build, signal)),
      jobsByIds: (organization, ids) =>
        this.#reading(what.jobsByIds(organization), coderd.jobsByIds(organization, ids, signal)),
      forecast: (organizations, when) => coderd.forecast(organizations, when),
      recentJobs: (organization, seen) => coderd.recentJobs(organization, seen),
      knowsEnd: (organization, id) => coderd.knowsEnd(organization, id),
      gone: (organization, open) => coderd.gone(organization, open),
      tokenExpiry: (now) => this.#or(undefined, coderd.tokenExpiry(now)),
      license: (now, isDoubted) => this.#or({}, coderd.license(now, isDoubted)),
    };
  }

  ecs(ecs: ReadableEcs): ReadableEcs {
    const { signal } = this;
    const { cluster, stack, ownsCluster } = ecs;
    const what = ECS_READINGS;
    return {
      cluster,
      stack,
      ownsCluster,
      services: (_, now, pools) => this.#reading(what.services(ecs), ecs.services(signal, now, pools)),
      tasks: (services) => this.#reading(what.tasks(ecs), ecs.tasks(services, signal)),
      protections: (tasks) => this.#reading(what.protections(ecs), ecs.protections(tasks, signal)),
    };
  }

  async #reading<T>(what: string, reading: Promise<Reading<T>>): Promise<Reading<T>> {
    const read = await this.#or(undefined, reading);
    return read ?? { status: 'failed', error: `${what}: ${this.#why}`, items: [], tookMs: this.#ms };
  }

  #or<T, Late>(late: Late, value: Promise<T>): Promise<T | Late> {
    return Promise.race([this.#over.promise.then(() => late), value]);
  }
}

function startRealTimer(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
}
