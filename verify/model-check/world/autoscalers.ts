/** The two autoscalers of the explorations of a pool: what they may do from a state. */
import { remembered } from './interned.ts';
import { copyInto, NOBODY, type PoolCodes, type PoolState } from './pool-state.ts';
import type { Emit, Fail } from './search.ts';
import { ASK } from './task.ts';

export type Autoscaler = {
  readonly expand: (now: PoolState, emit: Emit, fail: Fail) => void;
  /** What is on its mind once the task in a place is gone: what it meant to say to that one is said to nobody. */
  readonly withoutTask: (mind: number, slot: number) => number;
  /** What is on its mind after a step of the rest of the world; `not-now`: its look has to end first. */
  readonly afterStep: (mind: number) => number | 'not-now';
  /** One number for all states that differ only in the order of places. */
  readonly canonical: (state: PoolState) => number;
  readonly describe: (mind: number) => string;
};

/**
 * Sets any count and asks anyone at any time. Whatever the product writes upon stale readings, in overlapping looks, after a crash
 * between two calls or a lost reply, this one writes too.
 */
export function nonsense(codes: PoolCodes): Autoscaler {
  const next = codes.empty();
  const asked = remembered((id) => {
    const task = codes.kinds.at(id);
    return task === undefined ? NOBODY : codes.kinds.idOf({ ...task, protection: ASK });
  });
  const canonical = (state: PoolState): number => {
    sortPlaces(state.ids);
    return codes.pack(state);
  };
  return {
    canonical,
    withoutTask: (mind) => mind,
    afterStep: (mind) => mind,
    describe: () => '',
    expand: (now, emit) => {
      copyInto(now, next);
      for (let desired = 0; desired <= codes.bound.tasks; desired++) {
        next.desired = desired;
        if (desired !== now.desired) emit(canonical(next), COUNTS[desired] ?? 'sets the count', -1);
      }
      next.desired = now.desired;
      for (let slot = 0; slot < now.ids.length; slot++) {
        const id = now.ids[slot] ?? NOBODY;
        if (asked(id) === id) continue;
        copyInto(now, next);
        next.ids[slot] = asked(id);
        emit(canonical(next), 'the autoscaler asks it to leave', slot);
      }
    },
  };
}

const COUNTS = [0, 1, 2, 3, 4].map((count) => `the autoscaler sets the count to ${count}`);

/** Sorts places in which the order makes no difference, in place. */
export function sortPlaces(ids: number[]): void {
  for (let i = 1; i < ids.length; i++) {
    const id = ids[i] ?? NOBODY;
    let place = i;
    for (; place > 0 && (ids[place - 1] ?? NOBODY) > id; place--) ids[place] = ids[place - 1] ?? NOBODY;
    ids[place] = id;
  }
}
