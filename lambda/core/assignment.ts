/**
 * Assignment: every pending job to one place that can run it, so that a job that several pools can run is
 * counted once. A plan for capacity, not a placement: coderd decides which daemon takes which job.
 *
 * Exact: as many jobs as possible are served; people's before prebuilds, then the group with the oldest job first, then what is about to
 * be due, `warm` last; then at the least price of new tasks; then by free daemons before starting ones. Solved on groups, as a
 * least-cost flow: group -> tag set of a pool that can run it -> daemons and launches there -> (launches) the
 * room over all pools.
 */
import type { OrganizationId, PoolName } from './brands.ts';
import { type Group, youngestOf } from './demand.ts';
import { Network } from './flow.ts';
import { by, sum } from './order.ts';
import type { Served } from './plan.ts';
import { covers, type TagSet, tagKey } from './tags.ts';

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
  /** Of all places of its pool and tag set: for so many jobs that coderd is about to insert. */
  readonly dueAtMost: number;
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
    const promised = promise(group, options.get(group) ?? [], restOf(group, rows));
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
type Place = Pick<Offer, 'organizationId' | 'pool' | 'tags' | 'dueAtMost'> & {
  readonly offers: readonly Offer[];
};

const RANK: Readonly<Record<Served, number>> = {
  'by-free': 0,
  'by-starting': 1,
  'by-launch': 2,
  'when-there-is-room': 3,
  'by-busy': 4,
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
  if (group.for === 'warm') return place.pool === group.pool && tagKey(place.tags) === tagKey(group.tags);
  if (group.for === 'due' && place.pool !== null && !group.pools.has(place.pool)) return false;
  return covers(place.tags, group.tags);
}

/**
 * What is there and what can be launched, given to the groups in their order. Groups that can use the same places
 * share a node: tag sets are many, what can run them is not.
 */
function solve<G extends Group>(
  groups: readonly G[],
  options: ReadonlyMap<G, readonly Place[]>,
  launchRoom: number,
): ReadonlyMap<G, readonly Assigned<G>[]> {
  const network = new Network();
  const ends = { sink: network.addNode(), room: network.addNode() };
  network.addArc(ends.room, ends.sink, { capacity: Math.max(0, launchRoom), cost: 0 });
  const entries = new Map<Place, PlaceEntry>();
  const sources = new Map<string, Source>();
  const building = { network, ends, entries, sources };
  const sent = groups.map((group) => {
    const source = sourceOf(options.get(group) ?? [], group.for === 'due', building);
    const jobs = source.isExhausted ? 0 : network.send(source.node, ends.sink, group.jobs);
    // once nothing more gets through, nothing ever will
    source.isExhausted ||= jobs < group.jobs;
    return { group, source, jobs };
  });
  const left = new Map(
    [...entries.values()].flatMap((entry) =>
      entry.arcs.map(({ offer, arc }) => [offer, network.flowOf(arc)]),
    ),
  );
  for (const source of sources.values()) for (const way of source.ways) way.jobs = network.flowOf(way.arc);
  return new Map(sent.map(({ group, source, jobs }) => [group, takeFrom(group, source, jobs, left)]));
}

/** Where the flow of all groups with the same options begins. */
type Source = {
  readonly node: number;
  readonly ways: { readonly place: Place; readonly arc: number; jobs: number }[];
  isExhausted: boolean;
};
type PlaceEntry = ReturnType<typeof addPlace>;
type Building = {
  readonly network: Network;
  readonly ends: Ends;
  readonly entries: Map<Place, PlaceEntry>;
  readonly sources: Map<string, Source>;
};

function sourceOf(places: readonly Place[], isDue: boolean, building: Building): Source {
  const { network, entries, sources, ends } = building;
  for (const place of places) if (!entries.has(place)) entries.set(place, addPlace(network, place, ends));
  const entryOf = (place: Place): number => {
    const entry = entries.get(place);
    return (isDue ? entry?.dueNode : entry?.node) ?? ends.sink;
  };
  const key = places.map(entryOf).join(' ');
  const known = sources.get(key);
  if (known !== undefined) return known;
  const node = network.addNode();
  const ways = places.map((place) => {
    const arc = network.addArc(node, entryOf(place), { capacity: Number.POSITIVE_INFINITY, cost: 0 });
    return { place, arc, jobs: 0 };
  });
  const source: Source = { node, ways, isExhausted: places.length === 0 };
  sources.set(key, source);
  return source;
}

type Ends = { readonly sink: number; readonly room: number };

function addPlace(network: Network, { offers, dueAtMost }: Place, { sink, room }: Ends) {
  const node = network.addNode();
  const dueNode = network.addNode();
  network.addArc(dueNode, node, { capacity: dueAtMost, cost: 0 });
  const real = offers.filter(({ served }) => RANK[served] <= RANK['by-launch']);
  const arcs = real.map((offer) => {
    const { served, price, places } = offer;
    const cost = price * PRICE_WEIGHT + RANK[served];
    // a launch that costs nothing more comes in any case, and its room has been set aside
    const to = price > 0 ? room : sink;
    return { offer, arc: network.addArc(node, to, { capacity: places, cost }) };
  });
  return { node, dueNode, arcs };
}

/** The flow of a source, dealt out to its groups: earlier ones get the readier offers of a place. */
function takeFrom<G extends Group>(
  group: G,
  { ways }: Source,
  jobs: number,
  left: Map<Offer, number>,
): readonly Assigned<G>[] {
  let rest = jobs;
  return ways.flatMap((way) =>
    way.place.offers.flatMap((offer) => {
      const taken = Math.min(rest, way.jobs, left.get(offer) ?? 0);
      if (taken === 0) return [];
      rest -= taken;
      way.jobs -= taken;
      left.set(offer, (left.get(offer) ?? 0) - taken);
      return [{ group, offer, jobs: taken }];
    }),
  );
}

/** Jobs that have to wait: for room in the cheapest pool that can run them, or for a daemon that is busy. Those that aren't there yet don't. */
function promise<G extends Group>(group: G, places: readonly Place[], jobs: number): readonly Assigned<G>[] {
  if (jobs === 0 || group.for === 'due') return [];
  const [offer] = places
    .flatMap(({ offers }) => offers)
    .filter(({ served }) => RANK[served] > RANK['by-launch'])
    .toSorted(READIEST);
  return offer === undefined ? [] : [{ group, offer, jobs }];
}
