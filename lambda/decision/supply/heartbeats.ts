/**
 * Heartbeats that look old although the daemons may live: the clocks of coderd's replicas differ, or coderd fails to
 * write them (docs/internals/coder.md §2). A task with a lease whose daemon coderd has not seen for 90 s is `unsure`,
 * so that only jobs launch others:
 *
 * - late: for a minute more, the time until the next heartbeat. It concerns this task alone, and is no doubt.
 * - old: the doubt. At least two, and at least half, of an organization's daemons with a lease look so at once. It
 *   leaves out those that coderd has not seen for 15 minutes while it wrote the heartbeats of others.
 */
import { type EpochMs, isoTime } from '../model/brands.ts';
import type { Doubt, FindingOf } from '../model/plan.ts';
import type { Daemon, HeartbeatsSeen, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { covers, normalizeTags } from '../model/tags.ts';
import { HOUR_MS, MINUTE_MS } from '../model/units.ts';
import { HEARTBEAT_MS, isAlive, LATE_UNTIL_MS, STALE_AFTER_MS } from './daemons.ts';
import type { PoolView } from './supply.ts';
import type { TaskView } from './task-state.ts';

const LEFT_OUT_AFTER_MS = 15 * MINUTE_MS;
/** Once coderd writes heartbeats again, all have come within a minute. */
const REMEMBERED_MS = 3 * MINUTE_MS;
/** The heartbeats of a daemon that dies are late for a minute, and those of others not for some minutes after. */
const LASTS_MS = 3 * MINUTE_MS;
const LATE_AGAIN_WITHIN_MS = 15 * MINUTE_MS;
/** A free daemon that fits takes a job within 45 s (daemons.ts). */
const TAKEN_WITHIN_MS = MINUTE_MS;
/** Heartbeats that stopped less long ago do not tell since when they look old. */
const UNDATED_MS = 5 * MINUTE_MS;

export type JudgedHeartbeats = {
  readonly old: readonly FindingOf<'heartbeats-old'>[];
  readonly late: readonly FindingOf<'heartbeats-late'>[];
  /** For the next look. */
  readonly seen: HeartbeatsSeen | undefined;
};

/** A task with a lease, and for how long coderd has not seen its daemon. */
type Leased = { readonly view: PoolView; readonly task: TaskView; readonly unseenMs: number };

/** Judges the heartbeats of the daemons of one organization whose tasks hold leases. */
export function judgeHeartbeats(
  organization: OrganizationReadings,
  pools: readonly PoolView[],
  { takenAt: now, remembered }: Pick<Snapshot, 'takenAt' | 'remembered'>,
): JudgedHeartbeats {
  const { id: organizationId, name, daemons } = organization;
  const before = remembered?.heartbeats?.find((seen) => seen.organizationId === organizationId);
  if (daemons.status !== 'ok') return { old: [], late: [], seen: before };
  const leased = pools
    .filter((view) => view.organization === organization)
    .flatMap((view) => leasedIn(view, now));
  const unseen = leased.filter(isUnseen);
  const othersBeat = daemons.items.some((daemon) => isBeating(daemon, now));
  const areOld = lookOldTogether(
    leased.filter(({ unseenMs }) => !othersBeat || unseenMs <= LEFT_OUT_AFTER_MS),
  );
  const oldAt = areOld ? now : isWithin(REMEMBERED_MS, before?.oldAt, now) ? before?.oldAt : undefined;
  const numbers = { organization: name, daemons: leased.length, unseen: unseen.length };
  const old = oldAt !== undefined && unseen.some(isOverdue) ? oldFinding(numbers, unseen, now) : [];
  const late = unseen.filter((each) => !isOverdue(each)).length;
  const known = isWithin(LATE_AGAIN_WITHIN_MS, before?.late?.at, now) ? before?.late : undefined;
  const run = late > 0 ? { since: known?.since ?? now, at: now } : known;
  const lasting = run !== undefined && run.at - run.since >= LASTS_MS ? run : undefined;
  const times = lasting && { since: isoTime(lasting.since), until: isoTime(lasting.at) };
  const isTold = old.length === 0 && (times !== undefined || late > 1);
  return {
    old,
    late: isTold ? [{ code: 'heartbeats-late', ...numbers, times: times ?? null }] : [],
    seen: run === undefined && oldAt === undefined ? undefined : { organizationId, late: run, oldAt },
  };
}

/** coderd lists no row that is older than an hour: then a task has none that should have one. */
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

/** Whether coderd has lately written a heartbeat of this daemon, and not only its row. */
function isBeating(daemon: Daemon, now: EpochMs): boolean {
  return isAlive(daemon, now) && (daemon.last_seen_at ?? 0) - daemon.created_at >= HEARTBEAT_MS / 2;
}

/** With no row at all, a key was deleted, or the list is wrong (docs/adr/0004). */
function lookOldTogether(judged: readonly Leased[]): boolean {
  const unseen = judged.filter(isUnseen);
  const isHalf = unseen.length > 1 && 2 * unseen.length >= judged.length;
  return isHalf && unseen.some(isOverdue) && unseen.some(({ task }) => task.daemon !== undefined);
}

type Numbers = Pick<FindingOf<'heartbeats-old'>, 'organization' | 'daemons' | 'unseen'>;

function oldFinding(
  numbers: Numbers,
  unseen: readonly Leased[],
  now: EpochMs,
): readonly FindingOf<'heartbeats-old'>[] {
  const seenAt = unseen.flatMap(({ task }) => task.daemon?.last_seen_at ?? []);
  const byPool = [...Map.groupBy(unseen, ({ view }) => view)];
  const pools = byPool.flatMap(([view, own]) => (isDisproved(view, own, now) ? [] : [view.pool.name]));
  if (pools.length === 0 || seenAt.length === 0) return [];
  const [from, to] = [Math.min(...seenAt), Math.max(...seenAt)];
  return [{ code: 'heartbeats-old', ...numbers, pools, from: isoTime(from), to: isoTime(to) }];
}

/** Whether the daemons of a pool have most likely gone: they leave a job waiting, or new ones do not come either. */
function isDisproved({ failing, organization }: PoolView, unseen: readonly Leased[], now: EpochMs): boolean {
  const free = unseen.filter(({ task }) => task.use !== 'busy');
  const waiting = organization?.jobs.items.filter(
    ({ status, worker_id, created_at }) =>
      status === 'pending' && worker_id == null && now - created_at > TAKEN_WITHIN_MS,
  );
  const leavesAny = waiting?.some((job) =>
    free.some(({ task }) => covers(task.offers, normalizeTags(job.tags))),
  );
  return failing.isTripped || leavesAny === true;
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
export function mayLaunchOne({ tasks, starts }: PoolView, now: EpochMs): boolean {
  const unsure = tasks.filter(({ use }) => use === 'unsure');
  const oldSince = Math.min(...unsure.map(({ daemon }) => daemon?.last_seen_at ?? now - HOUR_MS));
  const since = now - oldSince < UNDATED_MS ? 0 : oldSince;
  return !starts.tasks.some(({ createdAt = now }) => createdAt > Math.max(since, now - HOUR_MS));
}
