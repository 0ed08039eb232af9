/**
 * Assignment: every pending job to one place that can run it, so that a job that several pools can run is
 * counted once. A plan for capacity, not a placement: coderd decides which daemon takes which job.
 *
 * Exact: as many jobs as possible are served; people's before prebuilds, then the group with the oldest job first; then
 * at the least price of new tasks; then by free daemons before starting ones. Solved on groups, as a least-cost
 * flow: group -> tag set that can run it -> daemons and launches there -> (launches) the room over all pools.
 */
import type { OrganizationId, PoolName } from './brands.ts';
import type { TagGroup } from './demand.ts';
import { Network } from './flow.ts';
import { by } from './order.ts';
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
  /** Micro-dollars an hour of a new task; what is there already costs nothing more. */
  readonly price: number;
};

export type Assigned = { readonly group: TagGroup; readonly offer: Offer; readonly jobs: number };

export type Assignment = {
  /** In the order of demand. */
  readonly assigned: readonly Assigned[];
  /** Groups that no offer can run. */
  readonly unserved: readonly TagGroup[];
};

/** Assigns all jobs that any offer can run. `launchRoom` bounds the launches of all pools together, in tasks. */
export function assign(
  groups: readonly TagGroup[],
  offers: readonly Offer[],
  launchRoom: number,
): Assignment {
  const places = groupByPlace(offers);
  const options = new Map(groups.map((group) => [group, places.filter((place) => fits(place, group))]));
  const placed = solve(groups, options, launchRoom);
  const assigned = groups.flatMap((group) => {
    const rows = placed.get(group) ?? [];
    const rest = group.jobs - rows.reduce((total, { jobs }) => total + jobs, 0);
    return [...rows, ...promise(group, options.get(group) ?? [], rest)];
  });
  return { assigned, unserved: groups.filter((group) => options.get(group)?.length === 0) };
}

/** All offers of one tag set in one organization: what can run one of their jobs can run all. */
type Place = {
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
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

function groupByPlace(offers: readonly Offer[]): readonly Place[] {
  const sorted = offers.toSorted(
    by(
      ({ served }) => RANK[served],
      ({ price }) => price,
      ({ pool }) => pool ?? '',
    ),
  );
  const byTags = Map.groupBy(sorted, ({ organizationId, tags }) => `${organizationId} ${tagKey(tags)}`);
  return [...byTags.entries()]
    .toSorted(
      by(
        ([, like]) => firstPool(like),
        ([key]) => key,
      ),
    )
    .flatMap(([, [first, ...others]]) =>
      first === undefined ? [] : [{ ...first, offers: [first, ...others] }],
    );
}

/** Between places of one price the pool's name decides, so that every look decides alike. */
function firstPool(offers: readonly Offer[]): string {
  return offers.reduce(
    (first, { pool }) => (pool !== null && (first === '' || pool < first) ? pool : first),
    '',
  );
}

function fits(place: Place, group: TagGroup): boolean {
  return place.organizationId === group.organizationId && covers(place.tags, group.tags);
}

type Options = ReadonlyMap<TagGroup, readonly Place[]>;

/** What is there and what can be launched, given to the groups in their order. */
function solve(
  groups: readonly TagGroup[],
  options: Options,
  launchRoom: number,
): ReadonlyMap<TagGroup, readonly Assigned[]> {
  const network = new Network();
  const sink = network.addNode();
  const room = network.addNode();
  network.addArc(room, sink, { capacity: Math.max(0, launchRoom), cost: 0 });
  const used = [...new Set([...options.values()].flat())];
  const entries = new Map(used.map((place) => [place, addPlace(network, place, { sink, room })]));
  const arcs = groups.map((group) => {
    const node = network.addNode();
    const toPlaces = (options.get(group) ?? []).map((place) => ({
      place,
      arc: network.addArc(node, entries.get(place)?.node ?? sink, { capacity: group.jobs, cost: 0 }),
    }));
    network.send(node, sink, group.jobs);
    return { group, toPlaces };
  });
  const left = new Map(
    [...entries.values()].flatMap(({ arcs }) => arcs.map(({ offer, arc }) => [offer, network.flowOf(arc)])),
  );
  return new Map(
    arcs.map(({ group, toPlaces }) => [
      group,
      toPlaces.flatMap(({ place, arc }) => takeFrom(group, place, network.flowOf(arc), left)),
    ]),
  );
}

function addPlace(
  network: Network,
  { offers }: Place,
  { sink, room }: { readonly sink: number; readonly room: number },
) {
  const node = network.addNode();
  const real = offers.filter(({ served }) => RANK[served] <= RANK['by-launch']);
  return {
    node,
    arcs: real.map((offer) => ({
      offer,
      arc: network.addArc(node, offer.served === 'by-launch' ? room : sink, {
        capacity: offer.places,
        cost: (offer.served === 'by-launch' ? offer.price : 0) * PRICE_WEIGHT + RANK[offer.served],
      }),
    })),
  };
}

/** The flow into a place, dealt out to its offers: earlier groups get the readier ones. */
function takeFrom(
  group: TagGroup,
  { offers }: Place,
  jobs: number,
  left: Map<Offer, number>,
): readonly Assigned[] {
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
function promise(group: TagGroup, places: readonly Place[], jobs: number): readonly Assigned[] {
  if (jobs === 0) return [];
  const [offer] = places
    .flatMap(({ offers }) => offers)
    .filter(({ served }) => RANK[served] > RANK['by-launch'])
    .toSorted(
      by(
        ({ served }) => RANK[served],
        ({ price }) => price,
        ({ pool }) => pool ?? '',
      ),
    );
  return offer === undefined ? [] : [{ group, offer, jobs }];
}
