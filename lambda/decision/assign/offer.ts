/** What can run a job, and the offers of one pool and tag set together. */
import type { OrganizationId, PoolName } from '../model/brands.ts';
import { by, groupsBy } from '../model/collections.ts';
import type { Audience, Served } from '../model/plan.ts';
import { type TagSet, tagKey } from '../model/tags.ts';

/** A number of equal places that can run a job. */
export type Offer = {
  readonly organizationId: OrganizationId;
  /** Null: daemons that the autoscaler does not own. */
  readonly pool: PoolName | null;
  readonly tags: TagSet;
  readonly served: Served;
  /** The number of jobs that fit. Infinite if these jobs have to wait for the place. */
  readonly places: number;
  /** Micro-dollars an hour. 0: the task exists, or a floor launches it in any case. */
  readonly price: number;
  /** The audiences whose jobs may use it. Absent: all. */
  readonly audiences?: ReadonlySet<Audience> | undefined;
  /** Whether it is ready for jobs to come, but not for one that waits. @default false */
  readonly isUnsure?: boolean | undefined;
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

/** All offers of one pool and tag set. They can run the same jobs. */
export type OfferGroup = Pick<Offer, 'organizationId' | 'pool' | 'tags' | 'bounds'> & {
  readonly offers: readonly Offer[];
};

export const RANK: Readonly<Record<Served, number>> = {
  'by-free': 0,
  'by-starting': 1,
  'by-busy': 2,
  // before a launch: a late heartbeat must not cause one
  'by-doubtful': 3,
  'by-launch': 4,
  'when-there-is-room': 5,
  'by-peer': 6,
};

/** Groups the offers by pool and tag set, in order of pool, so that every look decides alike. */
export function groupOffers(offers: readonly Offer[]): readonly OfferGroup[] {
  const keyOf = ({ organizationId, pool, tags }: Offer): string =>
    JSON.stringify([pool, organizationId, tagKey(tags)]);
  return groupsBy(offers, keyOf)
    .map((alike) => ({ key: keyOf(alike[0]), ...alike[0], offers: alike.toSorted(SOONEST_FIRST) }))
    .toSorted(by('key'));
}

export const SOONEST_FIRST = by<Offer>(
  ({ served }) => RANK[served],
  'price',
  ({ pool }) => pool ?? '',
);
