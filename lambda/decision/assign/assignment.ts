/**
 * The assignment: each pending job goes to one offer that can run it, so a job that several pools
 * can run counts once. Computed from the demand groups and the offers. It is a plan for capacity,
 * not a placement: coderd decides which daemon takes which job.
 *
 * The result is exact. Groups are served in their order, as many jobs of each as possible, at the
 * least price of new tasks. Free daemons are used before starting and busy ones. Stock comes last.
 * The solver is a least-cost flow (offer-network.ts).
 */
import {
  type DueGroup,
  type Group,
  isLeft,
  isPending,
  isUrgent,
  type StockGroup,
  type TagGroup,
  youngestOf,
} from '../demand/demand.ts';
import { poolOfPart } from '../model/brands.ts';
import { partition, sum } from '../model/collections.ts';
import type { Served } from '../model/plan.ts';
import { covers, tagKey } from '../model/tags.ts';
import type { LaunchLimits } from './launch-limits.ts';
import { groupOffers, type Offer, type OfferGroup, SOONEST_FIRST } from './offer.ts';
import { OfferNetwork, takeFrom, useOf } from './offer-network.ts';

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

export type Demand = {
  /** Pending jobs. */
  readonly jobs: readonly TagGroup[];
  readonly due: readonly DueGroup[];
  readonly warm: readonly Group[];
  readonly stock: readonly StockGroup[];
};

/** The limits over all pools. */
type Limits = Pick<LaunchLimits, 'total' | 'budget'>;

/**
 * As many launches as the budget allows. A pool whose task costs more than the rest of the budget
 * does not block a cheaper pool. But while the budget holds back a job that people wait for, the
 * rest launches no prebuild and no stock.
 */
export function assignDemand(demand: Demand, offers: readonly Offer[], limits: Limits): Assignment {
  const { total, budget } = limits;
  const groups = inServingOrder(demand);
  const all = assign(groups, offers, total);
  if (paidFor(all.assigned) <= budget) return all;
  let open = offers;
  for (;;) {
    const best = mostWithin(groups, open, limits);
    const isHeld = urgentLaunches(best) < urgentLaunches(all);
    const capped = capOverBudget(open, best, budget - paidFor(best.assigned));
    if (capped === undefined) return best;
    open = isHeld ? capped.map(forUrgentOnly) : capped;
  }
}

/** From urgent jobs to those that are due later. */
function inServingOrder({ jobs, due, warm, stock }: Demand): readonly Group[] {
  const [left, own] = partition(jobs, isLeft);
  const [urgent, patient] = partition(own, isUrgent);
  const [now, later] = partition(due, (group) => group.for === 'due');
  // `later` launches nothing, so it must not take a daemon that was launched for the stock
  return [...urgent, ...now, ...warm, ...patient, ...left, ...stock, ...later];
}

/** The most launches that fit the budget, by bisection: more launches never cost less. */
function mostWithin(groups: readonly Group[], offers: readonly Offer[], limits: Limits): Assignment {
  let [low, high] = [0, Math.max(0, limits.total) + 1];
  let best = assign(groups, offers, low);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const tried = assign(groups, offers, middle);
    if (paidFor(tried.assigned) <= limits.budget) [low, best] = [middle, tried];
    else high = middle;
  }
  return best;
}

/** Without further launches in pools that cost more than the rest; undefined: there is none. */
function capOverBudget(
  offers: readonly Offer[],
  { assigned }: Assignment,
  left: number,
): readonly Offer[] | undefined {
  const launched = (offer: Offer): number => sum(assigned, (row) => (row.offer === offer ? row.jobs : 0));
  const isOverRest = (offer: Offer): boolean =>
    isPaid(offer) && offer.price > left && offer.places > launched(offer);
  if (!offers.some(isOverRest)) return undefined;
  return offers.map((offer) => (isOverRest(offer) ? { ...offer, places: launched(offer) } : offer));
}

function forUrgentOnly(offer: Offer): Offer {
  return { ...offer, bounds: { ...offer.bounds, prebuilds: 0, launchesStock: false } };
}

function urgentLaunches({ assigned }: Assignment): number {
  return sum(assigned, ({ group, offer, jobs }) => (isUrgent(group) && isPaid(offer) ? jobs : 0));
}

/** Earlier groups go first. `launchRoom`: how many tasks may be launched over all pools. */
export function assign<G extends Group>(
  groups: readonly G[],
  offers: readonly Offer[],
  launchRoom: number,
): Assignment<G> {
  const offerGroups = groupOffers(offers);
  const byOrganization = Map.groupBy(offerGroups, ({ organizationId }) => organizationId);
  const optionsOf = (group: Group): readonly OfferGroup[] =>
    byOrganization.get(group.organizationId)?.filter((offerGroup) => fits(offerGroup, group)) ?? [];
  const options = new Map(groups.map((group) => [group, optionsOf(group)]));
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

export type JobAssignment = Assignment<TagGroup>;

/** The part about jobs. Daemons to have ready are in the rows of the pools. */
export function ofJobs({ assigned, unserved }: Assignment): JobAssignment {
  return {
    assigned: assigned.flatMap(({ group, ...row }) => (isPending(group) ? [{ ...row, group }] : [])),
    unserved: unserved.filter(isPending),
  };
}

function unassignedJobs<G extends Group>({ jobs: all }: G, rows: readonly Assigned<G>[]): number {
  return all - sum(rows, ({ jobs }) => jobs);
}

/** Whether offers of the same organization can serve a group. */
function fits(offerGroup: OfferGroup, group: Group): boolean {
  switch (group.for) {
    case 'warm':
      return offerGroup.pool === group.pool && tagKey(offerGroup.tags) === tagKey(group.tags);
    case 'stock':
      if (offerGroup.pool === null) return group.tagSets.every((tags) => covers(offerGroup.tags, tags));
      return group.pools.has(poolOfPart(offerGroup.pool));
    case 'due':
    case 'later':
      return (
        (offerGroup.pool === null || group.pools.has(offerGroup.pool)) && covers(offerGroup.tags, group.tags)
      );
    default:
      return covers(offerGroup.tags, group.tags);
  }
}

/** Distributes the offers to the groups in their order. */
function solve<G extends Group>(
  groups: readonly G[],
  options: ReadonlyMap<G, readonly OfferGroup[]>,
  launchRoom: number,
): ReadonlyMap<G, readonly Assigned<G>[]> {
  const network = new OfferNetwork(launchRoom);
  const sent = groups.map((group) => {
    const source = network.sourceOf(options.get(group) ?? [], useOf(group));
    return { group, source, jobs: network.send(source, group) };
  });
  network.collectFlow();
  return new Map(
    sent.map(({ group, source, jobs }) => [
      group,
      takeFrom(source, jobs).map((taken) => ({ group, ...taken })),
    ]),
  );
}

/**
 * Assigns the jobs that have to wait. They wait for the peer that launches for them; for their turn,
 * if a launch costs more than their waiting; for room in the cheapest pool that can run them; or for
 * a busy daemon. Jobs that do not exist yet do not wait.
 */
function assignWaiting<G extends Group>(
  group: G,
  offerGroups: readonly OfferGroup[],
  rows: readonly Assigned<G>[],
): readonly Assigned<G>[] {
  const jobs = unassignedJobs(group, rows);
  if (jobs === 0 || !isPending(group)) return [];
  const offers = offerGroups.flatMap(({ offers: all }) => all);
  const soonest = (holds: (offer: Offer) => boolean): Offer | undefined =>
    offers.filter(holds).toSorted(SOONEST_FIRST)[0];
  if (group.leftTo !== undefined) {
    const peer = soonest(({ served }) => served === 'by-peer');
    return peer === undefined ? [] : [{ group, offer: peer, jobs }];
  }
  const inTurn = Math.min(jobs, group.jobs - group.atOnce);
  const launch = soonest(({ served }) => served === 'when-there-is-room');
  const busy = soonest(
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

/** Whether an offer is a launch that no floor causes in any case. */
function isPaid({ served, price }: Assigned['offer']): boolean {
  return served === 'by-launch' && price > 0;
}

/** The cost of all launches together, in micro-dollars an hour. */
export function paidFor(assigned: readonly Assigned[]): number {
  return sum(assigned, ({ offer, jobs }) => (isPaid(offer) ? jobs * offer.price : 0));
}

/** Counts launches, except those that a floor causes in any case. */
export function countLaunches(assigned: readonly Assigned[]) {
  const count = (served: Served): number =>
    sum(assigned, ({ offer, jobs }) => (offer.served === served && offer.price > 0 ? jobs : 0));
  return { granted: count('by-launch'), waiting: count('when-there-is-room') };
}
