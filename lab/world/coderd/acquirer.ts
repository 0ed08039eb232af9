import type { EpochMs, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import { ownValue } from '../../../lambda/decision/model/collections.ts';
import type { TagSet } from '../../../lambda/decision/model/tags.ts';
import type { Random } from '../base/random.ts';
import type { Planned, Timeline } from '../base/timeline.ts';
import { tagsetContains } from './rules/tagset-contains.ts';
import { type Job, PREBUILDS_USER } from './tables/jobs.ts';

export type Asker = Tagged & {
  readonly organizationId: OrganizationId;
  take(job: Job): void;
};

/** How often a domain asks for jobs without a posting. */
const POLL_MS = 30_000;

/** The daemons of one organization with the same tags that wait for a job. Without any, coderd has no domain. */
type Domain = Tagged & {
  readonly organizationId: OrganizationId;
  readonly waiting: Set<Asker>;
  poll?: Planned;
  /** When its last daemon got a job. */
  emptiedAt?: EpochMs;
};

/**
 * Wakes waiting daemons as one replica of coderd does (docs/internals/coder.md §4). A posting wakes one domain whose
 * tags contain the job's, even if that domain may not run the job. The job then waits for the poll of another domain.
 * Where coderd follows the random order of a Go map, the seed decides.
 */
export class Acquirer {
  readonly #domains = new Map<string, Domain>();
  readonly #queue: PendingQueue;
  readonly #random: Random;
  readonly #timeline: Timeline;

  constructor(queue: PendingQueue, { random, timeline }: { random: Random; timeline: Timeline }) {
    this.#queue = queue;
    this.#random = random;
    this.#timeline = timeline;
  }

  /** A daemon that joins waiting ones asks for nothing until its domain is woken. */
  ask(asker: Asker): void {
    const domain = this.#domainOf(asker);
    domain.waiting.add(asker);
    if (domain.waiting.size > 1) return;
    domain.poll = this.#timeline.every(POLL_MS, () => this.#wake(domain));
    this.#wake(domain);
  }

  withdraw(asker: Asker): void {
    const domain = this.#domainOf(asker);
    domain.waiting.delete(asker);
    if (domain.waiting.size === 0) domain.poll?.cancel();
  }

  /** The job is in the queue. */
  posted(job: Job): void {
    const now = this.#timeline.now();
    // coderd's query takes a moment: a posting of the same moment still meets the domain that it empties
    const domains = [...this.#domains.values()].filter(
      (domain) => (domain.waiting.size > 0 || domain.emptiedAt === now) && isPostedTo(domain, job),
    );
    const domain = domains.length > 1 ? this.#random.pick(domains) : domains[0];
    const first = this.#random.pick([...(domain?.waiting ?? [])]);
    if (domain !== undefined) this.#wake(domain, first);
  }

  /** The daemons of the domain get jobs, one after the other, until there are no more of either. */
  #wake(domain: Domain, first?: Asker): void {
    const { waiting } = domain;
    for (let next = first; waiting.size > 0; next = undefined) {
      const job = this.#queue.take(domain);
      if (job === undefined) return;
      const taker = next ?? (waiting.size > 1 ? this.#random.pick([...waiting]) : [...waiting][0]);
      if (taker === undefined) return;
      this.withdraw(taker);
      if (waiting.size === 0) domain.emptiedAt = this.#timeline.now();
      taker.take(job);
    }
  }

  #domainOf({ organizationId, tags, tagKey }: Asker): Domain {
    const key = `${organizationId} ${tagKey}`;
    const domain = this.#domains.get(key) ?? { organizationId, tags, tagKey, waiting: new Set() };
    this.#domains.set(key, domain);
    return domain;
  }
}

/** Unlike `tagsetContains`, for which only an untagged daemon runs an untagged job. */
function isPostedTo(domain: Domain, { organizationId, tags }: Job): boolean {
  return (
    domain.organizationId === organizationId &&
    Object.entries(tags).every(([name, value]) => ownValue(domain.tags, name) === value)
  );
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
