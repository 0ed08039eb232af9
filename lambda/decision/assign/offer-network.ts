/**
 * The offers as a flow network: group -> pool and tag set -> daemons and launches there ->
 * (launches) the room over all pools. Groups that can use the same offers in the same way share a
 * node: there are many tag sets, but few different sets of offers.
 */
import { type Group, isLeft, isPending } from '../demand/demand.ts';
import type { Audience } from '../model/plan.ts';
import { Network } from './min-cost-flow.ts';
import { type Offer, type OfferGroup, RANK } from './offer.ts';

/** The use that a group makes of an offer. All groups of one use share the arcs. */
type Use = Group['for'] | 'left';

/** Jobs that are left to a peer only use free daemons. */
export function useOf(group: Group): Use {
  return isLeft(group) ? 'left' : group.for;
}

/** More than the sum of all ranks: rank decides only between equal prices. */
const PRICE_WEIGHT = 1e5;

/** Whether a group keeps daemons that exist and launches none. */
function isOnlyKept(group: Group): boolean {
  return group.for === 'later' || (group.for === 'stock' && group.isSpare);
}

/** The source node of all groups that have the same use and the same options. */
export type Source = {
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
export class OfferNetwork {
  readonly #network = new Network();
  /** All launches go through this node: its arc to the sink has their room over all pools. */
  readonly #launches = this.#network.addNode();
  readonly #sources = new Map<string, Source>();
  readonly #entries = new Map<OfferGroup, Map<Use, Entry>>();
  readonly #offers = new Map<Offer, number>();
  /** The arcs of each use to launches that cost something. */
  readonly #launchesFor = new Map<Use, number[]>();

  constructor(launchRoom: number) {
    this.#network.addArc(this.#launches, this.#network.sink, { capacity: Math.max(0, launchRoom), cost: 0 });
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
    if (isLeft(group) || group.for === 'stock') this.#closeLaunches(['stock']);
    // what is only kept must not move what the stock launches for to a launch
    if (isOnlyKept(group)) this.#closeLaunches([]);
    const wanted = isPending(group) ? Math.min(group.jobs, group.atOnce) : group.jobs;
    const jobs = this.#network.send(source.node, wanted);
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

  /**
   * Closes the arcs to launches that cost something, except those of some uses. Otherwise a job
   * could move to a launch only to leave its daemon to a job that can wait. With prebuilds, each
   * look would then launch one more task: the task that starts for a person would go to the
   * prebuild, beyond `mostForPrebuilds`.
   */
  #closeLaunches(except: readonly Use[]): void {
    for (const [use, arcs] of this.#launchesFor)
      if (!except.includes(use)) for (const arc of arcs) this.#network.close(arc);
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
    const launchesFor = this.#launchesFor.get(use) ?? [];
    this.#launchesFor.set(use, launchesFor);
    const offers = offerGroup.offers
      .filter((offer) => isFor(offer, use))
      .map((offer) => {
        const cost = costOf(offer, use);
        // a floor causes this launch in any case, so it does not count against the limit of
        // prebuilds
        const isPaid = offer.served === 'by-launch' && offer.price > 0;
        const arc = this.#addArc(isPaid ? launches : inner, this.#offerNode(offer), { cost });
        if (isPaid) launchesFor.push(arc);
        return { offer, arc, jobs: 0 };
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
    this.#addArc(node, isBounded ? this.#launches : this.#network.sink, { capacity: offer.places });
    this.#offers.set(offer, node);
    return node;
  }

  #addArc(from: number, to: number, { capacity = Number.POSITIVE_INFINITY, cost = 0 } = {}): number {
    return this.#network.addArc(from, to, { capacity, cost });
  }
}

/** Whether a group of this use can be assigned to an offer now, without waiting for it. */
function isFor({ served, places, audiences, isUnsure, price, bounds }: Offer, use: Use): boolean {
  switch (served) {
    case 'by-free':
      return isUnsure !== true || IS_WITHOUT_JOB.has(use);
    case 'by-starting':
      return use !== 'left';
    case 'by-doubtful':
      return Number.isFinite(places);
    case 'by-busy':
      return Number.isFinite(places) && (audiences?.has(use as Audience) ?? false);
    case 'by-launch':
      return use !== 'later' && use !== 'left' && (use !== 'stock' || bounds.launchesStock || price === 0);
    case 'when-there-is-room':
    case 'by-peer':
      return false;
  }
}

const IS_WITHOUT_JOB: ReadonlySet<Use> = new Set(['stock', 'warm', 'due', 'later']);

/** More than the price of any task: an existing daemon is always better than a launch for stock. */
const STOCK_LAUNCH = 1e10 * PRICE_WEIGHT;

function costOf({ served, price, bounds }: Offer, use: Use): number {
  const cost = (use === 'stock' ? bounds.price : price) * PRICE_WEIGHT + RANK[served];
  return use === 'stock' && served === 'by-launch' && price > 0 ? cost + STOCK_LAUNCH : cost;
}

/** Splits the flow of a source: earlier groups get the offers that are ready sooner. */
export function takeFrom(
  { routes }: Source,
  jobs: number,
): readonly { readonly offer: Offer; readonly jobs: number }[] {
  let rest = jobs;
  return routes.flatMap((route) =>
    route.entry.offers.flatMap((entryOffer) => {
      const taken = Math.min(rest, route.jobs, entryOffer.jobs);
      if (taken === 0) return [];
      rest -= taken;
      route.jobs -= taken;
      entryOffer.jobs -= taken;
      return [{ offer: entryOffer.offer, jobs: taken }];
    }),
  );
}
