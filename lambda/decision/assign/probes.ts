/**
 * The tasks that launch for no job, so that a daemon may end a contradiction: coderd lists no daemon of an
 * organization, and tasks hold leases (docs/adr/0004). If coderd had refused their daemons, these never dial again
 * (docs/internals/coder.md §5), and without a build nothing would show that the cause is mended. Each key gets one
 * task an hour, by the tasks that ECS lists.
 */
import { type EpochMs, poolOfPart } from '../model/brands.ts';
import { groupsBy, ownValue } from '../model/collections.ts';
import { type Doubt, mismatchKey } from '../model/plan.ts';
import type { Remembered } from '../model/snapshot.ts';
import { MINUTE_MS } from '../model/units.ts';
import { isPaused } from '../settings/settings-in-force.ts';
import { launchesElsewhere } from '../supply/capacity.ts';
import { mayLaunchOne } from '../supply/heartbeats.ts';
import type { PoolView } from '../supply/supply.ts';

/** A list that is wrong for a moment launches nothing. A process that has just started waits for so long again. */
const LASTS_MS = 5 * MINUTE_MS;

type Known = {
  readonly doubtsOf: (view: PoolView) => readonly Doubt[];
  /** AWS's time. */
  readonly now: EpochMs;
  /** Since when looks see a mismatch, in coderd's time. Undefined: nothing is remembered, as a person asks once. */
  readonly mismatches: Remembered['mismatches'] | undefined;
  /** coderd's time. */
  readonly takenAt: EpochMs;
};

/** Derives the pools that launch such a task now, within their limits. */
export function probesIn(
  views: readonly PoolView[],
  { doubtsOf, now, mismatches, takenAt }: Known,
): ReadonlySet<PoolView> {
  const lasts = ({ organization }: PoolView): boolean => {
    if (mismatches === undefined) return true;
    const key = mismatchKey('daemons-empty-while-leased', organization?.name ?? '');
    return takenAt - (ownValue(mismatches, key) ?? takenAt) >= LASTS_MS;
  };
  const held = views.filter((view) => isOnlyUnlisted(doubtsOf(view)) && lasts(view));
  const probes = groupsBy(held, keyOf).flatMap((sharing) => {
    const isTried = sharing.some((view) => view.missing > 0 || !mayLaunchOne(view, now));
    return isTried ? [] : (sharing.find(mayProbe) ?? []);
  });
  return new Set(probes);
}

/** A list that is unread is another doubt, and gives no probe. */
function isOnlyUnlisted(doubts: readonly Doubt[]): boolean {
  return doubts.length > 0 && doubts.every((doubt) => doubt === 'daemons-empty-while-leased');
}

/** The launch for a build may have gone one above `max` already (turns/rolling.ts), and it may be in vain too. */
const ABOVE_MAX = 2;

/** Only a pool with such tasks. The first part of a pool that launches, by name. */
function mayProbe(view: PoolView): boolean {
  const { pool, overrides, tasks, service } = view;
  if (service === undefined || pool.retiring || isPaused(overrides) || launchesElsewhere(view)) return false;
  if (tasks.length >= pool.max + ABOVE_MAX) return false;
  return tasks.some(({ state, use }) => (state === 'working' || state === 'replacing') && use === 'silent');
}

/** Of a managed key, which each pool has for itself: the pool. */
function keyOf({ pool, organization }: PoolView): string {
  const { auth, name } = pool;
  return `${organization?.id} ${auth.kind === 'managed' ? poolOfPart(name) : JSON.stringify(auth.secret)}`;
}
