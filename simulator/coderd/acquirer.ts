import type { OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { TagSet } from '../../lambda/decision/model/tags.ts';
import type { Random } from '../base/random.ts';
import type { Job } from './tables/jobs.ts';
import type { PendingQueue } from './tables/pending-queue.ts';

/** A daemon that can get a job. */
export type Asker = {
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
  /** `tagKey(tags)`. */
  readonly tagKey: string;
  take(job: Job): void;
};

/**
 * Hands jobs to daemons as soon as both are there (docs/internals/coder.md §4: pubsub wakes a
 * waiting daemon). Which of several waiting daemons gets a new job is a race in coderd; here the
 * seed decides.
 */
export class Acquirer {
  readonly #waiting = new Map<OrganizationId, Set<Asker>>();
  readonly #queue: PendingQueue;
  readonly #random: Random;

  constructor(queue: PendingQueue, random: Random) {
    this.#queue = queue;
    this.#random = random;
  }

  ask(asker: Asker): void {
    const job = this.#queue.take(asker);
    if (job === undefined) this.#waitingIn(asker.organizationId).add(asker);
    else asker.take(job);
  }

  withdraw(asker: Asker): void {
    this.#waitingIn(asker.organizationId).delete(asker);
  }

  /** Hands a new job to a waiting daemon, or puts it into the queue. */
  offer(job: Job): void {
    const fitting = [...this.#waitingIn(job.organizationId)].filter((asker) => this.#queue.fits(asker, job));
    const taker = this.#random.pick(fitting);
    if (taker === undefined) {
      this.#queue.add(job);
      return;
    }
    this.withdraw(taker);
    taker.take(job);
  }

  #waitingIn(organizationId: OrganizationId): Set<Asker> {
    const found = this.#waiting.get(organizationId) ?? new Set();
    this.#waiting.set(organizationId, found);
    return found;
  }
}
