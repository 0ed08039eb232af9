/**
 * Assignment: every pending job to one place that can run it, so that a job that several pools can run is
 * counted once. A plan for capacity, not a placement: coderd decides which daemon takes which job.
 *
 * Group by group in the order of demand: free daemons first, then starting ones, then launches; among places
 * of one kind, the one that the fewest groups can use, so that nobody takes what only another could take.
 */
import type { OrganizationId, PoolName } from './brands.ts';
import type { TagGroup } from './demand.ts';
import { by, sum } from './order.ts';
import type { Served } from './plan.ts';
import { canRun, type TagSet } from './tags.ts';

/** A number of like places for a job. */
export type Offer = {
  readonly organizationId: OrganizationId;
  /** Absent: daemons that the autoscaler does not own. */
  readonly pool: PoolName | null;
  readonly tags: TagSet;
  readonly served: Served;
  /** Jobs that can be placed here; infinite where the place is only a promise. */
  readonly places: number;
  /** What one place costs, in any unit; the cheaper goes first among like offers. */
  readonly price: number;
};

export type Assigned = { readonly group: TagGroup; readonly offer: Offer; readonly jobs: number };

export type Assignment = {
  readonly assigned: readonly Assigned[];
  /** Groups that no offer can run. */
  readonly unserved: readonly TagGroup[];
};

const ORDER: Readonly<Record<Served, number>> = {
  'by-free': 0,
  'by-starting': 1,
  'by-launch': 2,
  'when-there-is-room': 3,
  'by-busy': 4,
};

/** Assigns all jobs that any offer can run. `launchRoom` bounds the launches of all pools together, in tasks. */
export function assign(
  groups: readonly TagGroup[],
  offers: readonly Offer[],
  launchRoom: number,
): Assignment {
  const places = new Places(groups, offers, launchRoom);
  const assigned = groups.flatMap((group) => places.take(group));
  return { assigned, unserved: groups.filter((group) => !places.canEverRun(group)) };
}

class Places {
  readonly #free: Map<Offer, number>;
  readonly #offersOf: Map<TagGroup, readonly Offer[]>;
  #launchRoom: number;

  constructor(groups: readonly TagGroup[], offers: readonly Offer[], launchRoom: number) {
    this.#launchRoom = launchRoom;
    this.#free = new Map(offers.map((offer) => [offer, offer.places]));
    const takers = (offer: Offer): number => groups.filter((group) => fits(offer, group)).length;
    const order = by<Offer>(
      (offer) => ORDER[offer.served],
      takers,
      (offer) => offer.price,
      (offer) => offer.pool ?? '',
    );
    const sorted = offers.toSorted(order);
    this.#offersOf = new Map(groups.map((group) => [group, sorted.filter((offer) => fits(offer, group))]));
  }

  canEverRun(group: TagGroup): boolean {
    return (this.#offersOf.get(group) ?? []).length > 0;
  }

  take(group: TagGroup): readonly Assigned[] {
    const taken: Assigned[] = [];
    for (const offer of this.#offersOf.get(group) ?? []) {
      const jobs = Math.min(group.jobs - sum(taken, (part) => part.jobs), this.#left(offer));
      if (jobs <= 0) continue;
      this.#use(offer, jobs);
      taken.push({ group, offer, jobs });
    }
    return taken;
  }

  #left(offer: Offer): number {
    const places = this.#free.get(offer) ?? 0;
    return offer.served === 'by-launch' ? Math.min(places, this.#launchRoom) : places;
  }

  #use(offer: Offer, jobs: number): void {
    this.#free.set(offer, (this.#free.get(offer) ?? 0) - jobs);
    if (offer.served === 'by-launch') this.#launchRoom -= jobs;
  }
}

function fits(offer: Offer, group: TagGroup): boolean {
  return offer.organizationId === group.organizationId && canRun(offer.tags, group.tags);
}
