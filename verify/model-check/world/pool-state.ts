/** A pool in the explorations: its tasks in their places, the count, the deployment, the jobs that wait; as one whole number. */
import { Interned } from './interned.ts';
import { describeTask, keyOf, type TaskState } from './task.ts';

export type PoolBound = {
  /** Places for tasks. */
  readonly tasks: number;
  readonly jobs: number;
};

export type PoolState = {
  /** Numbers of the tasks in `kinds`; 0: the place is free. */
  readonly ids: number[];
  desired: number;
  /** Jobs that no daemon has yet. */
  pending: number;
  isDeploying: boolean;
  /** ECS said that it cannot place a task, and has started none since. */
  isUnplaced: boolean;
  /** Number of what the autoscaler's looks are about to do; 0: nothing. */
  mind: number;
};

/** Counts that may be asked for beyond the places: tasks that are leaving come on top of those that are wanted. */
const BEYOND = 3;
const KINDS = 512;
export const NOBODY = 0;

/** States of one bound, to and from whole numbers. */
export class PoolCodes {
  readonly bound: PoolBound;
  readonly kinds: Interned<TaskState | undefined>;
  readonly #base: number;

  /** @param most different states of one task that there may be */
  constructor(bound: PoolBound, most = KINDS) {
    this.bound = bound;
    this.#base = most;
    this.kinds = new Interned(keyOf, most);
    this.kinds.idOf(undefined);
  }

  /** A state to be written into. */
  empty(): PoolState {
    const ids = new Array<number>(this.bound.tasks).fill(NOBODY);
    return { ids, desired: 0, pending: 0, isDeploying: false, isUnplaced: false, mind: 0 };
  }

  pack({ ids, desired, pending, isDeploying, isUnplaced, mind }: PoolState): number {
    const { tasks, jobs } = this.bound;
    if (desired > tasks + BEYOND)
      throw new Error(`exploring: a count of ${desired} for ${tasks} places is more than was thought of`);
    let code = (mind * (tasks + BEYOND + 1) + desired) * (jobs + 1) + pending;
    code = code * 2 + (isDeploying ? 1 : 0);
    code = code * 2 + (isUnplaced ? 1 : 0);
    for (const id of ids) code = code * this.#base + id;
    return code;
  }

  unpack(code: number, into: PoolState): void {
    const { tasks, jobs } = this.bound;
    let rest = code;
    const digit = (base: number): number => {
      const value = rest % base;
      rest = (rest - value) / base;
      return value;
    };
    for (let slot = tasks - 1; slot >= 0; slot--) into.ids[slot] = digit(this.#base);
    into.isUnplaced = digit(2) === 1;
    into.isDeploying = digit(2) === 1;
    into.pending = digit(jobs + 1);
    into.desired = digit(tasks + BEYOND + 1);
    into.mind = rest;
  }

  taskAt(state: PoolState, slot: number): TaskState | undefined {
    return this.kinds.at(state.ids[slot] ?? NOBODY);
  }

  tasksOf(state: PoolState): readonly (TaskState | undefined)[] {
    return state.ids.map((id) => this.kinds.at(id));
  }

  describe(state: PoolState): string {
    const tasks = this.tasksOf(state).map((task) => `[${describeTask(task)}]`);
    const parts = [`desired ${state.desired}`, ...tasks];
    if (state.pending > 0) parts.push(`${state.pending} job(s) waiting`);
    if (state.isDeploying) parts.push('deploying');
    if (state.isUnplaced) parts.push('a task that ECS could not place');
    return parts.join(' ');
  }
}

/** Copies a state into another. */
export function copyInto(from: PoolState, to: PoolState): void {
  for (let slot = 0; slot < from.ids.length; slot++) to.ids[slot] = from.ids[slot] ?? NOBODY;
  to.desired = from.desired;
  to.pending = from.pending;
  to.isDeploying = from.isDeploying;
  to.isUnplaced = from.isUnplaced;
  to.mind = from.mind;
}
