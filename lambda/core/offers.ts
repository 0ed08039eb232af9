/** What could run a job: every pool's daemons and launches, and the daemons that nobody here owns. */
import type { Offer } from './assignment.ts';
import type { EpochMs } from './brands.ts';
import { isComing } from './capacity.ts';
import { type DaemonIndex, indexDaemons, isAlive } from './daemons.ts';
import type { DueGroup, WarmGroup } from './demand.ts';
import { type Call, hasWrongKey } from './lookout.ts';
import type { Served } from './plan.ts';
import { priceOf } from './prices.ts';
import type { PoolRoom, Room } from './room.ts';
import type { Daemon, OrganizationSight, Snapshot } from './snapshot.ts';
import { foreignTo } from './supply.ts';
import { normalizeTags, type TagSet, tagKey } from './tags.ts';

/** All offers, in any order: `assign` has one of its own. */
export function readOffers({ pools }: Room, snapshot: Snapshot): readonly Offer[] {
  const sights = pools.map(({ sight }) => sight);
  const isForeign = foreignTo(sights);
  const indexes = new Map(sights.map(({ organization, index }) => [organization, index]));
  return [
    ...pools.flatMap(offersOfPool),
    ...snapshot.coder.organizations.flatMap((organization) =>
      offersOfOthers(
        organization,
        isForeign,
        indexes.get(organization) ?? indexDaemons(organization, snapshot.takenAt),
        snapshot,
      ),
    ),
  ];
}

/**
 * What is due, as demand for daemons that are ready when coderd inserts the jobs. What is later than it may be is woken for, by one
 * daemon: coderd had its reasons, or more will follow when the jobs are there.
 */
export function readDue(calls: readonly Call[], now: EpochMs): readonly DueGroup[] {
  return calls.flatMap(({ group: { organizationId, tags }, pools, due }) => {
    const since = now - Math.min(...pools.map(({ pool }) => pool.wake.maxDelayMs));
    const jobs = due.filter(({ takesJob, at }) => takesJob && at >= since).length;
    const ready = pools
      .filter((sight) => sight.pool.prewarm.max > 0 && !hasWrongKey(sight))
      .map(({ pool }) => pool.name);
    if (jobs === 0 || ready.length === 0) return [];
    return [{ for: 'due', organizationId, tags, pools: new Set(ready), jobs } as const];
  });
}

/** What each pool is to keep free, as demand that only its own daemons can serve. */
export function readWarmth({ pools }: Room): readonly WarmGroup[] {
  return pools.flatMap(({ sight: { pool, tags, organization }, outlook: { floors } }) =>
    floors.warm === 0 || organization === undefined
      ? []
      : [
          {
            for: 'warm',
            organizationId: organization.id,
            tags,
            pool: pool.name,
            jobs: floors.warm,
          },
        ],
  );
}

function offersOfPool({ sight, capacity, forMin, beyond }: PoolRoom): readonly Offer[] {
  const { pool, tags: own, organization, tasks } = sight;
  if (organization === undefined) return [];
  const offer = (served: Served, tags: TagSet, places: number, price = 0): Offer => ({
    organizationId: organization.id,
    pool: pool.name,
    price,
    served,
    tags,
    places,
    dueAtMost: pool.prewarm.max,
  });
  const price = priceOf(pool);
  // where the leases could not be read, a daemon that is alive counts: blindness launches nothing
  const free = tasks.filter(
    ({ state, use, leaseMs }) =>
      (state === 'working' || (state === 'unguarded' && leaseMs === undefined)) &&
      (use === 'idle' || use === 'unknown'),
  );
  // daemons that came with another key run jobs of their own tags, sooner or later
  const strays = tasks.filter(
    (task) => task.state === 'working' && task.use !== 'silent' && task.hasOtherTags,
  );
  const there = groupByTags(free).map(({ tags, count }) => offer('by-free', tags, count));
  // those who come are asked to leave at once
  if (pool.retiring) return there;
  return [
    ...there,
    offer('by-starting', own, capacity.missing + tasks.filter(isComing).length),
    offer('by-launch', own, forMin),
    offer('by-launch', own, beyond, price),
    offer('when-there-is-room', own, Number.POSITIVE_INFINITY, price),
    ...groupByTags(strays).map(({ tags }) => offer('by-busy', tags, Number.POSITIVE_INFINITY)),
  ];
}

/** A live daemon offers its own tags, which may not be its pool's. */
function groupByTags(
  items: readonly { readonly offers: TagSet }[],
): readonly { tags: TagSet; count: number }[] {
  const groups = Map.groupBy(items, ({ offers }) => tagKey(offers));
  return [...groups.entries()].flatMap(([, group]) =>
    group[0] ? [{ tags: group[0].offers, count: group.length }] : [],
  );
}

function offersOfOthers(
  organization: OrganizationSight,
  isForeign: (daemon: Daemon) => boolean,
  index: DaemonIndex,
  snapshot: Snapshot,
): readonly Offer[] {
  const others = organization.daemons.items.filter(
    (daemon) => isAlive(daemon, snapshot.takenAt) && isForeign(daemon),
  );
  const group = (daemons: readonly Daemon[]) =>
    groupByTags(daemons.map(({ tags }) => ({ offers: normalizeTags(tags) })));
  const offer = {
    organizationId: organization.id,
    pool: null,
    price: 0,
    dueAtMost: Number.POSITIVE_INFINITY,
  } as const;
  return [
    ...group(others.filter((daemon) => index.activity(daemon) === 'idle')).map(
      ({ tags, count }) => ({ ...offer, served: 'by-free', tags, places: count }) as const,
    ),
    ...group(others).map(
      ({ tags }) => ({ ...offer, served: 'by-busy', tags, places: Number.POSITIVE_INFINITY }) as const,
    ),
  ];
}
