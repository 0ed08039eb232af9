/** The state of a pool, packed into one whole number. */
import { ExplorationError, Interned, remembered } from './interned.ts';
import { ASK, describeTask, keyOf, type ModelTask } from './task.ts';

export type PoolBound = {
  readonly tasks: number;
  readonly jobs: number;
};

export type PoolState = {
  /** Numbers of the tasks in `kinds`; 0: the slot is free. */
  readonly ids: number[];
  desired: number;
  pending: number;
  isDeploying: boolean;
  /** Whether ECS said that it cannot place a task, and has started none since. */
  isUnplaced: boolean;
  /** Number of the list of looks in progress; 0: no look. */
  looksId: number;
};

/** How far a desired count may exceed the slots: leaving tasks come on top of the wanted ones. */
const BEYOND = 3;
const KINDS = 512;
export const NO_TASK = 0;

/** Packs states of one bound into whole numbers and back. */
export class PoolCodes {
  readonly bound: PoolBound;
  readonly kinds: Interned<ModelTask | undefined>;
  /** The number of a task after a drain request. */
  readonly asked = remembered((id) => {
    const task = this.kinds.at(id);
    return task === undefined ? NO_TASK : this.kinds.idOf({ ...task, protection: ASK });
  });
  readonly #base: number;

  /** @param most number of different states of one task */
  constructor(bound: PoolBound, most = KINDS) {
    this.bound = bound;
    this.#base = most;
    this.kinds = new Interned(keyOf, most);
    this.kinds.idOf(undefined);
  }

  /** A state without tasks, to write into. */
  empty(): PoolState {
    const ids = new Array<number>(this.bound.tasks).fill(NO_TASK);
    return { ids, desired: 0, pending: 0, isDeploying: false, isUnplaced: false, looksId: 0 };
  }

  pack({ ids, desired, pending, isDeploying, isUnplaced, looksId }: PoolState): number {
    const { tasks, jobs } = this.bound;
    if (desired > tasks + BEYOND)
      throw new ExplorationError(
        `packing a state: desired ${desired} is more than ${BEYOND} above the ${tasks} slots; choose a smaller bound`,
      );
    let code = (looksId * (tasks + BEYOND + 1) + desired) * (jobs + 1) + pending;
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
    into.looksId = rest;
  }

  tasksOf(state: PoolState): readonly (ModelTask | undefined)[] {
    return state.ids.map((id) => this.kinds.at(id));
  }

  describe(state: PoolState): string {
    const tasks = this.tasksOf(state).map((task) => `[${describeTask(task)}]`);
    const parts = [`desired ${state.desired}`, ...tasks];
    if (state.pending > 0) parts.push(`${state.pending} pending job(s)`);
    if (state.isDeploying) parts.push('deploying');
    if (state.isUnplaced) parts.push('a task that ECS could not place');
    return parts.join(' ');
  }
}

export function copyInto(from: PoolState, to: PoolState): void {
  for (let slot = 0; slot < from.ids.length; slot++) to.ids[slot] = from.ids[slot] ?? NO_TASK;
  to.desired = from.desired;
  to.pending = from.pending;
  to.isDeploying = from.isDeploying;
  to.isUnplaced = from.isUnplaced;
  to.looksId = from.looksId;
}

/** Sorts the slots of a state in place: their order makes no difference. */
export function sortSlots(ids: number[]): void {
  for (let i = 1; i < ids.length; i++) {
    const id = ids[i] ?? NO_TASK;
    let slot = i;
    for (; slot > 0 && (ids[slot - 1] ?? NO_TASK) > id; slot--) ids[slot] = ids[slot - 1] ?? NO_TASK;
    ids[slot] = id;
  }
}
