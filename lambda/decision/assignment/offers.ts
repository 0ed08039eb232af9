/** What could run a job: every pool's daemons and launches, and the daemons that nobody here owns. */

import { isComing } from '../capacity/capacity.ts';
import { AUDIENCES, oldestOf, PRICE_OF, type TagGroup } from '../demand/demand.ts';
import { endsOf, type RunningBuild } from '../demand/running.ts';
import { sum } from '../model/collections.ts';
import type { Served } from '../model/plan.ts';
import type { Daemon, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { covers, normalizeTags, type TagSet, tagKey } from '../model/tags.ts';
import { launchCost } from '../settings/patience.ts';
import { priceOf } from '../settings/prices.ts';
import { type DaemonIndex, indexDaemons, isAlive } from '../supply/daemons.ts';
import { foreignTo } from '../supply/supply.ts';
import type { Bounds, Offer } from './assignment.ts';
import type { PoolRoom, Room } from './launch-limits.ts';

/** A busy daemon is as good as a free one if it is so likely to be free before it matters. */
const LIKELY = 0.8;
/**
 * coderd gives a pending job to a daemon that asks for one within a second. What reads idle beside a job that has waited for longer has
 * ended, which coderd does not tell for 90 s (docs/coder.md §2), or takes no such jobs.
 */
const HANDED_OVER_MS = 15_000;
/** No horizon is longer: coderd fails jobs that wait for longer. */
const LONGEST_MS = 30 * 60_000;

/** All offers, in any order: `assign` has one of its own. */
export function deriveOffers(
  { pools }: Room,
  demand: readonly TagGroup[],
  snapshot: Snapshot,
): readonly Offer[] {
  const views = pools.map(({ view }) => view);
  const isForeign = foreignTo(views);
  const indexes = new Map(views.map(({ organization, index }) => [organization, index]));
  return [
    ...pools.flatMap((pool) => offersOfPool(pool, demand, snapshot)),
    ...snapshot.coder.organizations.flatMap((organization) =>
      offersOfOthers(
        organization,
        isForeign,
        indexes.get(organization) ?? indexDaemons(organization, snapshot.takenAt),
        { snapshot, demand },
      ),
    ),
  ];
}

function offersOfPool(room: PoolRoom, demand: readonly TagGroup[], snapshot: Snapshot): readonly Offer[] {
  const { view, capacity, forMin, beyond } = room;
  const { pool, tags: own, organization, tasks } = view;
  if (organization === undefined) return [];
  const bounds = boundsOf(room, demand);
  const offer = (served: Served, tags: TagSet, places: number, price = 0): Offer => ({
    organizationId: organization.id,
    pool: pool.name,
    price,
    served,
    tags,
    places,
    bounds,
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
    ...busyOffers(room, endsOf(view, snapshot.takenAt), offer),
    offer('by-launch', own, forMin),
    offer('by-launch', own, beyond, price),
    offer('when-there-is-room', own, Number.POSITIVE_INFINITY, price),
    ...groupByTags(strays).map(({ tags }) => offer('by-busy', tags, Number.POSITIVE_INFINITY)),
  ];
}

/**
 * Daemons that are busy, each for the audiences for which it is likely to be free in time: before a new task would have a daemon, and the
 * longer, the less a launch is worth to them.
 */
function busyOffers(
  { view: { pool, startTime } }: PoolRoom,
  running: readonly RunningBuild[],
  offer: (served: Served, tags: TagSet, places: number) => Offer,
): readonly Offer[] {
  const start = launchCost(pool, startTime.p50Ms);
  const horizons = AUDIENCES.map((audience) => {
    const worthMs = (start / pool.waiting[PRICE_OF[audience]]) * 60_000;
    return { audience, withinMs: startTime.p50Ms + Math.min(LONGEST_MS, worthMs) };
  });
  const soon = running.flatMap(({ task, chanceToEnd }) => {
    const audiences = horizons.filter(({ withinMs }) => chanceToEnd(withinMs) >= LIKELY);
    return audiences.length === 0 ? [] : [{ offers: task.offers, audiences }];
  });
  const byAudiences = Map.groupBy(soon, ({ audiences }) =>
    audiences.map(({ audience }) => audience).join(' '),
  );
  return [...byAudiences.values()].flatMap((alike) =>
    groupByTags(alike).map(({ tags, count }) => ({
      ...offer('by-busy', tags, count),
      audiences: new Set(alike[0]?.audiences.map(({ audience }) => audience)),
    })),
  );
}

/** Work that can wait would take what is launched for stock, so nothing is launched for stock until it is done. */
function boundsOf(
  { view, capacity, isDoubtful, isPendingOnly, forMin, beyond, forPrebuilds }: PoolRoom,
  demand: readonly TagGroup[],
): Bounds {
  const { pool, tags, organization, tasks } = view;
  const canWait = demand.filter(
    (group) =>
      (group.for === 'prebuilds' || group.for === 'stops') &&
      group.organizationId === organization?.id &&
      covers(tags, group.tags),
  );
  const waiting = sum(canWait, ({ jobs }) => jobs);
  const ready = tasks.filter(({ use }) => use === 'idle').length + capacity.starting;
  // what this look launches for them starts by the next one, which is to decide alike
  const launched = sum(canWait, (group) =>
    Math.min(group.atOnce, forMin + (group.for === 'prebuilds' ? forPrebuilds : beyond)),
  );
  return {
    due: isPendingOnly ? 0 : pool.prewarm.max,
    prebuilds: forPrebuilds,
    launchesStock: !isDoubtful && waiting <= Math.max(ready, launched),
    launch: Math.round(pool.dollarsPerLaunch * 1e6),
    price: priceOf(pool),
  };
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

/** What nobody here owns is bounded by nothing. */
const UNBOUNDED: Bounds = {
  due: Number.POSITIVE_INFINITY,
  prebuilds: 0,
  launchesStock: false,
  launch: 0,
  price: 0,
};

function offersOfOthers(
  organization: OrganizationReadings,
  isForeign: (daemon: Daemon) => boolean,
  index: DaemonIndex,
  { snapshot, demand }: { readonly snapshot: Snapshot; readonly demand: readonly TagGroup[] },
): readonly Offer[] {
  const waiting = demand.filter(
    (group) =>
      group.organizationId === organization.id && oldestOf(group) < snapshot.takenAt - HANDED_OVER_MS,
  );
  const others = organization.daemons.items
    .filter((daemon) => isAlive(daemon, snapshot.takenAt) && isForeign(daemon))
    .map((daemon) => ({ daemon, offers: normalizeTags(daemon.tags) }));
  const free = others.filter(
    ({ daemon, offers }) =>
      index.activity(daemon) === 'idle' && !waiting.some(({ tags }) => covers(offers, tags)),
  );
  const offer = { organizationId: organization.id, pool: null, price: 0, bounds: UNBOUNDED } as const;
  return [
    ...groupByTags(free).map(
      ({ tags, count }) => ({ ...offer, served: 'by-free', tags, places: count }) as const,
    ),
    ...groupByTags(others).map(
      ({ tags }) => ({ ...offer, served: 'by-busy', tags, places: Number.POSITIVE_INFINITY }) as const,
    ),
  ];
}
