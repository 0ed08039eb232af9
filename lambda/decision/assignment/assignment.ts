/**
 * The assignment: each pending job goes to one offer that can run it, so a job that several pools
 * can run counts once. Computed from the demand groups and the offers. It is a plan for capacity,
 * not a placement: coderd decides which daemon takes which job.
 *
 * The result is exact. Groups are served in their order, as many jobs of each as possible, at the
 * least price of new tasks. Free daemons are used before starting and busy ones. Stock comes last,
 * and only while it costs less than it is worth. The solver is a least-cost flow over groups: group
 * -> pool and tag set -> daemons and launches there -> (launches) the room over all pools.
 */

import { type Group, isPending, type StockGroup, youngestOf } from '../demand/demand.ts';
import type { OrganizationId, PoolName } from '../model/brands.ts';
import { by, sum } from '../model/collections.ts';
import type { Audience, Served } from '../model/plan.ts';
import { covers, type TagSet, tagKey } from '../model/tags.ts';
import { Network } from './min-cost-flow.ts';

/** A number of equal places that can run a job. */
export type Offer = {
  readonly organizationId: OrganizationId;
  /** Null: daemons that the autoscaler does not own. */
  readonly pool: PoolName | null;
  readonly tags: TagSet;
  readonly served: Served;
  /** The number of jobs that fit. Infinite if these jobs have to wait for the place. */
  readonly places: number;
  /**
   * The price of a new task in micro-dollars an hour. 0 for an existing task, and for a launch that
   * a floor causes in any case.
   */
  readonly price: number;
  /** The audiences whose jobs may use it. Absent: all. */
  readonly audiences?: ReadonlySet<Audience> | undefined;
  /** The limits on all offers of the same pool and tag set. */
  readonly bounds: Bounds;
};

/** The limits and prices of all offers of one pool and tag set. */
export type Bounds = {
  /** The maximum number of jobs that coderd is about to insert. */
  readonly due: number;
  /** The maximum number of launches for prebuilds. */
  readonly prebuilds: number;
  /** Whether daemons may be launched for stock alone. */
  readonly launchesStock: boolean;
  /** The price of a task, in micro-dollars an hour. */
  readonly price: number;
};

export type Assigned<G extends Group = Group> = {
  readonly group: G;
  readonly offer: Offer;
  readonly jobs: number;
};

export type Assignment<G extends Group = Group> = {
  /** The assigned jobs, in the order of the groups. */
  readonly assigned: readonly Assigned<G>[];
  /** The jobs that no offer can ever run. */
  readonly unserved: readonly G[];
};

/**
 * Assigns all jobs that any offer can run. Earlier groups go first.
 * @param launchRoom the number of tasks that may be launched over all pools
 */
export function assign<G extends Group>(
  groups: readonly G[],
  offers: readonly Offer[],
  launchRoom: number,
): Assignment<G> {
  const offerGroups = groupOffers(offers);
  const options = new Map(
    groups.map((group) => [group, offerGroups.filter((offerGroup) => fits(offerGroup, group))]),
  );
  const placed = solve(groups, options, launchRoom);
  const outcomes = groups.map((group) => {
    const rows = placed.get(group) ?? [];
    const waiting = assignWaiting(group, options.get(group) ?? [], rows);
    const assigned = [...rows, ...waiting];
    return { group, assigned, rest: unassignedJobs(group, assigned) };
  });
  return {
    assigned: outcomes.flatMap(({ assigned }) => assigned),
    unserved: outcomes.flatMap(({ group, rest }) => (rest > 0 ? [youngestOf(group, rest)] : [])),
  };
}

function unassignedJobs<G extends Group>({ jobs: all }: G, rows: readonly Assigned<G>[]): number {
  return all - sum(rows, ({ jobs }) => jobs);
}

/** All offers of one pool and tag set. They can run the same jobs. */
type OfferGroup = Pick<Offer, 'organizationId' | 'pool' | 'tags' | 'bounds'> & {
  readonly offers: readonly Offer[];
};

const RANK: Readonly<Record<Served, number>> = {
  'by-free': 0,
  'by-starting': 1,
  'by-busy': 2,
  // before a launch: a late heartbeat must not cause one
  'by-doubtful': 3,
  'by-launch': 4,
  'when-there-is-room': 5,
};

/**
 * More than the sum of the ranks of all jobs, so price decides first and rank only between equal
 * prices.
 */
const PRICE_WEIGHT = 1e5;

/**
 * Groups the offers by pool and tag set, in order of pool. At equal prices the name of the pool
 * decides, so every look decides alike.
 */
function groupOffers(offers: readonly Offer[]): readonly OfferGroup[] {
  const keyOf = ({ organizationId, pool, tags }: Offer): string =>
    JSON.stringify([pool, organizationId, tagKey(tags)]);
  return [...Map.groupBy(offers, keyOf)]
    .toSorted(by(([key]) => key))
    .flatMap(([, [first, ...others]]) =>
      first === undefined ? [] : [{ ...first, offers: [first, ...others].toSorted(SOONEST_FIRST) }],
    );
}

const SOONEST_FIRST = by<Offer>(
  ({ served }) => RANK[served],
  ({ price }) => price,
  ({ pool }) => pool ?? '',
);

function fits(offerGroup: OfferGroup, group: Group): boolean {
  if (offerGroup.organizationId !== group.organizationId) return false;
  switch (group.for) {
    case 'warm':
      return offerGroup.pool === group.pool && tagKey(offerGroup.tags) === tagKey(group.tags);
    case 'stock':
      if (offerGroup.pool === null) return group.tagSets.every((tags) => covers(offerGroup.tags, tags));
      return group.pools.has(offerGroup.pool);
    case 'due':
    case 'later':
      return (
        (offerGroup.pool === null || group.pools.has(offerGroup.pool)) && covers(offerGroup.tags, group.tags)
      );
    default:
      return covers(offerGroup.tags, group.tags);
  }
}

/** The use that a group makes of an offer. All groups of one use share the arcs. */
type Use = Group['for'];

/**
 * Distributes the offers to the groups in their order. Groups that can use the same offers in the
 * same way share a node: there are many tag sets, but few different sets of offers.
 */
function solve<G extends Group>(
  groups: readonly G[],
  options: ReadonlyMap<G, readonly OfferGroup[]>,
  launchRoom: number,
): ReadonlyMap<G, readonly Assigned<G>[]> {
  const network = new OfferNetwork(launchRoom);
  const sent = groups.map((group) => {
    const source = network.sourceOf(options.get(group) ?? [], group.for);
    return { group, source, jobs: network.send(source, group) };
  });
  network.collectFlow();
  return new Map(sent.map(({ group, source, jobs }) => [group, takeFrom(source, group, jobs)]));
}

/** The source node of all groups that have the same use and the same options. */
type Source = {
  readonly node: number;
  readonly routes: readonly Route[];
  isExhausted: boolean;
};

/** The arc from a source to one pool and tag set. */
type Route = { readonly entry: Entry; readonly arc: number; jobs: number };

/** One use of one pool and tag set. */
type Entry = {
  readonly node: number;
  /** The offers, the one that is ready soonest first. */
  readonly offers: { readonly offer: Offer; readonly arc: number; jobs: number }[];
};

/** The flow network. Nodes are added when a group needs them. */
class OfferNetwork {
  readonly #network = new Network();
  readonly #sink = this.#network.addNode();
  /** All launches go through this node: its arc to the sink has their room over all pools. */
  readonly #launches = this.#network.addNode();
  readonly #sources = new Map<string, Source>();
  readonly #entries = new Map<OfferGroup, Map<Use, Entry>>();
  readonly #offers = new Map<Offer, number>();

  constructor(launchRoom: number) {
    this.#network.addArc(this.#launches, this.#sink, { capacity: Math.max(0, launchRoom), cost: 0 });
  }

  sourceOf(offerGroups: readonly OfferGroup[], use: Use): Source {
    const entries = offerGroups.map((offerGroup) => this.#entryOf(offerGroup, use));
    const key = entries.map(({ node }) => node).join(' ');
    const found = this.#sources.get(key);
    if (found !== undefined) return found;
    const node = this.#network.addNode();
    const routes = entries.map((entry) => ({ entry, arc: this.#addArc(node, entry.node), jobs: 0 }));
    const source: Source = { node, routes, isExhausted: offerGroups.length === 0 };
    this.#sources.set(key, source);
    return source;
  }

  /** Sends the jobs of a group. Returns how many were assigned. */
  send(source: Source, group: Group): number {
    if (source.isExhausted) return 0;
    if (group.for === 'prebuilds') this.#closeLaunches(['prebuilds']);
    if (group.for === 'later' || group.for === 'stock') this.#closeLaunches(['stock']);
    if (group.for === 'stock') return this.#sendStock(source, group);
    const wanted = isPending(group) ? Math.min(group.jobs, group.atOnce) : group.jobs;
    const jobs = this.#network.send(source.node, this.#sink, wanted);
    // if some jobs do not get through, no later job will
    source.isExhausted = jobs < wanted;
    return jobs;
  }

  collectFlow(): void {
    for (const { routes } of this.#sources.values())
      for (const route of routes) route.jobs = this.#network.flowOf(route.arc);
    for (const uses of this.#entries.values())
      for (const { offers } of uses.values())
        for (const offer of offers) offer.jobs = this.#network.flowOf(offer.arc);
  }

  /** Only some of the daemons are launched; the others stay if they exist. */
  #sendStock({ node }: Source, { jobs, launches }: StockGroup): number {
    const values = Array.from({ length: jobs }, (_, index) =>
      index < launches ? Number.POSITIVE_INFINITY : STOCK_LAUNCH,
    );
    return this.#network.sendWorth(node, this.#sink, values);
  }

  /**
   * Closes the arcs to launches that cost something, except those of some uses. Otherwise a job
   * could move to a launch only to leave its daemon to a job that can wait. With prebuilds, each
   * look would then launch one more task: the task that starts for a person would go to the
   * prebuild, beyond `prebuilds.maxTasks`.
   */
  #closeLaunches(except: readonly Use[]): void {
    for (const uses of this.#entries.values())
      for (const [use, { offers }] of uses)
        for (const { offer, arc } of offers)
          if (!except.includes(use) && offer.served === 'by-launch' && offer.price > 0)
            this.#network.close(arc);
  }

  #entryOf(offerGroup: OfferGroup, use: Use): Entry {
    const uses = this.#entries.get(offerGroup) ?? new Map<Use, Entry>();
    this.#entries.set(offerGroup, uses);
    const found = uses.get(use);
    if (found !== undefined) return found;
    const entry = this.#addEntry(offerGroup, use);
    uses.set(use, entry);
    return entry;
  }

  #addEntry(offerGroup: OfferGroup, use: Use): Entry {
    const node = this.#network.addNode();
    const { due, prebuilds } = offerGroup.bounds;
    const inner = use === 'due' || use === 'later' ? this.#behind(node, due) : node;
    const launches = use === 'prebuilds' ? this.#behind(node, prebuilds) : inner;
    const offers = offerGroup.offers
      .filter((offer) => isFor(offer, use))
      .map((offer) => {
        const cost = costOf(offer, use);
        // a floor causes this launch in any case, so it does not count against the limit of
        // prebuilds
        const from = offer.served === 'by-launch' && offer.price > 0 ? launches : inner;
        return { offer, arc: this.#addArc(from, this.#offerNode(offer), { cost }), jobs: 0 };
      });
    return { node, offers };
  }

  /** Adds a node after another one, with a limited arc between them. */
  #behind(node: number, capacity: number): number {
    const next = this.#network.addNode();
    this.#addArc(node, next, { capacity });
    return next;
  }

  #offerNode(offer: Offer): number {
    const found = this.#offers.get(offer);
    if (found !== undefined) return found;
    const node = this.#network.addNode();
    // a floor causes this launch in any case, and its room is already reserved
    const isBounded = offer.served === 'by-launch' && offer.price > 0;
    this.#addArc(node, isBounded ? this.#launches : this.#sink, { capacity: offer.places });
    this.#offers.set(offer, node);
    return node;
  }

  #addArc(from: number, to: number, { capacity = Number.POSITIVE_INFINITY, cost = 0 } = {}): number {
    return this.#network.addArc(from, to, { capacity, cost });
  }
}

/** Whether a group of this use can be assigned to an offer now, without waiting for it. */
function isFor({ served, places, audiences, price, bounds }: Offer, use: Use): boolean {
  switch (served) {
    case 'by-free':
    case 'by-starting':
      return true;
    case 'by-doubtful':
      return Number.isFinite(places);
    case 'by-busy':
      return Number.isFinite(places) && (audiences?.has(use as Audience) ?? false);
    case 'by-launch':
      return use !== 'later' && (use !== 'stock' || bounds.launchesStock || price === 0);
    case 'when-there-is-room':
      return false;
  }
}

/** More than the price of any task: an existing daemon is always better than a launch for stock. */
const STOCK_LAUNCH = 1e10 * PRICE_WEIGHT;

function costOf({ served, price, bounds }: Offer, use: Use): number {
  const cost = (use === 'stock' ? bounds.price : price) * PRICE_WEIGHT + RANK[served];
  return use === 'stock' && served === 'by-launch' && price > 0 ? cost + STOCK_LAUNCH : cost;
}

/**
 * Splits the flow of a source among its groups. Earlier groups get the offers that are ready
 * sooner.
 */
function takeFrom<G extends Group>({ routes }: Source, group: G, jobs: number): readonly Assigned<G>[] {
  let rest = jobs;
  return routes.flatMap((route) =>
    route.entry.offers.flatMap((entryOffer) => {
      const taken = Math.min(rest, route.jobs, entryOffer.jobs);
      if (taken === 0) return [];
      rest -= taken;
      route.jobs -= taken;
      entryOffer.jobs -= taken;
      return [{ group, offer: entryOffer.offer, jobs: taken }];
    }),
  );
}

/**
 * Assigns the jobs that have to wait. They wait for their turn, if a launch costs more than their
 * waiting; for room in the cheapest pool that can run them; or for a busy daemon. Jobs that do not
 * exist yet do not wait.
 */
function assignWaiting<G extends Group>(
  group: G,
  offerGroups: readonly OfferGroup[],
  rows: readonly Assigned<G>[],
): readonly Assigned<G>[] {
  const jobs = unassignedJobs(group, rows);
  if (jobs === 0 || !isPending(group)) return [];
  const inTurn = Math.min(jobs, group.jobs - group.atOnce);
  const offers = offerGroups.flatMap(({ offers: all }) => all).toSorted(SOONEST_FIRST);
  const launch = offers.find(({ served }) => served === 'when-there-is-room');
  const busy = offers.find(
    ({ served, places: count }) => (served === 'by-busy' || served === 'by-doubtful') && count > 0,
  );
  // a daemon that runs one of these jobs is busy until the next one's turn
  const [before] = rows;
  const turn = busy ?? (before && { ...before.offer, served: 'by-busy' as const });
  return [
    { offer: turn ?? launch, jobs: inTurn },
    { offer: launch ?? busy, jobs: jobs - inTurn },
  ].flatMap(({ offer, jobs: count }) =>
    offer === undefined || count === 0 ? [] : [{ group, offer, jobs: count }],
  );
}
