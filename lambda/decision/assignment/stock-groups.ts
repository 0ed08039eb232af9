/**
 * The stock as demand: the worth of each free daemon for every set of pools that can run the same
 * builds, from the record and the prices.
 */
import { arrivalRate } from '../demand/arrival-rate.ts';
import type { StockGroup } from '../demand/demand.ts';
import { type Arrivals, deriveRecord } from '../demand/record.ts';
import { endsOf } from '../demand/running.ts';
import { stockValues } from '../demand/stock.ts';
import type { EpochMs } from '../model/brands.ts';
import { by, meanOf, sum } from '../model/collections.ts';
import type { OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { covers, tagKey } from '../model/tags.ts';
import { launchCost } from '../settings/patience.ts';
import { priceOf } from '../settings/prices.ts';
import type { PoolView } from '../supply/supply.ts';
import type { LaunchLimits, PoolLaunchLimits } from './launch-limits.ts';

/**
 * The mean time until a look decides a launch: half a minute when nothing happens, else a few
 * seconds. The longer one is used.
 */
const UNTIL_LOOK_MS = 30_000;

const MINUTE_MS = 60_000;
/** The longest time in which a launch must pay off. */
const LONGEST_MS = 30 * MINUTE_MS;

/**
 * Derives the stock of every set of pools that can run the same builds. The demand of these builds
 * is added up, so no daemon is kept twice.
 */
export function deriveStock({ pools }: LaunchLimits, snapshot: Snapshot): readonly StockGroup[] {
  const groups = snapshot.coder.organizations.flatMap((organization) => {
    const own = pools.filter(({ view }) => view.organization === organization);
    if (own.length === 0) return [];
    const arrivals = [...deriveRecord(organization).arrivals.values()].map(({ tags }) => ({
      tags,
      fitting: own.filter(({ view }) => covers(view.tags, tags)),
    }));
    const byPools = Map.groupBy(arrivals, ({ fitting }) =>
      fitting.map(({ view }) => view.pool.name).join(' '),
    );
    return [...byPools.values()].flatMap((alike) => stockOf(alike, organization, snapshot.takenAt));
  });
  return groups.toSorted(MOST_VALUABLE_FIRST);
}

/**
 * Under a limit the first group gets the room, so the order must not depend on the order of the
 * record.
 */
const MOST_VALUABLE_FIRST = by<StockGroup>(
  ({ values: [first = 0] }) => -first,
  ({ organizationId }) => organizationId,
  ({ pools }) => [...pools].join(' '),
  ({ tagSets }) => tagSets.map(tagKey).toSorted().join(' '),
);

/** The builds of one tag set, and the pools that can run them. */
type Fitting = Pick<Arrivals, 'tags'> & { readonly fitting: readonly PoolLaunchLimits[] };

function stockOf(
  alike: readonly Fitting[],
  organization: OrganizationReadings,
  now: EpochMs,
): readonly StockGroup[] {
  const fitting = alike[0]?.fitting ?? [];
  // a `warm` that is a number replaces the stock
  if (fitting.some(({ poolForecast: { floors } }) => floors.warm > 0)) return [];
  const pools = fitting.map(({ view }) => view).filter(keepsStock);
  if (pools.length === 0) return [];
  const { together, durationsOf } = deriveRecord(organization);
  const keys = alike.map(({ tags }) => tagKey(tags));
  const rate = arrivalRate(together(keys), now);
  if (rate.perMinute === 0) return [];
  const startMs = Math.min(...pools.map(({ startTime }) => startTime.p50Ms)) + UNTIL_LOOK_MS;
  const person = Math.max(...pools.map(({ pool }) => pool.waiting.person));
  const start = Math.min(...pools.map(({ pool, startTime }) => launchCost(pool, startTime.p50Ms)));
  const paysMs = Math.min(LONGEST_MS, (start / (person * rate.perMinute * startMs)) * MINUTE_MS ** 2);
  const most = sum(pools, ({ pool }) => pool.max);
  const values = stockValues({
    rate,
    ...{ startMs, person },
    takenMs: meanUpTo(
      startMs,
      alike.flatMap(({ tags }) => durationsOf({ type: 'workspace_build', tags })),
    ),
    ends: fitting
      .flatMap(({ view }) => endsOf(view, now))
      .filter(({ job }) => keys.includes(tagKey(job.tags)))
      .map(({ chanceToEnd }) => chanceToEnd(startMs + paysMs)),
    free: sum(fitting, ({ view }) => freeOf(view)),
    price: Math.min(...pools.map(({ pool }) => priceOf(pool))),
    start,
    // one more than the room, because the plan tells what it would save
    most: most + 1,
  });
  if (values.length === 0) return [];
  return [
    {
      for: 'stock',
      organizationId: organization.id,
      pools: new Set(pools.map(({ pool }) => pool.name)),
      tagSets: alike.map(({ tags }) => tags),
      jobs: Math.min(most, values.length),
      ...{ values, replaceMs: startMs, person, perMinute: rate.perMinute },
    },
  ];
}

/** The mean of the durations, each counted up to `ms`. `ms` if no duration is known. */
function meanUpTo(ms: number, durations: readonly number[]): number {
  return durations.length === 0 ? ms : meanOf(durations.map((duration) => Math.min(ms, duration)));
}

function freeOf({ tasks }: PoolView): number {
  return tasks.filter(({ state, use }) => state === 'working' && use === 'idle').length;
}

function keepsStock({ pool, service }: PoolView): boolean {
  return pool.warm === 'auto' && !pool.retiring && pool.max > 0 && service !== undefined;
}
