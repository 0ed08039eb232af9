/**
 * Assignment: every pending job to one place that can run it, so that a job that several pools can run is
 * counted once. A plan for capacity, not a placement: coderd decides which daemon takes which job.
 *
 * Exact: the groups are served in their order, as many of each as possible, at the least price of new tasks, by free daemons before
 * starting and busy ones. Stock comes last, and only while it costs less than it is worth. Solved on groups, as a least-cost
 * flow: group -> pool and tag set -> daemons and launches there -> (launches) the room over all pools.
 */

import { type Group, isPending, type StockGroup, youngestOf } from '../demand/demand.ts';
import { RAISE_ABOVE } from '../demand/stock.ts';
import type { OrganizationId, PoolName } from '../model/brands.ts';
import { by, sum } from '../model/collections.ts';
import type { Audience, Served } from '../model/plan.ts';
import { covers, type TagSet, tagKey } from '../model/tags.ts';
import { Network } from './min-cost-flow.ts';

/** A number of like places for a job. */
export type Offer = {
  readonly organizationId: OrganizationId;
  /** Absent: daemons that the autoscaler does not own. */
  readonly pool: PoolName | null;
  readonly tags: TagSet;
  readonly served: Served;
  /** Jobs that can be placed here; infinite where the place is only a promise. */
  readonly places: number;
  /** Micro-dollars an hour of a new task; what is there, or will be in any case, costs nothing more. */
  readonly price: number;
  /** Whose jobs may take it. Absent: all. */
  readonly audiences?: ReadonlySet<Audience> | undefined;
  /** What the whole place is bounded by. */
  readonly bounds: Bounds;
};

/** Of all offers of one pool and tag set. */
export type Bounds = {
  /** For so many jobs that coderd is about to insert. */
  readonly due: number;
  /** So many launches for prebuilds. */
  readonly prebuilds: number;
  /** Whether daemons may be launched for stock alone. */
  readonly launchesStock: boolean;
  /** What a launch costs beside the time of its task, in micro-dollars. */
  readonly launch: number;
  /** What a task costs, in micro-dollars an hour. */
  readonly price: number;
};

export type Assigned<G extends Group = Group> = {
  readonly group: G;
  readonly offer: Offer;
  readonly jobs: number;
};

export type Assignment<G extends Group = Group> = {
  /** In the order of the groups. */
  readonly assigned: readonly Assigned<G>[];
  /** What no offer can run, ever. */
  readonly unserved: readonly G[];
};

/**
 * Assigns all jobs that any offer can run; earlier groups go first.
 * @param launchRoom tasks that may be launched over all pools
 */
export function assign<G extends Group>(
  groups: readonly G[],
  offers: readonly Offer[],
  launchRoom: number,
): Assignment<G> {
  const places = groupByPlace(offers);
  const options = new Map(groups.map((group) => [group, places.filter((place) => fits(place, group))]));
  const placed = solve(groups, options, launchRoom);
  const outcomes = groups.map((group) => {
    const rows = placed.get(group) ?? [];
    const promised = promise(group, options.get(group) ?? [], rows);
    const assigned = [...rows, ...promised];
    return { group, assigned, rest: restOf(group, assigned) };
  });
  return {
    assigned: outcomes.flatMap(({ assigned }) => assigned),
    unserved: outcomes.flatMap(({ group, rest }) => (rest > 0 ? [youngestOf(group, rest)] : [])),
  };
}

function restOf<G extends Group>({ jobs: all }: G, rows: readonly Assigned<G>[]): number {
  return all - sum(rows, ({ jobs }) => jobs);
}

/** All offers of one pool and tag set: what can run one of their jobs can run all. */
type Place = Pick<Offer, 'organizationId' | 'pool' | 'tags' | 'bounds'> & {
  readonly offers: readonly Offer[];
};

const RANK: Readonly<Record<Served, number>> = {
  'by-free': 0,
  'by-starting': 1,
  'by-busy': 2,
  'by-launch': 3,
  'when-there-is-room': 4,
};

/** More than the ranks of all jobs can add up to: price first, rank between equals. */
const PRICE_WEIGHT = 1e5;

/** In order of pool: between places of one price its name decides, so that every look decides alike. */
function groupByPlace(offers: readonly Offer[]): readonly Place[] {
  const keyOf = ({ organizationId, pool, tags }: Offer): string =>
    JSON.stringify([pool, organizationId, tagKey(tags)]);
  return [...Map.groupBy(offers, keyOf)]
    .toSorted(by(([key]) => key))
    .flatMap(([, [first, ...others]]) =>
      first === undefined ? [] : [{ ...first, offers: [first, ...others].toSorted(READIEST) }],
    );
}

const READIEST = by<Offer>(
  ({ served }) => RANK[served],
  ({ price }) => price,
  ({ pool }) => pool ?? '',
);

function fits(place: Place, group: Group): boolean {
  if (place.organizationId !== group.organizationId) return false;
  switch (group.for) {
    case 'warm':
      return place.pool === group.pool && tagKey(place.tags) === tagKey(group.tags);
    case 'stock':
      if (place.pool === null) return group.tagSets.every((tags) => covers(place.tags, tags));
      return group.pools.has(place.pool);
    case 'due':
    case 'later':
      return (place.pool === null || group.pools.has(place.pool)) && covers(place.tags, group.tags);
    default:
      return covers(place.tags, group.tags);
  }
}

/** How a group may use a place: all its groups of one use share the arcs. */
type Use = Group['for'];

/**
 * What is there and what can be launched, given to the groups in their order. Groups that can use the same places in the same way
 * share a node: tag sets are many, what can run them is not.
 */
function solve<G extends Group>(
  groups: readonly G[],
  options: ReadonlyMap<G, readonly Place[]>,
  launchRoom: number,
): ReadonlyMap<G, readonly Assigned<G>[]> {
  const places = new PlaceNetwork(launchRoom);
  const sent = groups.map((group) => {
    const source = places.sourceOf(options.get(group) ?? [], group.for);
    return { group, source, jobs: places.send(source, group) };
  });
  places.readFlow();
  return new Map(sent.map(({ group, source, jobs }) => [group, takeFrom(source, group, jobs)]));
}

/** Where the flow of all groups of one use with the same options begins. */
type Source = {
  readonly node: number;
  readonly ways: readonly Way[];
  isExhausted: boolean;
};

/** From a source to one place. */
type Way = { readonly entry: Entry; readonly arc: number; jobs: number };

/** One use of one place. */
type Entry = {
  readonly node: number;
  /** The readiest first. */
  readonly offers: { readonly offer: Offer; readonly arc: number; jobs: number }[];
};

/** The network, built as far as groups need it. */
class PlaceNetwork {
  readonly #network = new Network();
  readonly #sink = this.#network.addNode();
  readonly #room = this.#network.addNode();
  readonly #sources = new Map<string, Source>();
  readonly #entries = new Map<Place, Map<Use, Entry>>();
  readonly #offers = new Map<Offer, number>();

  constructor(launchRoom: number) {
    this.#network.addArc(this.#room, this.#sink, { capacity: Math.max(0, launchRoom), cost: 0 });
  }

  sourceOf(places: readonly Place[], use: Use): Source {
    const entries = places.map((place) => this.#entryOf(place, use));
    const key = entries.map(({ node }) => node).join(' ');
    const found = this.#sources.get(key);
    if (found !== undefined) return found;
    const node = this.#network.addNode();
    const ways = entries.map((entry) => ({ entry, arc: this.#addArc(node, entry.node), jobs: 0 }));
    const source: Source = { node, ways, isExhausted: places.length === 0 };
    this.#sources.set(key, source);
    return source;
  }

  /** Returns how many got a place. */
  send(source: Source, group: Group): number {
    if (source.isExhausted) return 0;
    if (group.for === 'prebuilds') this.#closeLaunches(['prebuilds']);
    if (group.for === 'later' || group.for === 'stock') this.#closeLaunches(['stock']);
    if (group.for === 'stock') return this.#sendStock(source, group);
    const wanted = isPending(group) ? Math.min(group.jobs, group.atOnce) : group.jobs;
    const jobs = this.#network.send(source.node, this.#sink, wanted);
    // once nothing more gets through, nothing ever will
    source.isExhausted = jobs < wanted;
    return jobs;
  }

  readFlow(): void {
    for (const { ways } of this.#sources.values())
      for (const way of ways) way.jobs = this.#network.flowOf(way.arc);
    for (const uses of this.#entries.values())
      for (const { offers } of uses.values())
        for (const offer of offers) offer.jobs = this.#network.flowOf(offer.arc);
  }

  /** One after the other, while the next is worth what it costs. */
  #sendStock({ node }: Source, { values }: StockGroup): number {
    const weighed = values.map((value) => value * PRICE_WEIGHT);
    return this.#network.sendWorth(node, this.#sink, weighed);
  }

  /**
   * No job moves to a launch only to leave its daemon free for what can wait. For a prebuild each look would launch one more: the task
   * that starts for a person would be the prebuild's, beyond `prebuilds.maxTasks`.
   */
  #closeLaunches(except: readonly Use[]): void {
    for (const uses of this.#entries.values())
      for (const [use, { offers }] of uses)
        for (const { offer, arc } of offers)
          if (!except.includes(use) && offer.served === 'by-launch' && offer.price > 0)
            this.#network.close(arc);
  }

  #entryOf(place: Place, use: Use): Entry {
    const uses = this.#entries.get(place) ?? new Map<Use, Entry>();
    this.#entries.set(place, uses);
    const found = uses.get(use);
    if (found !== undefined) return found;
    const entry = this.#addEntry(place, use);
    uses.set(use, entry);
    return entry;
  }

  #addEntry(place: Place, use: Use): Entry {
    const node = this.#network.addNode();
    const { due, prebuilds } = place.bounds;
    const inner = use === 'due' || use === 'later' ? this.#behind(node, due) : node;
    const launches = use === 'prebuilds' ? this.#behind(node, prebuilds) : inner;
    const offers = place.offers
      .filter((offer) => isFor(offer, use))
      .map((offer) => {
        const cost = costOf(offer, use);
        // what a floor launches comes in any case, so it counts against no limit of prebuilds
        const from = offer.served === 'by-launch' && offer.price > 0 ? launches : inner;
        return { offer, arc: this.#addArc(from, this.#offerNode(offer), { cost }), jobs: 0 };
      });
    return { node, offers };
  }

  /** A node behind another, with no more between them than this. */
  #behind(node: number, capacity: number): number {
    const next = this.#network.addNode();
    this.#addArc(node, next, { capacity });
    return next;
  }

  #offerNode(offer: Offer): number {
    const found = this.#offers.get(offer);
    if (found !== undefined) return found;
    const node = this.#network.addNode();
    // a launch that costs nothing more comes in any case, and its room has been set aside
    const isBounded = offer.served === 'by-launch' && offer.price > 0;
    this.#addArc(node, isBounded ? this.#room : this.#sink, { capacity: offer.places });
    this.#offers.set(offer, node);
    return node;
  }

  #addArc(from: number, to: number, { capacity = Number.POSITIVE_INFINITY, cost = 0 } = {}): number {
    return this.#network.addArc(from, to, { capacity, cost });
  }
}

/** Whether an offer is more than a promise to a group of this use. */
function isFor({ served, places, audiences, price, bounds }: Offer, use: Use): boolean {
  switch (served) {
    case 'by-free':
    case 'by-starting':
      return true;
    case 'by-busy':
      return Number.isFinite(places) && (audiences?.has(use as Audience) ?? false);
    case 'by-launch':
      return use !== 'later' && (use !== 'stock' || bounds.launchesStock || price === 0);
    case 'when-there-is-room':
      return false;
  }
}

/** Stock is lowered as late as it is raised: see `RAISE_ABOVE`. */
const LOWER_BELOW = 1 / 2;
/** A launch for stock has to pay in so many hours. */
const PAYS_IN_HOURS = 1 / 2;

function costOf({ served, price, bounds }: Offer, use: Use): number {
  if (use !== 'stock') return price * PRICE_WEIGHT + RANK[served];
  const launchPerHour = bounds.launch / PAYS_IN_HOURS;
  const isLaunch = served === 'by-launch' && price > 0;
  const perHour = isLaunch
    ? RAISE_ABOVE * bounds.price + launchPerHour
    : Math.max(0, bounds.price - launchPerHour) * LOWER_BELOW;
  return Math.round(perHour) * PRICE_WEIGHT + RANK[served];
}

/** The flow of a source, dealt out to its groups: earlier ones get the readier offers of a place. */
function takeFrom<G extends Group>({ ways }: Source, group: G, jobs: number): readonly Assigned<G>[] {
  let rest = jobs;
  return ways.flatMap((way) =>
    way.entry.offers.flatMap((there) => {
      const taken = Math.min(rest, way.jobs, there.jobs);
      if (taken === 0) return [];
      rest -= taken;
      way.jobs -= taken;
      there.jobs -= taken;
      return [{ group, offer: there.offer, jobs: taken }];
    }),
  );
}

/**
 * Jobs that have to wait: for their turn, where it is not worth a launch that they wait less; for room in the cheapest pool that can run
 * them; or for a daemon that is busy. Those that aren't there yet don't.
 */
function promise<G extends Group>(
  group: G,
  places: readonly Place[],
  rows: readonly Assigned<G>[],
): readonly Assigned<G>[] {
  const jobs = restOf(group, rows);
  if (jobs === 0 || !isPending(group)) return [];
  const inTurn = Math.min(jobs, group.jobs - group.atOnce);
  const offers = places.flatMap(({ offers: all }) => all).toSorted(READIEST);
  const room = offers.find(({ served }) => served === 'when-there-is-room');
  const busy = offers.find(({ served, places: count }) => served === 'by-busy' && count > 0);
  // a daemon that runs one of them is busy until the next one's turn
  const [before] = rows;
  const turn = busy ?? (before && { ...before.offer, served: 'by-busy' as const });
  return [
    { offer: turn ?? room, jobs: inTurn },
    { offer: room ?? busy, jobs: jobs - inTurn },
  ].flatMap(({ offer, jobs: count }) =>
    offer === undefined || count === 0 ? [] : [{ group, offer, jobs: count }],
  );
}
