/** An autoscaler as a pool sees it, and the nonsense one. deciders/product.ts has the product. */
import { copyInto, NO_TASK, type PoolCodes, type PoolState, sortSlots } from './pool-state.ts';
import type { Emit, Fail } from './search.ts';

export type Autoscaler = {
  readonly expand: (now: PoolState, emit: Emit, fail: Fail) => void;
  /** The looks in progress after the task in a slot has stopped: calls for that task are dropped. */
  readonly withoutTask: (looksId: number, slot: number) => number;
  /** The looks in progress after a step of the rest of the world; `not-now` if a look has to read first. */
  readonly afterStep: (looksId: number) => number | 'not-now';
  /** One number for all states that differ only in the order of slots. */
  readonly canonical: (state: PoolState) => number;
  readonly describe: (looksId: number) => string;
};

/**
 * Sets any count and sends any drain request at any time: all that the product writes on stale
 * readings, in overlapping looks, after a crash or a lost reply.
 */
export function nonsense(codes: PoolCodes): Autoscaler {
  const next = codes.empty();
  const canonical = (state: PoolState): number => {
    sortSlots(state.ids);
    return codes.pack(state);
  };
  return {
    canonical,
    withoutTask: (looksId) => looksId,
    afterStep: (looksId) => looksId,
    describe: () => '',
    expand: (now, emit) => {
      copyInto(now, next);
      for (let desired = 0; desired <= codes.bound.tasks; desired++) {
        next.desired = desired;
        if (desired !== now.desired) emit(canonical(next), COUNTS[desired] ?? 'sets the count', -1);
      }
      next.desired = now.desired;
      for (let slot = 0; slot < now.ids.length; slot++) {
        const id = now.ids[slot] ?? NO_TASK;
        if (codes.asked(id) === id) continue;
        copyInto(now, next);
        next.ids[slot] = codes.asked(id);
        emit(canonical(next), 'the autoscaler sends it a drain request', slot);
      }
    },
  };
}

const COUNTS = [0, 1, 2, 3, 4].map((count) => `the autoscaler sets the count to ${count}`);
