/**
 * Launches of a pool whose starts a look cannot judge, because it could not read all lists about them. No
 * failed start is seen then, and that proves nothing. So such a look launches no more than the last look
 * that read everything, and a few tasks at most until their daemons register. Everything else stays as it
 * is: doubts hold scale-in.
 */
import { type EpochMs, poolOfPart } from '../../model/brands.ts';
import type { KnownStarts, PoolMemory } from '../../model/snapshot.ts';
import { MINUTE_MS } from '../../model/units.ts';
import { type Capacity, isHeldBack, isSupply } from '../capacity.ts';
import { FAILURES_TO_TRIP } from '../starts.ts';
import type { PoolView } from '../supply.ts';
import { isBooting } from '../task-state.ts';

/** While nothing tells whether starts fail, one more task may start after each such time. */
const ONE_MORE_MS = 10 * MINUTE_MS;
/** Other processes of the function may have looked since: what this one knew before counts no longer. */
const FRESH_MS = 3 * MINUTE_MS;

/** The pool as this look leaves it to the next one. `tasks`: those that count against the limits. */
export function rememberPool(
  view: PoolView,
  tasks: number,
  before: PoolMemory | undefined,
  now: EpochMs,
): PoolMemory {
  const { name: pool } = view.pool;
  if (view.areStartsKnown) {
    const known = { at: now, tasks, registered: countRegistered(view), mayStart: mayStart(view) };
    return { pool, known };
  }
  return { pool, known: before?.known, unreadSince: before?.unreadSince ?? now };
}

/** How many tasks a look launches at most that cannot judge the starts of a pool. Infinite: it can. */
export function roomWhileUnread(
  view: PoolView,
  { total }: Capacity,
  { known, unreadSince }: PoolMemory,
  now: EpochMs,
): number {
  if (unreadSince === undefined) return Number.POSITIVE_INFINITY;
  const fresh = known !== undefined && unreadSince - known.at <= FRESH_MS ? known : undefined;
  const outstanding = Math.max(0, total - registeredNow(view, fresh, now));
  const more = Math.floor(Math.max(0, now - unreadSince) / ONE_MORE_MS);
  // a process that has just started tries one: its next look may read everything
  const few = now > unreadSince ? FAILURES_TO_TRIP : 1;
  return Math.max(0, (fresh?.mayStart ?? few) + more - outstanding);
}

/** How many tasks without a daemon a pool may have while its starts fail, or have not been tried. */
function mayStart(view: PoolView): number {
  const { isPaused, neverRan } = view.failing;
  if (isHeldBack(view)) return isPaused ? 0 : 1;
  return Math.max(0, FAILURES_TO_TRIP - neverRan);
}

function countRegistered({ tasks }: PoolView): number {
  return tasks.filter((task) => isSupply(task) && task.daemon !== undefined).length;
}

/** A task that runs is no success: its daemon may end again and again. */
function registeredNow(view: PoolView, known: KnownStarts | undefined, now: EpochMs): number {
  const { organization, index, service, tasks, areTasksKnown, pool } = view;
  const listed = tasks.filter(({ task }) => task.lastStatus === 'RUNNING');
  const running = areTasksKnown ? listed.length : (service?.runningCount ?? 0);
  if (organization?.daemons.status === 'ok') {
    if (areTasksKnown) return countRegistered(view);
    const named = index?.namedAfter(poolOfPart(pool.name)) ?? [];
    const live = named.filter((daemon) => index?.activity(daemon) !== 'offline').length;
    // the count against the limits lacks tasks that leave, and so must this
    const leaving = tasks.filter((task) => task.daemon !== undefined && !isSupply(task)).length;
    return Math.max(0, Math.min(running, live) - leaving);
  }
  if (known === undefined) return listed.filter(({ task }) => !isBooting(task, now)).length;
  return Math.min(running, known.registered);
}
