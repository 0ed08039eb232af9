/**
 * Heartbeats that look old although the daemons may live: the clocks of coderd's replicas differ, or coderd fails to
 * write them (docs/internals/coder.md §2). A task with a lease whose daemon coderd has not seen for 90 s is `unsure`,
 * so that only jobs launch others:
 *
 * - late: for a minute more, the time until the next heartbeat. It concerns this task alone, and is no doubt.
 * - old: the doubt. At least two, and at least half, of an organization's daemons with a lease look so at once. It
 *   leaves out those that coderd had not seen for 15 minutes when it wrote a heartbeat of another one.
 */
import { type EpochMs, isoTime } from '../model/brands.ts';
import { unique } from '../model/collections.ts';
import type { Doubt, FindingOf } from '../model/plan.ts';
import type { Daemon, HeartbeatsSeen, Job, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { covers, normalizeTags, tagKey } from '../model/tags.ts';
import { HOUR_MS, MINUTE_MS } from '../model/units.ts';
import { HEARTBEAT_MS, isAlive, LATE_UNTIL_MS, STALE_AFTER_MS } from './rows/daemons.ts';
import type { PoolView } from './supply.ts';
import type { TaskView } from './task-state.ts';

const LEFT_OUT_AFTER_MS = 15 * MINUTE_MS;
/** coderd lists no daemon that it has not seen for longer (lambda/adapters/coderd/coderd.ts). */
const LISTED_MS = HOUR_MS;
/** Once coderd writes heartbeats again, all have come within a minute. */
const REMEMBERED_MS = 3 * MINUTE_MS;
/** The heartbeats of a daemon that dies are late for a minute only. */
const LASTS_MS = 2 * MINUTE_MS;
/** Clocks do not mend themselves: late heartbeats come again. */
const TOLD_FOR_MS = 15 * MINUTE_MS;
/** A free daemon that fits takes a job within 45 s (daemons.ts). */
const TAKEN_WITHIN_MS = MINUTE_MS;
/** Heartbeats that stopped less long ago do not tell since when they look old. */
const UNDATED_MS = 5 * MINUTE_MS;

export type JudgedHeartbeats = {
  readonly old: readonly FindingOf<'heartbeats-old'>[];
  readonly late: readonly FindingOf<'heartbeats-late'>[];
  /** For the next look. */
  readonly seen: HeartbeatsSeen;
};

/** A task with a lease, and for how long coderd has not seen its daemon. */
type Leased = { readonly view: PoolView; readonly task: TaskView; readonly unseenMs: number };
type Numbers = Pick<FindingOf<'heartbeats-old'>, 'organization' | 'daemons' | 'unseen'>;

/** Judges the heartbeats of the daemons of one organization whose tasks hold leases. */
export function judgeHeartbeats(
  organization: OrganizationReadings,
  pools: readonly PoolView[],
  { takenAt: now, remembered }: Pick<Snapshot, 'takenAt' | 'remembered'>,
): JudgedHeartbeats {
  const { id: organizationId, name, daemons } = organization;
  const before = remembered?.heartbeats?.find((seen) => seen.organizationId === organizationId);
  if (daemons.status !== 'ok') return { old: [], late: [], seen: before ?? { organizationId } };
  const leased = pools
    .filter((view) => view.organization === organization)
    .flatMap((view) => leasedIn(view, now));
  const unseen = leased.filter(isUnseen);
  const lastBeat = Math.max(...daemons.items.map((daemon) => lastBeatOf(daemon, now)));
  const judged = leased.filter(({ unseenMs }) => {
    const seenAt = now - Math.min(unseenMs, LISTED_MS);
    return lastBeat - seenAt <= LEFT_OUT_AFTER_MS;
  });
  const wereOld = isWithin(REMEMBERED_MS, before?.oldAt, now);
  const mayLackRows = wereOld || daemons.items.length > 0;
  const oldAt = lookOldTogether(judged, { mayLackRows, now }) ? now : wereOld ? before?.oldAt : undefined;
  const late = lateRun(before?.late, { isLate: unseen.some((each) => !isOverdue(each)), now });
  const numbers = { organization: name, daemons: leased.length, unseen: unseen.length };
  const old = oldAt !== undefined && unseen.some(isOverdue) ? oldFindings(numbers, unseen, now) : [];
  return {
    old,
    late: old.length > 0 ? [] : lateFindings(numbers, unseen, late),
    seen: { organizationId, late, oldAt },
  };
}

function leasedIn(view: PoolView, now: EpochMs): readonly Leased[] {
  return view.tasks.flatMap((task) => {
    const { state, use, daemon } = task;
    if (state !== 'working' || (daemon === undefined && use !== 'silent')) return [];
    return [{ view, task, unseenMs: now - (daemon?.last_seen_at ?? Number.NEGATIVE_INFINITY) }];
  });
}

const isUnseen = ({ unseenMs }: Leased): boolean => unseenMs > STALE_AFTER_MS;
const isOverdue = ({ unseenMs }: Leased): boolean => unseenMs > LATE_UNTIL_MS;

function isWithin(ms: number, at: EpochMs | undefined, now: EpochMs): boolean {
  return at !== undefined && at <= now && now - at <= ms;
}

/** When coderd last wrote heartbeats of this daemon, which may have gone since; not only its row. */
function lastBeatOf(daemon: Daemon, now: EpochMs): number {
  const { last_seen_at, created_at } = daemon;
  if (last_seen_at == null || last_seen_at - created_at < HEARTBEAT_MS / 2) return Number.NEGATIVE_INFINITY;
  return isAlive(daemon, now) ? now : last_seen_at;
}

/**
 * A task that has run for an hour may have no row, since coderd lists none that is older. Else its key was deleted. If
 * coderd lists no row at all, either may be (docs/adr/0004).
 */
function lookOldTogether(
  judged: readonly Leased[],
  { mayLackRows, now }: { readonly mayLackRows: boolean; readonly now: EpochMs },
): boolean {
  const unseen = judged.filter(isUnseen);
  const isHalf = unseen.length > 1 && 2 * unseen.length >= judged.length;
  const hadRow = ({ task: { daemon, task } }: Leased): boolean =>
    daemon !== undefined || (mayLackRows && now - (task.startedAt ?? now) > HOUR_MS);
  return isHalf && unseen.some(isOverdue) && unseen.some(hadRow);
}

function oldFindings(
  numbers: Numbers,
  unseen: readonly Leased[],
  now: EpochMs,
): readonly FindingOf<'heartbeats-old'>[] {
  const seenAt = unseen.flatMap(({ task }) => task.daemon?.last_seen_at ?? []);
  const byPool = [...Map.groupBy(unseen, ({ view }) => view)];
  const pools = byPool.flatMap(([view, own]) => (isDisproved(view, own, now) ? [] : [view.pool.name]));
  if (pools.length === 0) return [];
  const seen =
    seenAt.length === 0 ? null : { from: isoTime(Math.min(...seenAt)), to: isoTime(Math.max(...seenAt)) };
  return [{ code: 'heartbeats-old', ...numbers, pools, seen }];
}

type Run = NonNullable<HeartbeatsSeen['late']>;

const isLasting = ({ since, at }: Run): boolean => at - since >= LASTS_MS;

/** The looks that saw late heartbeats again and again, up to this one. */
function lateRun(
  before: Run | undefined,
  { isLate, now }: { readonly isLate: boolean; readonly now: EpochMs },
): Run | undefined {
  const keptMs = before !== undefined && isLasting(before) ? TOLD_FOR_MS : REMEMBERED_MS;
  const known = isWithin(keptMs, before?.at, now) ? before : undefined;
  return isLate ? { since: known?.since ?? now, at: now } : known;
}

/** Two at one look are no chance. */
function lateFindings(
  numbers: Numbers,
  unseen: readonly Leased[],
  late: Run | undefined,
): readonly FindingOf<'heartbeats-late'>[] {
  const code = 'heartbeats-late';
  if (late !== undefined && isLasting(late))
    return [{ code, ...numbers, times: { since: isoTime(late.since), until: isoTime(late.at) } }];
  const isMany = unseen.filter((each) => !isOverdue(each)).length > 1;
  return isMany ? [{ code, ...numbers, times: null }] : [];
}

/** Whether the daemons of a pool have most likely gone: they leave a job waiting, or new ones do not come either. */
function isDisproved({ failing, organization }: PoolView, unseen: readonly Leased[], now: EpochMs): boolean {
  if (failing.isTripped) return true;
  const free = unseen.flatMap(({ task }) => (task.use === 'busy' ? [] : [task.offers]));
  const offers = unique(free, tagKey);
  const isLeft = ({ status, worker_id, created_at, tags }: Job): boolean =>
    status === 'pending' &&
    worker_id == null &&
    now - created_at > TAKEN_WITHIN_MS &&
    offers.some((of) => covers(of, normalizeTags(tags)));
  return organization?.jobs.items.some(isLeft) === true;
}

/** Marks the tasks whose daemons may live although their heartbeats look old. */
export function withUnsure(
  views: readonly PoolView[],
  doubtsOf: (view: PoolView) => readonly Doubt[],
): readonly PoolView[] {
  const marked = (task: TaskView): TaskView =>
    task.state === 'working' && task.use === 'silent' ? { ...task, use: 'unsure' } : task;
  return views.map((view) =>
    doubtsOf(view).includes('heartbeats-old') ? { ...view, tasks: view.tasks.map(marked) } : view,
  );
}

/**
 * Whether a pool with unsure tasks may launch one for a floor, or to open coderd's gate: once an hour, by the tasks
 * that ECS lists. Those from before the heartbeats looked old do not count, if that is known. `now` is AWS's time.
 */
export function mayLaunchOne(view: PoolView, now: EpochMs): boolean {
  const oldMs = oldForMs(view, now);
  const withinMs = oldMs < UNDATED_MS ? HOUR_MS : Math.min(HOUR_MS, oldMs);
  return !view.starts.some(({ task }) => now - (task.createdAt ?? now) < withinMs);
}

/** Whether coderd has not seen a daemon of the pool for so long that its floor may have no daemon at all. */
export function isLongUnseen(view: PoolView, now: EpochMs): boolean {
  return oldForMs(view, now) >= LEFT_OUT_AFTER_MS;
}

/** For how long coderd has not seen the first of the daemons that look offline. */
function oldForMs({ tasks }: PoolView, now: EpochMs): number {
  const unsure = tasks.filter(({ use }) => use === 'unsure');
  return Math.max(0, ...unsure.map(({ daemon }) => now - (daemon?.last_seen_at ?? 0)));
}
