/**
 * Rolling: tasks that are to be replaced, those of old revisions and those that are of no use, a share of the pool at a
 * time. One whose turn it is counts as gone, so that what is wanted in its place is launched first; it is asked to leave once that is
 * there. Nothing is remembered: when it was asked is told by the lease itself (docs/adr/0009).
 */

import { isComing, unplacedTasks } from '../capacity/capacity.ts';
import type { EpochMs } from '../model/brands.ts';
import { by } from '../model/collections.ts';
import { REPLACING, type Replacing } from '../model/plan.ts';
import { isOldRevision } from '../supply/older-tasks.ts';
import type { PoolView } from '../supply/supply.ts';
import { drainedMs, isBooting, isGuarded, type TaskView } from '../supply/task-state.ts';

/** Whom was asked less long ago keeps others from being asked: shares come a minute apart. */
const SHARE_EVERY_MS = 60_000;
/** A task that runs for longer without a lease may not get one before old ones leave (docs/aws.md §1, DEPLOYMENT_BLOCKED). */
const LEASE_LATE_MS = 2 * 60_000;
/** A daemon that loses its connection is back within seconds (docs/coder.md §5); after this long it is not waited for. */
const SILENT_FOR_MS = 5 * 60_000;

/** Why a task is to be replaced; undefined for one that is as it should be. */
export function replacementReason(
  { service, pool }: Pick<PoolView, 'service' | 'pool'>,
  view: TaskView,
  now: EpochMs,
): Replacing | undefined {
  if (view.state !== 'working' && view.state !== 'replacing') return undefined;
  if (pool.retiring) return 'retiring';
  if (isOfNoUse(view, now)) return 'no-daemon';
  // a new task with a wrong key is soon one more of them: each gets its quarter of an hour
  if (view.hasOtherTags && !isBooting(view.task, now)) return 'wrong-key';
  return service !== undefined && isOldRevision(view.task, service) ? 'old-revision' : undefined;
}

/** Marks the tasks whose turn it is, at least one: their state becomes `replacing`. */
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
  // nothing comes in their place, so that nothing is waited for
  if (pool.retiring) return working;
  // what replaces them can't start: better an old revision than none. But new ones may get no lease before old ones leave
  if (failing.isTripped && !failing.lacksLease) return [];
  const share = Math.max(1, Math.ceil((working.length * atOncePercent) / 100));
  return working
    .flatMap((task) => {
      const why = replacementReason(view, task, now);
      return why === undefined ? [] : [{ task, why }];
    })
    .toSorted(
      by(
        ({ why }) => REPLACING.indexOf(why),
        ({ task }) => (task.use === 'busy' ? 1 : 0),
        ({ task }) => task.idleSince ?? Number.POSITIVE_INFINITY,
        ({ task }) => task.task.taskArn,
      ),
    )
    .slice(0, Math.max(0, share - unsettled(view, now)))
    .map(({ task }) => task);
}

/**
 * Tasks that are about to come or have just been asked: the share before this one. Those that ECS cannot place do not count: the same
 * tasks are then marked at each look, and stay until what is wanted in their place has come.
 */
function unsettled(view: PoolView, now: EpochMs): number {
  const { tasks, failing } = view;
  // those that come get no lease, and others after them, before old ones leave
  if (failing.lacksLease) return tasks.filter(isJustAsked).length;
  const coming = view.missing - unplacedTasks(view);
  return coming + tasks.filter((task) => isYetToCome(task, now) || isJustAsked(task)).length;
}

function isYetToCome(view: TaskView, now: EpochMs): boolean {
  const { state, task } = view;
  if (state !== 'starting') return isComing(view);
  return task.lastStatus !== 'RUNNING' || now - (task.startedAt ?? now) < LEASE_LATE_MS;
}

function isJustAsked(task: TaskView): boolean {
  return (drainedMs(task) ?? Number.POSITIVE_INFINITY) < SHARE_EVERY_MS;
}

/** A lease is held, and nobody there works, or has for long: a zombie that coderd refused, a daemon that died without an exit. */
function isOfNoUse({ use, task, daemon }: TaskView, now: EpochMs): boolean {
  return use === 'silent' && !isBooting(task, now) && now - (daemon?.last_seen_at ?? 0) > SILENT_FOR_MS;
}
