/** The offers: daemons and launches of every pool, and daemons of others. */
import { AUDIENCES, oldestOf, PRICE_OF, type TagGroup } from '../demand/demand.ts';
import { MIN_CHANCE_TO_END, waitingWorthMs } from '../demand/ending.ts';
import { buildsOn, endsOf, type RunningBuild } from '../demand/record.ts';
import { groupsBy, partition, sum } from '../model/collections.ts';
import type { Served } from '../model/plan.ts';
import type { Daemon, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { covers, normalizeTags, type TagSet, tagKey } from '../model/tags.ts';
import { MINUTE_MS } from '../model/units.ts';
import { launchCost, priceOf } from '../settings/prices.ts';
import { isComing, isRefusedLeases, launchesElsewhere } from '../supply/capacity.ts';
import { handOverIn, indexDaemons, mayHaveLeft } from '../supply/rows/daemons.ts';
import type { ForeignIn } from '../supply/rows/unlisted-daemons.ts';
import { mayTakeJobs, type TaskView } from '../supply/task-state.ts';
import type { LaunchLimits, PoolLaunchLimits } from './launch-limits.ts';
import type { Bounds, Offer } from './offer.ts';

/** Derives all offers. Their order does not matter: `assign` sorts them. */
export function deriveOffers(
  { pools }: LaunchLimits,
  demand: readonly TagGroup[],
  { snapshot, foreignIn }: { readonly snapshot: Snapshot; readonly foreignIn: ForeignIn },
): readonly Offer[] {
  const patient = demand.filter((group) => group.for === 'prebuilds' || group.for === 'stops');
  return [
    ...pools.flatMap((pool) => offersOfPool(pool, patient, snapshot)),
    ...snapshot.coder.organizations.flatMap((organization) => {
      const own = pools.filter(({ view }) => view.organization === organization);
      return offersOfOthers(organization, foreignIn(organization), { own, snapshot, demand });
    }),
  ];
}

function offersOfPool(
  launchLimits: PoolLaunchLimits,
  patient: readonly TagGroup[],
  snapshot: Snapshot,
): readonly Offer[] {
  const { view, capacity, forMin, beyond } = launchLimits;
  const { pool, tags: own, organization, tasks } = view;
  if (organization === undefined) return [];
  const bounds = boundsOf(launchLimits, patient);
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
  const free = tasks.filter((task) => mayTakeJobs(task) && (task.use === 'idle' || task.use === 'unknown'));
  const unsure = tasks.filter(({ state, use }) => state === 'working' && use === 'unsure');
  // daemons with the key of another pool will run jobs of their own tags
  const wrongKeyTasks = tasks.filter(
    ({ state, use, hasOtherTags }) =>
      state === 'working' && use !== 'silent' && use !== 'unsure' && hasOtherTags,
  );
  const isRefused = isRefusedLeases(view);
  const coming = tasks.filter((task) => isComing(task) && !(isRefused && task.state === 'starting'));
  const existing = [
    ...groupByTags(free).map(({ tags, count }) => offer('by-free', tags, count)),
    ...groupByTags(unsure).map(({ tags, count }) => ({ ...offer('by-free', tags, count), isUnsure: true })),
    ...(pool.peers === undefined ? [] : [offer('by-peer', own, Number.POSITIVE_INFINITY)]),
  ];
  // tasks that still start get a drain request at once
  if (pool.retiring) return existing;
  const launches = [
    offer('by-launch', own, forMin),
    offer('by-launch', own, beyond, price),
    offer('when-there-is-room', own, Number.POSITIVE_INFINITY, price),
  ];
  return [
    ...existing,
    offer('by-starting', own, capacity.missing + coming.length),
    ...busyOffers(launchLimits, endsOf(view, snapshot), offer),
    ...(launchesElsewhere(view) ? [] : launches),
    ...groupByTags(wrongKeyTasks).map(({ tags }) => offer('by-busy', tags, Number.POSITIVE_INFINITY)),
  ];
}

/**
 * Offers busy daemons to the audiences for which they are likely to be free in time. That is before
 * a new task would have a daemon, plus the waiting that costs as much as a launch.
 */
function busyOffers(
  { view: { pool, startTime } }: PoolLaunchLimits,
  running: readonly RunningBuild<Pick<TaskView, 'offers'>>[],
  offer: (served: Served, tags: TagSet, places: number) => Offer,
): readonly Offer[] {
  const start = launchCost(pool, startTime.p50Ms);
  const horizons = AUDIENCES.map((audience) => {
    const worthMs = waitingWorthMs(start, pool.waiting[PRICE_OF[audience]] / MINUTE_MS);
    return { audience, withinMs: startTime.p50Ms + worthMs };
  });
  const soon = running.flatMap(({ task, chanceToEnd }) => {
    const audiences = horizons
      .filter(({ withinMs }) => chanceToEnd(withinMs) >= MIN_CHANCE_TO_END)
      .map(({ audience }) => audience);
    return audiences.length === 0 ? [] : [{ offers: task.offers, audiences }];
  });
  return groupsBy(soon, ({ audiences }) => audiences.join(' ')).flatMap((alike) =>
    groupByTags(alike).map(({ tags, count }) => ({
      ...offer('by-busy', tags, count),
      audiences: new Set(alike[0].audiences),
    })),
  );
}

/** Jobs that can wait would take the stock's daemons, so they come first. */
function boundsOf(
  { view, capacity, isDoubtful, isPendingOnly, forMin, beyond, forPrebuilds }: PoolLaunchLimits,
  patient: readonly TagGroup[],
): Bounds {
  const { pool, tags, organization, tasks } = view;
  const canWait = patient.filter(
    (group) => group.organizationId === organization?.id && covers(tags, group.tags),
  );
  const waiting = sum(canWait, ({ jobs }) => jobs);
  const ready = tasks.filter(({ use }) => use === 'idle').length + capacity.starting;
  // tasks that this look launches for them are starting at the next look, which must decide alike
  const launched = sum(canWait, (group) =>
    Math.min(group.atOnce, forMin + (group.for === 'prebuilds' ? forPrebuilds : beyond)),
  );
  return {
    due: isPendingOnly ? 0 : pool.max,
    prebuilds: forPrebuilds,
    launchesStock: !isDoubtful && !isPendingOnly && waiting <= Math.max(ready, launched),
    price: priceOf(pool),
  };
}

/** Groups by the tags that each daemon offers; these can differ from its pool's tags. */
function groupByTags(
  items: readonly { readonly offers: TagSet }[],
): readonly { tags: TagSet; count: number }[] {
  return groupsBy(items, ({ offers }) => tagKey(offers)).map((alike) => ({
    tags: alike[0].offers,
    count: alike.length,
  }));
}

/** Daemons that the autoscaler does not own have no limits. */
const UNBOUNDED: Bounds = {
  due: Number.POSITIVE_INFINITY,
  prebuilds: 0,
  launchesStock: false,
  price: 0,
};

type OthersInput = {
  /** The pools of the organization. */
  readonly own: readonly PoolLaunchLimits[];
  readonly demand: readonly TagGroup[];
  readonly snapshot: Snapshot;
};

function offersOfOthers(
  organization: OrganizationReadings,
  foreign: readonly Daemon[],
  { own, demand, snapshot }: OthersInput,
): readonly Offer[] {
  if (foreign.length === 0) return [];
  const { takenAt } = snapshot;
  const handOver = handOverIn(organization, takenAt);
  const waiting = demand.filter(
    (group) =>
      group.organizationId === organization.id &&
      oldestOf(group) < takenAt - handOver(group.tags).handedOverMs,
  );
  const index = own[0]?.view.index ?? indexDaemons(organization, takenAt);
  const others = foreign.map((daemon) => {
    const offers = normalizeTags(daemon.tags);
    const isIdle = index.activity(daemon) === 'idle';
    const isRefusing = isIdle && waiting.some(({ tags }) => covers(offers, tags));
    const isDoubtful = isIdle && (isRefusing || mayHaveLeft(daemon, takenAt));
    return { daemon, offers, isDoubtful, isFree: isIdle && !isRefusing };
  });
  const offer = (served: Served, tags: TagSet, places: number): Offer => ({
    ...{ organizationId: organization.id, pool: null, price: 0, bounds: UNBOUNDED },
    ...{ served, tags, places },
  });
  const offersOf = (served: Served, daemons: readonly { readonly offers: TagSet }[], isNow: boolean) =>
    groupByTags(daemons).map(({ tags, count }) =>
      offer(served, tags, isNow ? count : Number.POSITIVE_INFINITY),
    );
  const [doubtful, sure] = partition(others, ({ isDoubtful }) => isDoubtful);
  const free = ({ isFree }: { readonly isFree: boolean }): boolean => isFree;
  const sharing = own.find(({ view }) => view.pool.peers !== undefined);
  return [
    ...offersOf('by-free', sure.filter(free), true),
    ...offersOf('by-doubtful', doubtful.filter(free), true),
    // daemons of peers will take jobs of this stack too when their builds end, as its own do
    ...(sharing === undefined ? [] : busyOffers(sharing, buildsOn(others, organization, snapshot), offer)),
    ...offersOf('by-busy', sure, false),
    ...offersOf('by-doubtful', doubtful, false),
  ];
}
