/**
 * Patience: how many of the jobs that wait are worth a daemon each, from the price of waiting and
 * the cost of a start. With n daemons, N jobs of s minutes wait N * s / 2n minutes each on average.
 * More daemons mean less waiting and more starts. The sum is least where n = N * sqrt(s * value /
 * (2 * start)).
 */
import type { EpochMs } from '../model/brands.ts';
import { by } from '../model/collections.ts';
import { covers } from '../model/tags.ts';
import { MINUTE_MS } from '../model/units.ts';
import { launchCost } from '../settings/prices.ts';
import type { PoolView } from '../supply/supply.ts';
import { oldestOf, PRICE_OF, type TagGroup } from './demand.ts';

/** The assumed duration of a job whose duration is unknown, in milliseconds. */
export const UNKNOWN_BUILD_MS = 120_000;
/** All must run before coderd fails them after 30 min (docs/internals/coder.md §5). In milliseconds. */
export const IN_TIME_MS = 25 * MINUTE_MS;
const MIN_REMAINING_MS = MINUTE_MS;

export type Backlog = {
  readonly jobs: number;
  /** The mean duration of one job, in milliseconds. Undefined: unknown. */
  readonly tookMs: number | undefined;
  /** How long the oldest job has waited, in milliseconds. */
  readonly waitedMs: number;
  /** The price of waiting of one job, in dollars a minute. */
  readonly value: number;
};

/** Sets how many of the jobs are worth a daemon each, in the pool that is cheapest to start. */
export function withPatience(
  groups: readonly TagGroup[],
  supply: readonly PoolView[],
  now: EpochMs,
): readonly TagGroup[] {
  const cheapestFirst = supply
    .map(({ pool, startTime, organization, tags }) => {
      const start = launchCost(pool, startTime.p50Ms);
      return { pool, start, organizationId: organization?.id, tags };
    })
    .toSorted(by('start'));
  const byOrganization = Map.groupBy(cheapestFirst, ({ organizationId }) => organizationId);
  return groups.map((group) => {
    const pools = byOrganization.get(group.organizationId);
    const cheapest = pools?.find(({ tags }) => covers(tags, group.tags));
    if (cheapest === undefined) return group;
    const value = cheapest.pool.waiting[PRICE_OF[group.for]];
    const waitedMs = now - oldestOf(group);
    return { ...group, atOnce: daemonsWorth({ ...group, waitedMs, value }, cheapest.start) };
  });
}

/** At least 1. `start`: the cost of starting and stopping a task, in dollars. */
export function daemonsWorth(
  { jobs, tookMs = UNKNOWN_BUILD_MS, waitedMs, value }: Backlog,
  start: number,
): number {
  const cheapest = start <= 0 ? jobs : jobs * Math.sqrt(((tookMs / MINUTE_MS) * value) / (2 * start));
  const inTime = (jobs * tookMs) / Math.max(MIN_REMAINING_MS, IN_TIME_MS - waitedMs);
  return Math.min(jobs, Math.max(1, Math.ceil(cheapest), Math.ceil(inTime)));
}
