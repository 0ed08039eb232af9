/** What is to be ready although no job asks for it yet: for jobs that coderd is about to insert, `warm`, and the stock. */
import type { EpochMs } from './brands.ts';
import type { DueGroup, StockGroup, WarmGroup } from './demand.ts';
import { stayMs } from './gates.ts';
import { type Call, hasWrongKey, leadOf } from './lookout.ts';
import { readRecord } from './record.ts';
import type { Room } from './room.ts';
import type { PoolSight } from './supply.ts';
import type { Transition } from './transitions.ts';

/**
 * Starts that are due, as demand for daemons that are ready when coderd inserts the jobs; and those that are due so soon that it is
 * cheaper to keep an idle daemon than to launch another. What is later than it may be is woken for, by one daemon: coderd
 * had its reasons, or more will follow when the jobs are there.
 */
export function readDue(calls: readonly Call[], now: EpochMs): readonly DueGroup[] {
  return calls.flatMap(({ group: { organizationId, tags }, pools, ahead, wakeFor }) => {
    const ready = pools.filter(
      (sight) => sight.pool.prewarm.max > 0 && sight.pool.waiting.autostart > 0 && !hasWrongKey(sight),
    );
    if (wakeFor !== 'autostart' || ready.length === 0) return [];
    const since = now - Math.min(...pools.map(({ pool }) => pool.wake.maxDelayMs));
    const wanted = ahead.filter(({ takesJob, at }) => takesJob && at >= since);
    const within = (msOf: (sight: PoolSight) => number): number =>
      atTheSameTime(wanted, now + Math.max(...ready.map(msOf)), ready, tags);
    const due = within(leadOf);
    const later = within((sight) => stayMs(sight, 'autostart')) - due;
    const group = { organizationId, tags, pools: new Set(ready.map(({ pool }) => pool.name)) };
    return [
      { for: 'due', ...group, jobs: due } as const,
      { for: 'later', ...group, jobs: later } as const,
    ].filter(({ jobs }) => jobs > 0);
  });
}

const MINUTE_MS = 60_000;

/**
 * How many daemons the starts until a time need: those of one minute at once, and those that are not done by then.
 * @param starts the earliest first
 */
function atTheSameTime(
  starts: readonly Transition[],
  until: number,
  [sight]: readonly PoolSight[],
  tags: StockGroup['tagSets'][number],
): number {
  const job = { type: 'workspace_build', tags, metadata: { workspace_build_transition: 'start' } };
  const durations = sight?.organization === undefined ? [] : readRecord(sight.organization).durationsOf(job);
  const p90Ms = durations[Math.ceil(durations.length * 0.9) - 1] ?? Number.POSITIVE_INFINITY;
  // coderd inserts what is due in one minute at once
  const tookMs = Math.max(MINUTE_MS, p90Ms);
  const inTime = starts.filter(({ at }) => at <= until);
  let most = 0;
  let first = 0;
  for (const [index, { at }] of inTime.entries()) {
    while ((inTime[first]?.at ?? at) <= at - tookMs) first++;
    most = Math.max(most, index + 1 - first);
  }
  return most;
}

/** What each pool is to keep free, as demand that only its own daemons can serve. */
export function readWarmth({ pools }: Room): readonly WarmGroup[] {
  return pools.flatMap(({ sight: { pool, tags, organization }, outlook: { floors }, isPendingOnly }) =>
    floors.warm === 0 || organization === undefined || isPendingOnly
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
