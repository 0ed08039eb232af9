/** From every state a quiet world must settle: no drain request is left, and the count is as wanted. */
import { remembered } from '../world/interned.ts';
import { NO_TASK, PoolCodes } from '../world/pool-state.ts';
import type { Judge } from '../world/search.ts';
import { afterRound, calmed, isSettled, type QuietRules, type QuietWorld } from './quiet-world.ts';
import { settlingJudge } from './settling.ts';

/** Slots for the tasks that replace leaving ones in a quiet world. */
const EXTRA_SLOTS = 4;
/** The most states of one task after a quiet minute. */
const CALM_KINDS = 64;

export type ProgressRules = QuietRules & { readonly min: number };

export function progressJudge(reached: PoolCodes, rules: ProgressRules): Judge {
  const { tasks: slots, jobs } = reached.bound;
  const codes = new PoolCodes({ tasks: slots + EXTRA_SLOTS, jobs }, CALM_KINDS);
  const calmId = remembered((id) => {
    const task = reached.kinds.at(id);
    return codes.kinds.idOf(task && calmed(task, rules.table));
  });
  const state = codes.empty();

  const worldOf = (code: number): QuietWorld => {
    codes.unpack(code, state);
    const { desired, pending, isDeploying, isUnplaced } = state;
    return { tasks: codes.tasksOf(state), desired, pending, isDeploying, isUnplaced };
  };
  /** States that differ only in the order of slots are the same. */
  const codeOf = ({ tasks, desired, pending, isDeploying, isUnplaced }: QuietWorld): number => {
    const ids = tasks.map((task) => codes.kinds.idOf(task)).sort((a, b) => a - b);
    return codes.pack({ ids, desired, pending, isDeploying, isUnplaced, looksId: 0 });
  };
  const describe = (code: number): string => {
    codes.unpack(code, state);
    return codes.describe(state);
  };

  const judge = settlingJudge({
    after: (code) => [...new Set(afterRound(worldOf(code), rules).map(codeOf))],
    isSettled: (code) => isSettled(worldOf(code), rules.min),
    describe,
  });

  const from = reached.empty();
  const calm = codes.empty();
  return (code) => {
    reached.unpack(code, from);
    calm.ids.fill(NO_TASK);
    for (let slot = 0; slot < slots; slot++) calm.ids[slot] = calmId(from.ids[slot] ?? NO_TASK);
    calm.ids.sort((a, b) => a - b);
    calm.desired = from.desired;
    calm.pending = from.pending;
    calm.isDeploying = from.isDeploying;
    calm.isUnplaced = from.isUnplaced;
    return judge(codes.pack(calm));
  };
}
