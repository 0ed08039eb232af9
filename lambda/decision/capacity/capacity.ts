/** The numbers of one pool that every rule works with. All are tasks. */

import type { DaemonCounts } from '../model/plan.ts';
import type { OlderTasks } from '../supply/older-tasks.ts';
import type { PoolView } from '../supply/supply.ts';
import type { TaskView } from '../supply/task-state.ts';

export type Capacity = {
  /** Tasks that ECS runs or means to run and that have not been asked to leave. */
  readonly total: number;
  readonly working: number;
  readonly starting: number;
  readonly unguarded: number;
  /** Of the starting and unguarded ones: RUNNING, so that they may have a daemon, and without a lease. */
  readonly exposed: number;
  /** Asked to leave, draining by themselves, or about to be asked: their turn to be replaced has come. */
  readonly leaving: number;
  readonly left: number;
  /** Of those that have left: tasks that never had a daemon, as far as coderd knows. */
  readonly vacant: number;
  /** Desired and not there yet, as far as it is believed to come: counted as starting. */
  readonly missing: number;
  /** Of the total: those that hold a job, or might. */
  readonly inUse: number;
  /** Whether its starts keep failing or ECS cannot place its tasks, so that it gets one probe at a time. */
  readonly isHeldBack: boolean;
} & OlderTasks;

/**
 * Counts a pool's tasks. Unguarded tasks fill floors and bounds although they have no lease: if they did not,
 * a pool whose tasks never take one would grow by its floor at every look (docs/adr/0003).
 */
export function measure(view: PoolView): Capacity {
  const { tasks, unseen, olderTasks } = view;
  const count = (of: (task: TaskView) => boolean): number => tasks.filter(of).length;
  const working = count(({ state }) => state === 'working');
  const booting = count(({ state }) => state === 'starting');
  const missing = isHeldBack(view) ? 0 : view.missing;
  const unguarded = count(({ state }) => state === 'unguarded');
  const there = working + booting + unguarded + unseen;
  return {
    ...olderTasks,
    total: there + missing,
    working,
    starting: booting + missing,
    missing,
    isHeldBack: isHeldBack(view),
    unguarded,
    exposed: unguarded + count(({ state, task }) => state === 'starting' && task.lastStatus === 'RUNNING'),
    leaving: count(({ state }) => state === 'leaving' || state === 'replacing'),
    left: count(({ state }) => state === 'left'),
    vacant: count(({ state, daemon }) => state === 'left' && daemon === undefined),
    inUse: unseen + count((task) => isSupply(task) && (task.use === 'busy' || task.use === 'silent')),
  };
}

/** Whether what it desires and does not have is not expected to come. */
export function isHeldBack({ failing, placement }: Pick<PoolView, 'failing' | 'placement'>): boolean {
  return failing.isTripped || placement !== undefined;
}

/** Desired tasks that ECS cannot place. */
export function unplacedTasks({ missing, placement }: Pick<PoolView, 'missing' | 'placement'>): number {
  return placement === undefined ? 0 : missing;
}

/** Whether a task's daemon may be given jobs as far as we are concerned. */
export function isSupply({ state }: TaskView): boolean {
  return state === 'working' || state === 'unguarded';
}

/** The numbers as a person reads them: what daemons do, not what leases say. */
export function countDaemons(view: PoolView): DaemonCounts {
  const { tasks, failing } = view;
  const unplaced = unplacedTasks(view);
  const count = (of: (task: TaskView) => boolean): number => tasks.filter(of).length;
  const isWorking = ({ state }: TaskView): boolean => state === 'working' || state === 'replacing';
  return {
    busy: count((task) => isWorking(task) && task.use === 'busy'),
    idle: count((task) => isWorking(task) && task.use === 'idle'),
    starting: view.missing - unplaced + count((task) => task.state === 'starting' || isComing(task)),
    leaving: count(({ state }) => state === 'leaving'),
    left: count(({ state }) => state === 'left'),
    unguarded: count(({ state }) => state === 'unguarded'),
    failing: failing.recent + unplaced,
  };
}

/** No daemon yet, and one is expected. */
export function isComing(task: TaskView): boolean {
  return (task.state === 'starting' || isSupply(task)) && task.use === 'registering';
}
