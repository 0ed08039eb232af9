/** The state of two pools under one `maxTasks`, in small values, and one look of the product at them. */
import { type LookRules, type Write, writesOf } from '../deciders/decider.ts';
import {
  configWith,
  type DaemonView,
  type EcsTaskView,
  keepsOneFree,
  NO_DAEMON,
  type SeenPool,
  snapshotOfPools,
} from '../deciders/view.ts';
import { Interned } from '../world/interned.ts';
import type { Scheduled } from '../world/scheduler.ts';

/** What is in a slot. `asked`: idle, with a drain request; `finishing`: with a drain request and a job. */
export type SlotState = 'none' | 'pending' | 'booting' | 'idle' | 'busy' | 'asked' | 'finishing' | 'left';

type Slot = {
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

/** No task of these pools is old. */
export function scheduledIn({ slots, desired }: SmallPool): Scheduled {
  const revisions = slots.flatMap((state) => (state === 'none' ? [] : { deploymentId: 'new' as const }));
  return { desired, revisions, countsOld: true };
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

export function describePools(pools: TwoPools): string {
  return pools
    .map(({ slots, desired, pending, isUnplaced }, at) => {
      const tasks = slots.filter((state) => state !== 'none').map((state) => `[${state}]`);
      const parts = [`${NAMES[at]}: desired ${desired}`, ...tasks];
      if (pending > 0) parts.push(`${pending} pending job(s)`);
      if (isUnplaced) parts.push('a task that ECS could not place');
      return parts.join(' ');
    })
    .join(' | ');
}

/** Daemons of the second pool can run jobs of the first pool too. */
const POOLS: readonly SeenPool[] = [
  { name: 'cpu', tags: { pool: 'cpu' } },
  { name: 'gpu', tags: { pool: 'cpu', gpu: 'yes' } },
];
export const NAMES = POOLS.map(({ name }) => name);

export type TwoPoolsLimits = {
  readonly maxTasks: number;
  readonly min: readonly [number, number];
  readonly max: number;
  /** Whether builds for the first pool are so frequent that the product keeps a daemon free for them. */
  readonly hasStock: boolean;
};

export type Call = Write & { readonly pool: number };

/**
 * Computes the calls of a look in a state, in the product's order: raises, drain requests, lower
 * counts (lambda/look/apply.ts).
 */
export function lookOf(
  limits: TwoPoolsLimits,
  { see, decide }: LookRules,
): (pools: TwoPools) => readonly Call[] {
  const { maxTasks, min, max, hasStock } = limits;
  const config = configWith(
    POOLS.map((pool, at) => ({ ...pool, min: min[at] ?? 0, max })),
    { maxTasks },
  );
  const stock = hasStock ? keepsOneFree(POOLS) : undefined;
  return (pools) => {
    const looks = pools.map((pool, at) => {
      const read = lookAt(pool, at);
      return { ...read, ...see(read) };
    });
    const actions = decide(snapshotOfPools(looks, stock), config);
    const calls = pools.flatMap((_, pool): readonly Call[] => {
      const own = actions.filter((action) => action.pool === NAMES[pool]);
      return writesOf(own, looks[pool]?.names ?? []).map((write) => ({ ...write, pool }));
    });
    const rank = (call: Call): number => {
      if (call.kind === 'ask') return 1;
      return call.desired > (pools[call.pool]?.desired ?? 0) ? 0 : 2;
    };
    return calls.toSorted((a, b) => rank(a) - rank(b));
  };
}

export function carriedOut(pools: TwoPools, call: Call): TwoPools {
  return pools.map((pool, at) => {
    if (at !== call.pool) return pool;
    if (call.kind === 'set') return { ...pool, desired: call.desired };
    return call.slots.reduce(
      (now, slot) => withSlot(now, slot, SLOTS[pool.slots[slot] ?? 'none'].asked),
      pool,
    );
  });
}

/** The task names of pool n start at n times this number. */
const NAMES_APART = 16;

/** What a look sees of a pool. Identical tasks are interchangeable, so one order of names is enough. */
function lookAt({ slots, desired, pending, isUnplaced }: SmallPool, at: number) {
  return {
    pool: POOLS[at] ?? { name: '', tags: {} },
    ecs: { tasks: slots.map((state) => SLOTS[state].task), desired, isDeploying: false, isUnplaced },
    coder: { daemons: slots.map((state) => SLOTS[state].daemon), pending },
    names: slots.map((_, slot) => at * NAMES_APART + slot),
  };
}
