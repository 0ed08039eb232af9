/**
 * Chooses the tasks to replace, one share of the pool at a time: tasks of old revisions, tasks with
 * an earlier value of a secret, and tasks without a working daemon. A task whose turn has come no
 * longer counts as supply, so its replacement launches first. Then it gets the drain request. The
 * lease itself shows when that was, so nothing is remembered (docs/adr/0009).
 */
import type { Brand, EpochMs } from '../model/brands.ts';
import { by, partition } from '../model/collections.ts';
import type { Config } from '../model/config.ts';
import { type Doubt, REPLACING, type Replacing } from '../model/plan.ts';
import { MINUTE_MS } from '../model/units.ts';
import { isComing, unplacedTasks } from '../supply/capacity.ts';
import { isProven, outdatedCredential, unprovenPsk } from '../supply/credentials.ts';
import { isOldRevision } from '../supply/older-tasks.ts';
import type { PoolView } from '../supply/supply.ts';
import { drainedMs, isBooting, isGuarded, type TaskView } from '../supply/task-state.ts';

/** A drain request younger than this delays the next share. */
const SHARE_EVERY_MS = MINUTE_MS;
/** The time that one task with an earlier secret has to leave before the next one drains. */
const TRIAL_MS = 30 * MINUTE_MS;
/** A lost connection is back within seconds (docs/internals/coder.md §5). Wait at most this. */
const SILENT_FOR_MS = 5 * MINUTE_MS;
/** An old build that has run for so long may hold a deployment open for hours. */
const LONG_BUILD_MS = 10 * MINUTE_MS;

/** Why a task has to be replaced; undefined if it has not. */
export function replacementReason(pool: PoolView, view: TaskView, now: EpochMs): Replacing | undefined {
  if (view.state !== 'working' && view.state !== 'replacing') return undefined;
  if (pool.pool.retiring) return 'retiring';
  if (hasNoWorkingDaemon(view, now)) return 'no-daemon';
  // its replacement may get the wrong key too: keep each task for the 15 minutes of a start
  if (view.hasOtherTags && !isBooting(view.task, now)) return 'wrong-key';
  if (pool.service !== undefined && isOldRevision(view.task, pool.service)) return 'old-revision';
  return hasOldSecret(pool, view) ? 'old-secret' : undefined;
}

/** Until coderd has a new pre-shared key, replacements could not connect. */
function hasOldSecret(pool: PoolView, view: TaskView): boolean {
  return outdatedCredential(pool, view) !== undefined && unprovenPsk(pool) === undefined;
}

/** A pool in which the tasks whose turn has come are marked. Only `markTurns` makes one. */
export type TurnedPool = Brand<PoolView, 'TurnedPool'>;

/** Marks the tasks of all pools whose turn has come. */
export function markTurns(
  supply: readonly PoolView[],
  doubtsOf: (view: PoolView) => readonly Doubt[],
  { roll, now }: Pick<Config, 'roll'> & { readonly now: EpochMs },
): readonly TurnedPool[] {
  return supply.map((view) => {
    const percent = shareToReplace(doubtsOf(view), roll.atOncePercent);
    return (percent === undefined ? view : markReplaced(view, percent, now)) as TurnedPool;
  });
}

/**
 * The share of a pool that may be replaced now, in percent; undefined: none. If coderd lists no
 * daemon although tasks hold leases, the share is 0. Then no task gets a drain request, but one
 * counts as gone, so one more launches. If its daemon registers, the other tasks have none.
 */
function shareToReplace(doubts: readonly Doubt[], atOncePercent: number): number | undefined {
  if (doubts.length === 0) return atOncePercent;
  return doubts.every((doubt) => doubt === 'daemons-empty-while-leased') ? 0 : undefined;
}

/** Sets the state of those tasks to `replacing`. `atOncePercent` 0 still marks one. */
export function markReplaced(view: PoolView, atOncePercent: number, now: EpochMs): PoolView {
  const turn = new Set(takeTurns(view, atOncePercent, now));
  if (turn.size === 0) return view;
  return {
    ...view,
    tasks: view.tasks.map((task) => (turn.has(task) ? { ...task, state: 'replacing' as const } : task)),
  };
}

function takeTurns(view: PoolView, atOncePercent: number, now: EpochMs): readonly TaskView[] {
  const { service, failing, pool } = view;
  if (service === undefined) return [];
  const working = view.tasks.filter((task) => task.state === 'working' && isGuarded(task));
  // a retiring pool launches no replacements, so there is nothing to wait for
  if (pool.retiring) return working;
  // replacements cannot start, so keep the old revision. But new tasks may get no lease before old
  // tasks leave
  if (failing.isTripped && !failing.lacksLease) return [];
  const due = working.flatMap((task) => {
    const why = replacementReason(view, task, now);
    return why === undefined || isStillUseful(view, { task, why }, now) ? [] : [{ task, why }];
  });
  // without a share, as many count as gone as it takes to launch one, up to twice `max` in all
  const aboveMax = atOncePercent > 0 ? 0 : Math.min(pool.max, working.length - pool.max + 1);
  const percent = Math.max(1, aboveMax, Math.ceil((working.length * atOncePercent) / 100));
  // one task launches first, so no more may leave for it, unless it waits for old tasks to leave
  const full = aboveMax === 0 && !failing.lacksLease && view.isRoleUntried ? 1 : percent;
  // these serve no job, so all go at once
  const [refused, rest] = partition(due, ({ task }) => task.isRefused);
  const [trials, others] = partition(rest, (item) => isTrial(view, item));
  // what has another cause goes first: it may be a task that got a wrong value
  const [turns, share] = others.length === 0 ? [trials, trialShare(view)] : [others, full];
  const inTurn = turns
    .toSorted(
      by(
        ({ why }) => REPLACING.indexOf(why),
        ({ task }) => (task.use === 'busy' ? 1 : 0),
        ({ task }) => task.idleSince ?? Number.POSITIVE_INFINITY,
        ({ task }) => task.task.taskArn,
      ),
    )
    .slice(0, Math.max(0, share - unsettled(view, now)));
  return [...refused, ...inTurn].map(({ task }) => task);
}

type Due = { readonly task: TaskView; readonly why: Replacing };

/**
 * Whether an old task may serve more jobs: new tasks get no lease, and old builds hold the deployment open
 * without it too. An idle one takes one more; while a build has run for long, all go on.
 */
function isStillUseful(view: PoolView, { task, why }: Due, now: EpochMs): boolean {
  const { service, tasks } = view;
  if (why !== 'old-revision' || !view.failing.isShutOut || service === undefined) return false;
  const isHolding = ({ use, daemon }: TaskView): boolean =>
    use === 'busy' && (task.use === 'idle' || now - startOf(view, daemon, now) >= LONG_BUILD_MS);
  return tasks.some((other) => isOldRevision(other.task, service) && isHolding(other));
}

function startOf({ organization }: PoolView, daemon: TaskView['daemon'], now: EpochMs): EpochMs {
  const id = daemon?.current_job?.id;
  return organization?.jobs.items.find((job) => job.id === id)?.started_at ?? now;
}

/** With no daemon on the new value yet, it may be wrong: one such task at a time. */
function isTrial(view: PoolView, { task, why }: Due): boolean {
  const credential = why === 'old-secret' ? outdatedCredential(view, task) : undefined;
  return credential !== undefined && !isProven(view, credential);
}

/** None until the last has left or drains for long, or while its replacement has a wrong key. */
function trialShare(view: PoolView): number {
  const blocks = (task: TaskView): boolean =>
    outdatedCredential(view, task) === undefined
      ? task.state === 'working' && task.hasOtherTags
      : (drainedMs(task) ?? Number.POSITIVE_INFINITY) < TRIAL_MS;
  return view.tasks.some(blocks) ? 0 : 1;
}

/**
 * The share before this one: tasks that are still to come, and tasks with a new drain request.
 * Tasks that ECS cannot place do not count. Then each look marks the same tasks again, and they
 * stay until their replacements have come.
 */
function unsettled(view: PoolView, now: EpochMs): number {
  const { failing } = view;
  const tasks = view.tasks.filter((task) => replacementReason(view, task, now) !== 'no-daemon');
  // new tasks get no lease before old tasks leave, so do not wait for them
  if (failing.lacksLease) return tasks.filter(isJustAsked).length;
  const coming = view.missing - unplacedTasks(view);
  return coming + tasks.filter((task) => isYetToCome(task) || isJustAsked(task)).length;
}

function isYetToCome(view: TaskView): boolean {
  const { state, task } = view;
  if (state !== 'starting') return isComing(view) || view.isLate;
  return task.lastStatus !== 'RUNNING' || !view.shouldHaveLease;
}

function isJustAsked(task: TaskView): boolean {
  return (drainedMs(task) ?? Number.POSITIVE_INFINITY) < SHARE_EVERY_MS;
}

/** coderd refused its daemon, or it died without an exit, while the task holds a lease. */
function hasNoWorkingDaemon(
  { use, task, daemon, isLate, isRefused, isOvertaken }: TaskView,
  now: EpochMs,
): boolean {
  if (isRefused || (isLate && isOvertaken)) return true;
  return use === 'silent' && !isBooting(task, now) && now - (daemon?.last_seen_at ?? 0) > SILENT_FOR_MS;
}
