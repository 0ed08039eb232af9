/** Counts the launches of an assignment, and what they cost. */
import { sum } from '../model/collections.ts';
import type { Served } from '../model/plan.ts';
import type { Assigned } from './assignment.ts';

/** Whether an offer is a launch that no floor causes in any case. */
export function isPaid({ served, price }: Assigned['offer']): boolean {
  return served === 'by-launch' && price > 0;
}

/** The cost of all launches together, in micro-dollars an hour. */
export function paidFor(assigned: readonly Assigned[]): number {
  return sum(assigned, ({ offer, jobs }) => (isPaid(offer) ? jobs * offer.price : 0));
}

/** Counts launches, except those that a floor causes in any case. */
export function launchesOf(assigned: readonly Assigned[]) {
  const count = (served: Served): number =>
    sum(assigned, ({ offer, jobs }) => (offer.served === served && offer.price > 0 ? jobs : 0));
  return { granted: count('by-launch'), waiting: count('when-there-is-room') };
}
