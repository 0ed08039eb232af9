/** The numbers of one pool that every rule works with. All are tasks. */
import type { DaemonCounts } from './plan.ts';
import type { PoolSight, TaskSight } from './supply.ts';

export type Capacity = {
  /** Tasks that ECS runs or means to run and that have not been asked to leave. */
  readonly total: number;
  readonly working: number;
  readonly starting: number;
  readonly unguarded: number;
  readonly leaving: number;
  readonly left: number;
  /** Of the total: those that hold a job, or might. */
  readonly inUse: number;
};

/**
 * Counts a pool's tasks. Unguarded tasks fill floors and bounds although they have no lease: if they did not,
 * a pool whose tasks never take one would grow by its floor at every look (docs/adr/0003).
 */
export function measure({ tasks, missing }: PoolSight): Capacity {
  const count = (of: (task: TaskSight) => boolean): number => tasks.filter(of).length;
  const working = count(({ state }) => state === 'working');
  const starting = count(({ state }) => state === 'starting') + missing;
  const unguarded = count(({ state }) => state === 'unguarded');
  return {
    total: working + starting + unguarded,
    working,
    starting,
    unguarded,
    leaving: count(({ state }) => state === 'leaving'),
    left: count(({ state }) => state === 'left'),
    inUse: count((task) => isSupply(task) && (task.use === 'busy' || task.use === 'silent')),
  };
}

/** Whether a task's daemon may be given jobs as far as we are concerned. */
export function isSupply({ state }: TaskSight): boolean {
  return state === 'working' || state === 'unguarded';
}

/** The numbers as a person reads them: what daemons do, not what leases say. */
export function countDaemons(sight: PoolSight): DaemonCounts {
  const { tasks, missing, failing } = sight;
  const count = (of: (task: TaskSight) => boolean): number => tasks.filter(of).length;
  const capacity = measure(sight);
  return {
    busy: count((task) => isSupply(task) && task.use === 'busy'),
    idle: count((task) => isSupply(task) && task.use === 'idle'),
    starting: missing + count((task) => isComing(task)),
    leaving: capacity.leaving,
    left: capacity.left,
    unguarded: capacity.unguarded,
    failing,
  };
}

/** No daemon yet, and one is expected. */
export function isComing(task: TaskSight): boolean {
  return task.state === 'starting' || (isSupply(task) && task.use === 'registering');
}
