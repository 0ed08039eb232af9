/**
 * Assignment: every pending job to one place that can run it, so that a job that several pools can run is
 * counted once. A plan for capacity, not a placement: coderd decides which daemon takes which job.
 *
 * Exact: as many jobs as possible are served; people's before prebuilds, then the group with the oldest job first, `warm`
 * last; then at the least price of new tasks; then by free daemons before starting ones. Solved on groups, as a
 * least-cost flow: group -> tag set of a pool that can run it -> daemons and launches there -> (launches) the
 * room over all pools.
 */
import type { OrganizationId, PoolName } from './brands.ts';
import type { Group } from './demand.ts';
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
};

export type Assigned<G extends Group = Group> = {
  readonly group: G;
  readonly offer: Offer;
  readonly jobs: number;
};

export type Assignment<G extends Group = Group> = {
  /** In the order of the groups. */
  readonly assigned: readonly Assigned<G>[];
  /** Groups that no offer can run. */
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
  const assigned = groups.flatMap((group) => {
    const rows = placed.get(group) ?? [];
    const rest = group.jobs - sum(rows, ({ jobs }) => jobs);
    return [...rows, ...promise(group, options.get(group) ?? [], rest)];
  });
  return { assigned, unserved: groups.filter((group) => options.get(group)?.length === 0) };
}

/** All offers of one pool and tag set: what can run one of their jobs can run all. */
type Place = Pick<Offer, 'organizationId' | 'pool' | 'tags'> & { readonly offers: readonly Offer[] };

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
  return covers(place.tags, group.tags);
}

/** What is there and what can be launched, given to the groups in their order. */
function solve<G extends Group>(
  groups: readonly G[],
  options: ReadonlyMap<G, readonly Place[]>,
  launchRoom: number,
): ReadonlyMap<G, readonly Assigned<G>[]> {
  const network = new Network();
  const sink = network.addNode();
  const room = network.addNode();
  network.addArc(room, sink, { capacity: Math.max(0, launchRoom), cost: 0 });
  const used = new Set([...options.values()].flat());
  const entries = new Map([...used].map((place) => [place, addPlace(network, place, { sink, room })]));
  const arcs = groups.map((group) => {
    const node = network.addNode();
    const toPlaces = (options.get(group) ?? []).map((place) => {
      const to = entries.get(place)?.node ?? sink;
      return { place, arc: network.addArc(node, to, { capacity: group.jobs, cost: 0 }) };
    });
    network.send(node, sink, group.jobs);
    return { group, toPlaces };
  });
  const left = new Map(
    [...entries.values()].flatMap((entry) =>
      entry.arcs.map(({ offer, arc }) => [offer, network.flowOf(arc)]),
    ),
  );
  return new Map(
    arcs.map(({ group, toPlaces }) => [
      group,
      toPlaces.flatMap(({ place, arc }) => takeFrom(group, place, network.flowOf(arc), left)),
    ]),
  );
}

type Ends = { readonly sink: number; readonly room: number };

function addPlace(network: Network, { offers }: Place, { sink, room }: Ends) {
  const node = network.addNode();
  const real = offers.filter(({ served }) => RANK[served] <= RANK['by-launch']);
  const arcs = real.map((offer) => {
    const { served, price, places } = offer;
    const cost = price * PRICE_WEIGHT + RANK[served];
    // a launch that costs nothing more comes in any case, and its room has been set aside
    const to = served === 'by-launch' && price > 0 ? room : sink;
    return { offer, arc: network.addArc(node, to, { capacity: places, cost }) };
  });
  return { node, arcs };
}

/** The flow into a place, dealt out to its offers: earlier groups get the readier ones. */
function takeFrom<G extends Group>(
  group: G,
  { offers }: Place,
  jobs: number,
  left: Map<Offer, number>,
): readonly Assigned<G>[] {
  let rest = jobs;
  return offers.flatMap((offer) => {
    const taken = Math.min(rest, left.get(offer) ?? 0);
    if (taken === 0) return [];
    rest -= taken;
    left.set(offer, (left.get(offer) ?? 0) - taken);
    return [{ group, offer, jobs: taken }];
  });
}

/** Jobs that have to wait: for room in the cheapest pool that can run them, or for a daemon that is busy. */
function promise<G extends Group>(group: G, places: readonly Place[], jobs: number): readonly Assigned<G>[] {
  if (jobs === 0) return [];
  const [offer] = places
    .flatMap(({ offers }) => offers)
    .filter(({ served }) => RANK[served] > RANK['by-launch'])
    .toSorted(READIEST);
  return offer === undefined ? [] : [{ group, offer, jobs }];
}
