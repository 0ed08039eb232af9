/** Computes one look of the product at two pools: what it sees, and the calls that it makes. */

import { type Decide, type Write, writesOf } from '../deciders/decider.ts';
import { configWith, keepsOneFree, type SeenPool, snapshotOfPools } from '../deciders/view.ts';
import { SLOTS, type SmallPool, type TwoPools, withSlot } from './two-pools-state.ts';

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
export function lookOf(limits: TwoPoolsLimits, decide: Decide): (pools: TwoPools) => readonly Call[] {
  const { maxTasks, min, max, hasStock } = limits;
  const config = configWith(
    POOLS.map((pool, at) => ({ ...pool, min: min[at] ?? 0, max })),
    { maxTasks },
  );
  const stock = hasStock ? keepsOneFree(POOLS) : undefined;
  return (pools) => {
    const looks = pools.map((pool, at) => lookAt(pool, at));
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

/**
 * What a look sees of a pool. Running jobs are shown as the pool's own. Identical tasks are
 * interchangeable, so one order of names is enough.
 */
function lookAt({ slots, desired, pending, isUnplaced }: SmallPool, at: number) {
  return {
    pool: POOLS[at] ?? { name: '', tags: {} },
    ecs: { tasks: slots.map((state) => SLOTS[state].task), desired, isDeploying: false, isUnplaced },
    coder: { daemons: slots.map((state) => SLOTS[state].daemon), pending },
    names: slots.map((_, slot) => at * NAMES_APART + slot),
  };
}
