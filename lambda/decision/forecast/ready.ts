/** Demand for daemons before their jobs exist: for what is due and for `warm`. */
import type { DueGroup, WarmGroup } from '../demand/demand.ts';
import { deriveRecord } from '../demand/record.ts';
import type { Transition } from '../demand/transitions.ts';
import type { EpochMs, OrganizationId } from '../model/brands.ts';
import { groupsBy, percentile } from '../model/collections.ts';
import type { Doubt } from '../model/plan.ts';
import type { Workspace } from '../model/snapshot.ts';
import { normalizeTags, type TagSet, tagKey } from '../model/tags.ts';
import { MINUTE_MS } from '../model/units.ts';
import { launchesForJobsOnly } from '../supply/doubts.ts';
import type { PoolView } from '../supply/supply.ts';
import type { SharedPool } from '../turns/share.ts';
import { stayMs } from './choose-pools-to-wake.ts';
import type { PoolForecasts } from './pool-forecast.ts';
import { fits, hasWrongKey, leadOf, MOST_DELAY_MS, type WakeDemand } from './wake-demand.ts';

/**
 * Derives the demand of autostarts that are due: daemons that are ready when coderd inserts the
 * jobs. For autostarts that are due soon, it is cheaper to keep an idle daemon than to launch one
 * later. The daemons need the tags of the jobs, which may differ from the tags that open the gate.
 * Autostarts later than `MOST_DELAY_MS` only wake one daemon: coderd may have a reason to skip them, or
 * their jobs will cause launches.
 */
export function deriveDue(
  demands: readonly WakeDemand[],
  views: readonly SharedPool[],
  now: EpochMs,
): readonly DueGroup[] {
  return demands.flatMap(({ group, ahead, wakeFor }) => {
    if (wakeFor !== 'autostart') return [];
    const since = now - MOST_DELAY_MS;
    const wanted = ahead.filter(({ takesJob, at }) => takesJob && at >= since);
    const { organizationId } = group;
    return groupsBy(wanted, ({ workspace }) => tagKey(startTags(workspace, group.tags)))
      .flatMap((starts) => {
        const tags = startTags(starts[0].workspace, group.tags);
        const prewarming = views.filter((view) => fits(view, { organizationId, tags }) && canPrewarm(view));
        return prewarming.length === 0 ? [] : dueGroups({ organizationId, tags, starts, prewarming }, now);
      })
      .filter(({ jobs }) => jobs > 0);
  });
}

/** The tags of the latest build, unless the next start uses another version. */
function startTags(workspace: Workspace, activeTags: TagSet): TagSet {
  const { automatic_updates, template_require_active_version, outdated, latest_build } = workspace;
  const takesActive = automatic_updates === 'always' || template_require_active_version === true;
  if (takesActive && outdated !== false) return activeTags;
  const tags = latest_build.job.tags;
  return tags == null ? activeTags : normalizeTags(tags);
}

function canPrewarm(view: PoolView): boolean {
  const { pool, service } = view;
  if (service === undefined || !pool.wake) return false;
  return pool.waiting.autostart > 0 && !hasWrongKey(view);
}

type Starts = {
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
  /** The autostarts, the earliest first. */
  readonly starts: readonly Transition[];
  readonly prewarming: readonly PoolView[];
};

function dueGroups({ organizationId, tags, starts, prewarming }: Starts, now: EpochMs): readonly DueGroup[] {
  const within = (msOf: (view: PoolView) => number): number =>
    mostAtOnce(starts, now + Math.max(...prewarming.map(msOf)), prewarming, tags);
  const due = within(leadOf);
  const later = within((view) => stayMs(view, 'autostart')) - due;
  const group = { organizationId, tags, pools: new Set(prewarming.map(({ pool }) => pool.name)) };
  return [
    { for: 'due', ...group, jobs: due },
    { for: 'later', ...group, jobs: later },
  ];
}

/** Starts of one minute at once, plus those that still run. `starts`: the earliest first. */
function mostAtOnce(
  starts: readonly Transition[],
  until: number,
  [view]: readonly PoolView[],
  tags: TagSet,
): number {
  const job = { type: 'workspace_build', tags, metadata: { workspace_build_transition: 'start' } };
  const durations = view?.organization === undefined ? [] : deriveRecord(view.organization).durationsOf(job);
  const p90Ms = percentile(durations, 0.9, Number.POSITIVE_INFINITY);
  // coderd inserts all jobs of one minute at once
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

/** Derives the demand of `warm`, which only daemons of the same pool can serve. */
export function deriveWarmth(
  { poolForecasts }: Pick<PoolForecasts, 'poolForecasts'>,
  doubtsOf: (view: PoolView) => readonly Doubt[],
): readonly WarmGroup[] {
  return [...poolForecasts].flatMap(([view, { floors }]) => {
    const { pool, tags, organization } = view;
    if (floors.warm === 0 || organization === undefined || launchesForJobsOnly(doubtsOf(view))) return [];
    return [{ for: 'warm', organizationId: organization.id, tags, pool: pool.name, jobs: floors.warm }];
  });
}
