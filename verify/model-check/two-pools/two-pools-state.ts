/** The state of two pools under one `maxTasks`, in small values, packed into one whole number. */
import { ExplorationError } from '../world/exploration-error.ts';

/**
 * What is in one slot of a pool. `asked`: idle, with a drain request; `finishing`: with a drain
 * request and a job.
 */
export type SlotState = (typeof SLOT_STATES)[number];

const SLOT_STATES = ['none', 'pending', 'booting', 'idle', 'busy', 'asked', 'finishing', 'left'] as const;

export type SmallPool = {
  /** Sorted in the order of `SLOT_STATES`: tasks are interchangeable. */
  readonly slots: readonly SlotState[];
  readonly desired: number;
  /** Number of the pool's own pending jobs. */
  readonly pending: number;
  /** Whether ECS said that it cannot place a task, and has started none since. */
  readonly isUnplaced: boolean;
};

export type TwoPools = readonly SmallPool[];

const PROTECTED: ReadonlySet<SlotState> = new Set(['idle', 'busy', 'asked', 'finishing']);

/** Whether ECS may stop the task: it has no lease yet, or its lease is gone. */
export function isFree(state: SlotState): boolean {
  return state !== 'none' && !PROTECTED.has(state);
}

/** Number of tasks in a pool. */
export function tasksIn({ slots }: Pick<SmallPool, 'slots'>): number {
  return slots.filter((state) => state !== 'none').length;
}

/** The pool with another state in one slot. */
export function withSlot(pool: SmallPool, slot: number, state: SlotState): SmallPool {
  return { ...pool, slots: pool.slots.with(slot, state) };
}

/**
 * The pools whose jobs the daemons of a pool can run. The second pool can run jobs of the first.
 */
export function servedBy(pool: number): readonly number[] {
  return pool === 0 ? [0] : [0, 1];
}

/** The pools with one pending job less in pool `from`. */
export function withoutJob(pools: TwoPools, from: number): TwoPools {
  return pools.map((pool, at) => (at === from ? { ...pool, pending: pool.pending - 1 } : pool));
}

/** Counts and numbers of pending jobs must be below this. */
const BASE = 8;

/** Packs states into whole numbers and back. */
export class TwoPoolsCodes {
  readonly initial: number;
  readonly #slots: number;

  /** @param slots for tasks in each pool */
  constructor(slots: number) {
    this.#slots = slots;
    const empty = { slots: Array<SlotState>(slots).fill('none'), desired: 0, pending: 0, isUnplaced: false };
    this.initial = this.pack([empty, empty]);
  }

  pack(pools: TwoPools): number {
    let code = 0;
    for (const { slots, desired, pending, isUnplaced } of pools) {
      if (desired >= BASE || pending >= BASE)
        throw new ExplorationError(
          `packing a state: desired ${desired} and pending ${pending} must be below ${BASE}; choose a smaller bound`,
        );
      code = ((code * BASE + desired) * BASE + pending) * 2 + (isUnplaced ? 1 : 0);
      const ids = slots.map((state) => SLOT_STATES.indexOf(state)).sort();
      for (const id of ids) code = code * SLOT_STATES.length + id;
    }
    return code;
  }

  unpack(code: number): TwoPools {
    let rest = code;
    const digit = (base: number): number => {
      const value = rest % base;
      rest = (rest - value) / base;
      return value;
    };
    const pool = (): SmallPool => {
      const slots = Array.from(
        { length: this.#slots },
        () => SLOT_STATES[digit(SLOT_STATES.length)] ?? 'none',
      );
      const isUnplaced = digit(2) === 1;
      const pending = digit(BASE);
      return { slots: slots.reverse(), isUnplaced, pending, desired: digit(BASE) };
    };
    const [second, first] = [pool(), pool()];
    return [first, second];
  }
}

/** A text for traces. */
export function describePools(pools: TwoPools, names: readonly string[]): string {
  return pools
    .map(({ slots, desired, pending, isUnplaced }, at) => {
      const tasks = slots.filter((state) => state !== 'none').map((state) => `[${state}]`);
      const parts = [`${names[at]}: desired ${desired}`, ...tasks];
      if (pending > 0) parts.push(`${pending} pending job(s)`);
      if (isUnplaced) parts.push('a task that ECS could not place');
      return parts.join(' ');
    })
    .join(' | ');
}
