/** The capacity of one pool, counted from its tasks. All numbers are tasks. */
import type { DaemonCounts, Doubt } from '../model/plan.ts';
import type { Service } from '../model/snapshot.ts';
import { countOlder, isOldRevision, type OlderTasks } from './older-tasks.ts';
import { FAILURES_TO_TRIP } from './starts.ts';
import type { PoolView } from './supply.ts';
import { hasJustLeft, isLeaving, type TaskView } from './task-state.ts';

export type Capacity = {
  /** Tasks that ECS runs or will run, without those that drain or have left. */
  readonly total: number;
  readonly working: number;
  readonly starting: number;
  readonly unguarded: number;
  /** Idle ones among them, which have most likely just left. Launches do not wait for coderd to see it. */
  readonly justLeft: number;
  /** Starting and unguarded tasks that are RUNNING without a lease, so they may have a daemon. */
  readonly exposed: number;
  /** Tasks that drain, and those whose turn to be replaced has come. */
  readonly leaving: number;
  /** The tasks among them whose turn to be replaced has come. */
  readonly replacing: number;
  readonly left: number;
  /** Tasks among those that have left that never had a daemon, as far as coderd knows. */
  readonly vacant: number;
  /** Desired tasks that do not exist yet and are expected to come. They also count as starting. */
  readonly missing: number;
  /** Tasks of `total` that hold a job, or may hold one. */
  readonly inUse: number;
  /** Tasks of `total` that should have a daemon by now. They serve no job. */
  readonly late: number;
  /** Launches until a start succeeds. Infinite unless the last starts failed, or nothing tells yet that one can. */
  readonly few: number;
  /** Starts keep failing: tasks that start hold no lower count. ECS may stop one before its guard has a lease. */
  readonly isFailing: boolean;
  /** Starts keep failing, or ECS cannot place tasks: only one probe at a time. */
  readonly isHeldBack: boolean;
} & OlderTasks;

/**
 * Counts a pool's tasks. Unguarded tasks count for floors and limits although they have no lease.
 * Otherwise a pool whose tasks never take a lease would grow by its floor at every look
 * (docs/adr/0003).
 */
export function measure(view: PoolView): Capacity {
  const { tasks, unseen, service } = view;
  const count = (of: (task: TaskView) => boolean): number => tasks.filter(of).length;
  const working = count(({ state }) => state === 'working');
  const starting = count(({ state }) => state === 'starting');
  const booting = isRefusedLeases(view) ? Math.min(starting, view.failing.isShutOut ? 0 : 1) : starting;
  const missing = isHeldBack(view) ? 0 : view.missing;
  const unguarded = count(({ state }) => state === 'unguarded');
  const replacing = count(({ state }) => state === 'replacing');
  const isFailing = view.failing.keepsEnding;
  const existing = working + booting + unguarded + unseen;
  return {
    ...(service === undefined ? NO_OLDER_TASKS : countOlder(tasks, service)),
    total: existing + missing,
    working,
    starting: booting + missing,
    missing,
    isHeldBack: isHeldBack(view),
    unguarded,
    justLeft: count(hasJustLeft),
    exposed: unguarded + count((task) => isExposed(view, task)),
    leaving: replacing + count(({ state }) => state === 'leaving'),
    replacing,
    left: count(({ state }) => state === 'left'),
    vacant: count(({ state, daemon }) => state === 'left' && daemon === undefined),
    inUse:
      unseen +
      count((task) => isSupply(task) && (task.use === 'busy' || task.use === 'silent' || task.isLate)),
    late: count(({ isLate, state }) => isLate && state !== 'left'),
    isFailing,
    few: fewLaunches(view, booting + missing),
  };
}

const NO_OLDER_TASKS: OlderTasks = { older: 0, uncounted: 0 };

/** Counts the listed tasks that have not stopped, those that ECS is stopping too. */
export function countListed({ starts }: PoolView): number {
  return starts.filter(({ task }) => task.lastStatus !== 'STOPPED').length;
}

/**
 * A pool whose new role is untried launches one task. One whose last starts failed launches few tasks until one
 * succeeds: if many fail together, ECS waits for minutes before it starts another (docs/internals/aws.md §2).
 */
function fewLaunches(view: PoolView, starting: number): number {
  const { neverRan } = view.failing;
  if (view.isRoleUntried) return starting > 0 ? 0 : 1;
  if (neverRan === 0 || isHeldBack(view)) return Number.POSITIVE_INFINITY;
  return Math.max(0, FAILURES_TO_TRIP - neverRan - starting);
}

/**
 * Whether ECS refuses leases to new tasks: their guards end without one. It may do so until no task
 * of an earlier deployment holds a lease (docs/internals/aws.md §1, DEPLOYMENT_BLOCKED). Then only
 * one task goes on trying, and starting tasks serve no jobs.
 */
export function isRefusedLeases({ failing }: Pick<PoolView, 'failing'>): boolean {
  return failing.isTripped && failing.lacksLease;
}

/**
 * Whether a starting task may get a daemon that ECS could stop. Not where starts keep failing, nor while
 * leases are refused and the task has waited for its own: a guard starts no daemon without one. An old task
 * may have no guard.
 */
function isExposed(view: PoolView, { state, task, shouldHaveLease }: TaskView): boolean {
  if (state !== 'starting' || task.lastStatus !== 'RUNNING') return false;
  const waits = view.failing.keepsEnding || (isRefusedLeases(view) && shouldHaveLease);
  return !waits || view.service === undefined || isOldRevision(task, view.service);
}

/** Whether the pool's missing tasks are not expected to come. */
export function isHeldBack({ failing, placement }: Pick<PoolView, 'failing' | 'placement'>): boolean {
  return failing.isTripped || placement !== undefined;
}

/**
 * Whether a task of the pool may get a drain request now. A daemon that has just left reads idle
 * for up to 90 s, and its task has no lease in that time. Until coderd shows that it is gone, no
 * other task gets a request; otherwise the pool could fall below its floor.
 */
export function mayDrain({ unguarded }: Capacity, isDoubtful: boolean): boolean {
  return !isDoubtful && unguarded === 0;
}

/** Whether another part of the pool launches: then the pool scales out although this part cannot. */
export function launchesElsewhere({ share }: Pick<PoolView, 'share'>): boolean {
  return share?.isLaunching === false;
}

/** The number of desired tasks that ECS cannot place. */
export function unplacedTasks({ missing, placement }: Pick<PoolView, 'missing' | 'placement'>): number {
  return placement === undefined ? 0 : missing;
}

/** Whether the autoscaler expects a task's daemon to take jobs. */
export function isSupply({ state }: TaskView): boolean {
  return state === 'working' || state === 'unguarded';
}

/** Counts the daemons of a pool by what they do, as shown to people. */
export function countDaemons(view: PoolView): DaemonCounts {
  const { tasks, failing, organization } = view;
  const isRead = organization?.daemons.status === 'ok';
  const unplaced = unplacedTasks(view);
  const count = (of: (task: TaskView) => boolean): number => tasks.filter(of).length;
  const isWorking = ({ state }: TaskView): boolean => state === 'working' || state === 'replacing';
  const isUnknown = (task: TaskView): boolean =>
    isWorking(task) &&
    (task.use === 'unknown' || task.use === 'unsure' || (!isRead && task.use === 'registering'));
  const unknown = count(isUnknown);
  return {
    busy: count((task) => isWorking(task) && task.use === 'busy'),
    idle: count((task) => isWorking(task) && task.use === 'idle'),
    starting:
      view.missing -
      unplaced +
      count((task) => (task.state === 'starting' && !task.isLate) || (isComing(task) && !isUnknown(task))),
    leaving: count(isLeaving),
    left: count(({ state }) => state === 'left'),
    unguarded: count((task) => task.state === 'unguarded' && !isLeaving(task)),
    failing: failing.recent + (launchesElsewhere(view) ? 0 : unplaced),
    ...(unknown > 0 && { unknown }),
  };
}

/** Whether a task has no daemon yet and one is expected soon. */
export function isComing(task: TaskView): boolean {
  return (task.state === 'starting' || isSupply(task)) && task.use === 'registering' && !task.isLate;
}

/**
 * Whether tasks that ECS cannot start are given up. A task that runs without a lease holds that:
 * ECS may start a missing task before the count is lowered, and then stop the running one.
 */
export function mayGiveUp(capacity: Capacity, doubts: readonly Doubt[]): boolean {
  return capacity.isHeldBack && capacity.exposed === 0 && capacity.uncounted === 0 && doubts.length === 0;
}

export type Rollout = { readonly service: Service; readonly capacity: Capacity };

/** Whether a deployment is in progress, or tasks of an earlier one are still there. */
export function isDeploying({ service: { deployments }, capacity }: Rollout): boolean {
  if (deployments.length > 1 || capacity.older > 0) return true;
  return deployments.some(({ rolloutState }) => rolloutState === 'IN_PROGRESS');
}

/** What the launches of a pool depend on. */
export type RoomToLaunch = Rollout & {
  /** The pool's `max`, in tasks. */
  readonly max: number;
  readonly doubts: readonly Doubt[];
};

/**
 * How many tasks that have not left a pool has at most: `max`, beside those that have just left. At most
 * as many again: a pool whose tasks never get a lease must not grow without end (docs/adr/0003).
 */
export function mostTasks(max: number, { justLeft }: Pick<Capacity, 'justLeft'>): number {
  return max + Math.min(max, justLeft);
}

/**
 * How many tasks the count launches at most: offers promise no more, and the count grants no more.
 * Tasks that never had a daemon are given up first, and count against `max` while they may not go.
 * Otherwise a pool whose tasks never get a daemon would grow without end (docs/adr/0003).
 */
export function roomToLaunch({ service, capacity, max, doubts }: RoomToLaunch): number {
  const { total, leaving, starting, unguarded, vacant, uncounted } = capacity;
  if (doubts.includes('server-too-old') || doubts.includes('license-missing')) return 0;
  const isHeld = doubts.length > 0 || isDeploying({ service, capacity }) || starting + unguarded > 0;
  const isGivingUp = vacant > 0 && !isHeld && service.desiredCount + uncounted >= total + leaving;
  return isGivingUp ? 0 : Math.max(0, mostTasks(max, capacity) - total - vacant);
}

/**
 * The most tasks, draining ones included, up to which prebuilds launch: four fifths of `max`. Their
 * backlog fills that, and people need the rest. A part of a pool has what the others leave.
 */
export function mostForPrebuilds({ configured, share }: Pick<PoolView, 'configured' | 'share'>): number {
  return Math.max(0, Math.max(1, Math.floor((configured.max * 4) / 5)) - (share?.elsewhere ?? 0));
}
