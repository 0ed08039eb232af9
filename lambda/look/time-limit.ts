/**
 * One time limit for all readings of a look, so that three slow answers one after another leave time
 * to decide and to act. A reading that is late fails; its request ends by its own limit. Only the
 * forecast has a budget of its own, because it can serve earlier lists.
 */
import type { Reading } from '../decision/model/snapshot.ts';
import type { Coderd, ReadableEcs } from './ports.ts';

/** In real time. An invocation has 55 s, and what this leaves is for the writes to ECS. */
const READINGS_MS = 30_000;

export class TimeLimit {
  readonly #over = Promise.withResolvers<void>();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #ms: number;

  constructor(ms = READINGS_MS) {
    this.#ms = ms;
    this.#timer = setTimeout(() => this.#over.resolve(), ms);
  }

  /** Call it after the last reading. */
  end(): void {
    clearTimeout(this.#timer);
  }

  coderd(coderd: Coderd): Coderd {
    const of = ({ name }: { readonly name: string }): string => `of organization "${name}"`;
    return {
      buildInfo: () => this.#reading('reading the build info', coderd.buildInfo()),
      organizations: () => this.#reading('listing organizations', coderd.organizations()),
      jobs: (organization, build) =>
        this.#reading(`listing provisioner jobs ${of(organization)}`, coderd.jobs(organization, build)),
      daemons: (organization, build) =>
        this.#reading(`listing provisioner daemons ${of(organization)}`, coderd.daemons(organization, build)),
      jobsByIds: (organization, ids) =>
        this.#reading(`reading previous jobs ${of(organization)}`, coderd.jobsByIds(organization, ids)),
      forecast: (organizations, when) => coderd.forecast(organizations, when),
      recentJobs: (organization, seen) => coderd.recentJobs(organization, seen),
      knowsEnd: (organization, id) => coderd.knowsEnd(organization, id),
      tokenExpiry: (now) => this.#or(undefined, coderd.tokenExpiry(now)),
      license: (now, isDoubted) => this.#or({}, coderd.license(now, isDoubted)),
    };
  }

  ecs(ecs: ReadableEcs): ReadableEcs {
    const { cluster, stack, ownsCluster } = ecs;
    return {
      cluster,
      stack,
      ownsCluster,
      services: (now) => this.#reading(`listing services of cluster "${cluster}"`, ecs.services(now)),
      tasks: (services) => this.#reading(`listing tasks of cluster "${cluster}"`, ecs.tasks(services)),
      protections: (tasks) =>
        this.#reading(`reading task protection in cluster "${cluster}"`, ecs.protections(tasks)),
    };
  }

  #reading<T>(what: string, reading: Promise<Reading<T>>): Promise<Reading<T>> {
    const error = `${what}: the readings of this look took longer than ${this.#ms / 1000} s; check the load of coderd and its database, and the network`;
    return this.#or({ status: 'failed', error, items: [], tookMs: this.#ms }, reading);
  }

  #or<T>(late: T, value: Promise<T>): Promise<T> {
    return Promise.race([value, this.#over.promise.then(() => late)]);
  }
}
