/**
 * Progress: from every state that can be reached, once the world is quiet, everything settles: whoever was asked is gone or replaced,
 * deployments end, and the count is what the configuration wants.
 */
import { remembered } from '../world/interned.ts';
import { NOBODY, PoolCodes } from '../world/pool-state.ts';
import type { Violation } from '../world/search.ts';
import { afterRound, calmed, isSettled, type QuietRules, type QuietWorld } from './quiet-world.ts';
import { settlingJudge } from './settling.ts';

/** In a quiet world there is room for what comes in place of those that leave. */
const MORE_PLACES = 4;
/** Different states of one task that has been left alone for a minute. */
const CALM_KINDS = 64;

export type ProgressRules = QuietRules & { readonly min: number };

/** Judges a state of a pool by how its quiet world goes on. */
export function progressJudge(
  reached: PoolCodes,
  rules: ProgressRules,
): (code: number) => Violation | undefined {
  const { tasks: places, jobs } = reached.bound;
  const codes = new PoolCodes({ tasks: places + MORE_PLACES, jobs }, CALM_KINDS);
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
  /** The order of places makes no difference. */
  const codeOf = ({ tasks, desired, pending, isDeploying, isUnplaced }: QuietWorld): number => {
    const ids = tasks.map((task) => codes.kinds.idOf(task)).sort((a, b) => a - b);
    return codes.pack({ ids, desired, pending, isDeploying, isUnplaced, mind: 0 });
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
    calm.ids.fill(NOBODY);
    for (let slot = 0; slot < places; slot++) calm.ids[slot] = calmId(from.ids[slot] ?? NOBODY);
    calm.ids.sort((a, b) => a - b);
    calm.desired = from.desired;
    calm.pending = from.pending;
    calm.isDeploying = from.isDeploying;
    calm.isUnplaced = from.isUnplaced;
    return judge(codes.pack(calm));
  };
}
