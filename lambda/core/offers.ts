/** What could run a job: every pool's daemons and launches, and the daemons that nobody here owns. */
import type { Offer } from './assignment.ts';
import { isComing, isSupply, measure } from './capacity.ts';
import { type Activity, indexDaemons } from './daemons.ts';
import { by } from './order.ts';
import type { Served } from './plan.ts';
import { priceOf } from './prices.ts';
import type { Daemon, OrganizationSight, Snapshot } from './snapshot.ts';
import type { PoolSight } from './supply.ts';
import { normalizeTags, type TagSet, tagKey } from './tags.ts';

/** All offers, in an order that the order of input does not change. */
export function readOffers(pools: readonly PoolSight[], snapshot: Snapshot): readonly Offer[] {
  const isForeign = foreignTo(pools);
  return [
    ...pools.flatMap(offersOfPool),
    ...snapshot.coder.organizations
      .toSorted(by(({ id }) => id))
      .flatMap((organization) => offersOfOthers(organization, isForeign, snapshot)),
  ];
}

/** Tasks that this pool may still be given, as far as its own bound goes. */
export function launchRoom(sight: PoolSight): number {
  return sight.service === undefined ? 0 : Math.max(0, sight.pool.max - measure(sight).total);
}

function offersOfPool(sight: PoolSight): readonly Offer[] {
  const { pool, organization, tasks, missing } = sight;
  if (organization === undefined) return [];
  const own = normalizeTags(pool.tags);
  const offer = (served: Served, tags: TagSet, places: number): Offer => ({
    organizationId: organization.id,
    pool: pool.name,
    price: priceOf(pool),
    served,
    tags,
    places,
  });
  const free = tasks.filter((task) => isSupply(task) && (task.use === 'idle' || task.use === 'unknown'));
  return [
    ...groupByTags(free).map(({ tags, count }) => offer('by-free', tags, count)),
    offer('by-starting', own, missing + tasks.filter(isComing).length),
    offer('by-launch', own, launchRoom(sight)),
    offer('when-there-is-room', own, Number.POSITIVE_INFINITY),
  ];
}

/** A live daemon offers its own tags, which may not be its pool's. */
function groupByTags(
  items: readonly { readonly offers: TagSet }[],
): readonly { tags: TagSet; count: number }[] {
  const groups = Map.groupBy(items, ({ offers }) => tagKey(offers));
  return [...groups.entries()]
    .sort(by(([key]) => key))
    .flatMap(([, group]) => (group[0] ? [{ tags: group[0].offers, count: group.length }] : []));
}

function offersOfOthers(
  organization: OrganizationSight,
  isForeign: (daemon: Daemon) => boolean,
  snapshot: Snapshot,
): readonly Offer[] {
  const index = indexDaemons(organization, snapshot.takenAt);
  const others = organization.daemons.items.filter(isForeign);
  const having = (activity: Activity) =>
    groupByTags(
      others
        .filter((daemon) => index.activity(daemon) === activity)
        .map(({ tags }) => ({ offers: normalizeTags(tags) })),
    );
  const offer = { organizationId: organization.id, pool: null, price: 0 } as const;
  return [
    ...having('idle').map(
      ({ tags, count }) => ({ ...offer, served: 'by-free', tags, places: count }) as const,
    ),
    ...having('busy').map(
      ({ tags }) => ({ ...offer, served: 'by-busy', tags, places: Number.POSITIVE_INFINITY }) as const,
    ),
  ];
}

/**
 * Not one of ours: no task of a pool holds it, and it does not have the name that a pool's daemon would have
 * (those whose task is gone still read idle for up to 90 s, contract §2).
 */
function foreignTo(pools: readonly PoolSight[]): (daemon: Daemon) => boolean {
  const own = new Set(pools.flatMap(({ tasks }) => tasks.map(({ daemon }) => daemon)));
  const names = new Set<string>(pools.map(({ pool }) => pool.name));
  return (daemon) => {
    const poolName = /^(.+)-[0-9a-f]{32}$/.exec(daemon.name)?.[1];
    return !own.has(daemon) && !(poolName !== undefined && names.has(poolName));
  };
}
