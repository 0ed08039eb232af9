/** What is to be ready although no job asks for it yet: for jobs that coderd is about to insert, `warm`, and the stock. */

import type { DueGroup, WarmGroup } from '../demand/demand.ts';
import { deriveRecord } from '../demand/record.ts';
import { stayMs } from '../forecast/choose-pools-to-wake.ts';
import type { Transition } from '../forecast/transitions.ts';
import { fits, hasWrongKey, leadOf, type WakeDemand } from '../forecast/wake-demand.ts';
import type { EpochMs, OrganizationId } from '../model/brands.ts';
import type { Workspace } from '../model/snapshot.ts';
import { normalizeTags, type TagSet, tagKey } from '../model/tags.ts';
import type { PoolView } from '../supply/supply.ts';
import type { Room } from './launch-limits.ts';

/**
 * Starts that are due, as demand for daemons that are ready when coderd inserts the jobs; and those that are due so soon that it is
 * cheaper to keep an idle daemon than to launch another. The daemons have the tags of the jobs, which may differ from those that
 * open the gate. What is later than it may be is woken for, by one daemon: coderd had its reasons, or more will follow when the
 * jobs are there.
 */
export function deriveDue(
  calls: readonly WakeDemand[],
  views: readonly PoolView[],
  now: EpochMs,
): readonly DueGroup[] {
  return calls.flatMap(({ group, pools, ahead, wakeFor }) => {
    if (wakeFor !== 'autostart') return [];
    const since = now - Math.min(...pools.map(({ pool }) => pool.wake.maxDelayMs));
    const wanted = ahead.filter(({ takesJob, at }) => takesJob && at >= since);
    const { organizationId } = group;
    return [...Map.groupBy(wanted, ({ workspace }) => tagKey(startTags(workspace, group.tags))).values()]
      .flatMap((starts) => {
        const tags = startTags(starts[0]?.workspace, group.tags);
        const ready = views.filter((view) => fits(view, { organizationId, tags }) && getsReady(view));
        return ready.length === 0 ? [] : dueGroups({ organizationId, tags, starts, ready }, now);
      })
      .filter(({ jobs }) => jobs > 0);
  });
}

/** The tags of the job of a workspace's next start: those of its latest build, unless the start takes another version. */
function startTags(workspace: Workspace | undefined, activeTags: TagSet): TagSet {
  const { automatic_updates, template_require_active_version, outdated, latest_build } = workspace ?? {};
  const takesActive = automatic_updates === 'always' || template_require_active_version === true;
  if (takesActive && outdated !== false) return activeTags;
  const tags = latest_build?.job.tags;
  return tags == null ? activeTags : normalizeTags(tags);
}

function getsReady(view: PoolView): boolean {
  const { pool, service } = view;
  if (service === undefined || pool.retiring || !pool.wake.autostart) return false;
  return pool.prewarm.max > 0 && pool.waiting.autostart > 0 && !hasWrongKey(view);
}

type Starts = {
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
  /** The earliest first. */
  readonly starts: readonly Transition[];
  readonly ready: readonly PoolView[];
};

function dueGroups({ organizationId, tags, starts, ready }: Starts, now: EpochMs): readonly DueGroup[] {
  const within = (msOf: (view: PoolView) => number): number =>
    atTheSameTime(starts, now + Math.max(...ready.map(msOf)), ready, tags);
  const due = within(leadOf);
  const later = within((view) => stayMs(view, 'autostart')) - due;
  const group = { organizationId, tags, pools: new Set(ready.map(({ pool }) => pool.name)) };
  return [
    { for: 'due', ...group, jobs: due },
    { for: 'later', ...group, jobs: later },
  ];
}

const MINUTE_MS = 60_000;

/**
 * How many daemons the starts until a time need: those of one minute at once, and those that are not done by then.
 * @param starts the earliest first
 */
function atTheSameTime(
  starts: readonly Transition[],
  until: number,
  [view]: readonly PoolView[],
  tags: TagSet,
): number {
  const job = { type: 'workspace_build', tags, metadata: { workspace_build_transition: 'start' } };
  const durations = view?.organization === undefined ? [] : deriveRecord(view.organization).durationsOf(job);
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
export function deriveWarmth({ pools }: Room): readonly WarmGroup[] {
  return pools.flatMap(({ view: { pool, tags, organization }, outlook: { floors }, isPendingOnly }) =>
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
