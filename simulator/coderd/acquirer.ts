import type { OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { TagSet } from '../../lambda/decision/model/tags.ts';
import type { Random } from '../base/random.ts';
import { tagsetContains } from './rules/tagset-contains.ts';
import { type Job, PREBUILDS_USER } from './tables/jobs.ts';

export type Asker = {
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
  readonly tagKey: string;
  take(job: Job): void;
};

/**
 * Hands jobs to daemons as soon as both are there (docs/internals/coder.md §4). Which of several daemons gets a new
 * job is a race in coderd; here the seed decides.
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

type Tagged = { readonly tags: TagSet; readonly tagKey: string };

/** The unstarted jobs of one organization that have the same tag set, each list oldest first. */
type TagGroup = Tagged & { readonly people: Set<Job>; readonly prebuilds: Set<Job> };

/** What AcquireProvisionerJob can find (docs/internals/coder.md §4): prebuilds last, the oldest first. */
export class PendingQueue {
  readonly #groups = new Map<OrganizationId, Map<string, TagGroup>>();
  readonly #fits = new Map<string, boolean>();
  readonly #prebuildsLast: boolean;

  constructor(options: { readonly prebuildsLast: boolean }) {
    this.#prebuildsLast = options.prebuildsLast;
  }

  add(job: Job): void {
    const groups = this.#groups.get(job.organizationId) ?? new Map<string, TagGroup>();
    const group = groups.get(job.tagKey) ?? {
      tags: job.tags,
      tagKey: job.tagKey,
      people: new Set(),
      prebuilds: new Set(),
    };
    this.#groups.set(job.organizationId, groups);
    groups.set(job.tagKey, group);
    this.#listOf(group, job).add(job);
  }

  remove(job: Job): void {
    const groups = this.#groups.get(job.organizationId);
    const group = groups?.get(job.tagKey);
    if (groups === undefined || group === undefined) return;
    this.#listOf(group, job).delete(job);
    if (group.people.size + group.prebuilds.size === 0) groups.delete(job.tagKey);
  }

  take(daemon: Tagged & { readonly organizationId: OrganizationId }): Job | undefined {
    const groups = [...(this.#groups.get(daemon.organizationId)?.values() ?? [])];
    const next = groups
      .filter((group) => this.fits(daemon, group))
      .flatMap(firstOf)
      .sort((a, b) => this.#rank(a) - this.#rank(b) || a.sequence - b.sequence)[0];
    if (next !== undefined) this.remove(next);
    return next;
  }

  /** Whether the daemon's tags fit the job's; cached, since there are far fewer tag sets than jobs. */
  fits(daemon: Tagged, job: Tagged): boolean {
    const key = `${daemon.tagKey} ${job.tagKey}`;
    const known = this.#fits.get(key) ?? tagsetContains(daemon.tags, job.tags);
    this.#fits.set(key, known);
    return known;
  }

  #listOf(group: TagGroup, job: Job): Set<Job> {
    return this.#rank(job) === 0 ? group.people : group.prebuilds;
  }

  #rank(job: Job): 0 | 1 {
    return this.#prebuildsLast && job.initiatorId === PREBUILDS_USER ? 1 : 0;
  }
}

function firstOf({ people, prebuilds }: TagGroup): Job[] {
  const first = people.values().next().value ?? prebuilds.values().next().value;
  return first === undefined ? [] : [first];
}
