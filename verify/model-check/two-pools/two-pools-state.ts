/** The state of two pools under one `maxTasks`, in small values. */
import type { DaemonView, EcsTaskView } from '../deciders/view.ts';
import { NO_DAEMON } from '../deciders/view.ts';
import { Interned } from '../world/interned.ts';

/**
 * What is in one slot of a pool. `asked`: idle, with a drain request; `finishing`: with a drain
 * request and a job.
 */
export type SlotState = 'none' | 'pending' | 'booting' | 'idle' | 'busy' | 'asked' | 'finishing' | 'left';

type Slot = {
  /** What a look sees of it. */
  readonly task: EcsTaskView | undefined;
  readonly daemon: DaemonView;
  /** After a drain request. */
  readonly asked: SlotState;
  /** When guards and daemons have done what takes minutes and jobs have ended. */
  readonly calm: SlotState;
};

const task = (protection: EcsTaskView['protection'], isRunning = true, isYoung = false): EcsTaskView => ({
  revision: 'new',
  isRunning,
  protection,
  isYoung,
});
const daemon = (hasJob: boolean): DaemonView => ({ row: 'live', hasJob });

export const SLOTS: Readonly<Record<SlotState, Slot>> = {
  none: { task: undefined, daemon: NO_DAEMON, asked: 'none', calm: 'none' },
  pending: { task: task('none', false), daemon: NO_DAEMON, asked: 'pending', calm: 'idle' },
  booting: { task: task('none', true, true), daemon: NO_DAEMON, asked: 'booting', calm: 'idle' },
  idle: { task: task('lease'), daemon: daemon(false), asked: 'asked', calm: 'idle' },
  busy: { task: task('lease'), daemon: daemon(true), asked: 'finishing', calm: 'idle' },
  asked: { task: task('ask'), daemon: daemon(false), asked: 'asked', calm: 'left' },
  finishing: { task: task('ask'), daemon: daemon(true), asked: 'finishing', calm: 'left' },
  left: { task: task('none'), daemon: { row: 'offline', hasJob: false }, asked: 'left', calm: 'left' },
};

export type SmallPool = {
  readonly slots: readonly SlotState[];
  readonly desired: number;
  /** Number of the pool's own pending jobs. */
  readonly pending: number;
  /** Whether ECS said that it cannot place a task, and has started none since. */
  readonly isUnplaced: boolean;
};

export type TwoPools = readonly SmallPool[];

/** Whether ECS may stop the task: it has no lease yet, or its lease is gone. */
export function isFree(state: SlotState): boolean {
  return SLOTS[state].task?.protection === 'none';
}

export function tasksIn({ slots }: Pick<SmallPool, 'slots'>): number {
  return slots.filter((state) => state !== 'none').length;
}

export function withSlot(pool: SmallPool, slot: number, state: SlotState): SmallPool {
  return { ...pool, slots: pool.slots.with(slot, state) };
}

/** The pools whose jobs the daemons of a pool can run. The second pool can run jobs of the first. */
export function servedBy(pool: number): readonly number[] {
  return pool === 0 ? [0] : [0, 1];
}

export function withoutJob(pools: TwoPools, from: number): TwoPools {
  return pools.map((pool, at) => (at === from ? { ...pool, pending: pool.pending - 1 } : pool));
}

/** Numbers of states, the initial one 0. Tasks of a pool are interchangeable: their slots are sorted. */
export class TwoPoolsCodes {
  readonly #states = new Interned<TwoPools>((pools) => JSON.stringify(pools), 1 << 24);

  /** @param slots for tasks in each pool */
  constructor(slots: number) {
    const none = Array<SlotState>(slots).fill('none');
    const empty: SmallPool = { slots: none, desired: 0, pending: 0, isUnplaced: false };
    this.pack([empty, empty]);
  }

  pack(pools: TwoPools): number {
    return this.#states.idOf(
      pools.map(({ slots, desired, pending, isUnplaced }) => ({
        slots: slots.toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)),
        desired,
        pending,
        isUnplaced,
      })),
    );
  }

  unpack(code: number): TwoPools {
    return this.#states.at(code);
  }
}

const ORDER = Object.keys(SLOTS);

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
