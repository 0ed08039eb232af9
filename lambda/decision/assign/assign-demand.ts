/** Assigns all demand in the order in which it is served, within the limits over all pools. */
import {
  type DueGroup,
  type Group,
  isLeft,
  isUrgent,
  type StockGroup,
  type TagGroup,
} from '../demand/demand.ts';
import { partition, sum } from '../model/collections.ts';
import { type Assignment, assign, isPaid, paidFor } from './assignment.ts';
import type { LaunchLimits } from './launch-limits.ts';
import type { Offer } from './offer.ts';

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
