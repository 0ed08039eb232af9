/**
 * The decision: a pure function from a snapshot and the configuration to a plan. No clock (time is `takenAt`),
 * no environment, no randomness; the order of the input changes nothing.
 *
 * supply → demand → assignment → floors → bounds, last → who leaves → counts
 */
import { type Assignment, assign } from './assignment.ts';
import type { Config } from './config.ts';
import { readDemand } from './demand.ts';
import { readNeeds, roomFor } from './needs.ts';
import { readOffers } from './offers.ts';
import type { Action, Plan } from './plan.ts';
import { decidePool, type PoolDecision } from './pool-decision.ts';
import { reportAssignment, reportFindings, reportUnserved } from './report.ts';
import { judgeSight } from './sight.ts';
import type { Snapshot } from './snapshot.ts';
import { readSupply } from './supply.ts';

/** A plan with the steps that led to it, for whoever explains it. */
export type Deliberation = {
  readonly assignment: Assignment;
  /** In order of name. */
  readonly pools: readonly PoolDecision[];
  readonly plan: Plan;
};

/** Decides what to do about a snapshot. Total: it has an answer for every snapshot. */
export function decide(snapshot: Snapshot, config: Config): Plan {
  return deliberate(snapshot, config).plan;
}

/** Decides, and shows its work. */
export function deliberate(snapshot: Snapshot, config: Config): Deliberation {
  const supply = readSupply(snapshot, config);
  const sight = judgeSight(supply, snapshot);
  const room = roomFor(supply, config);
  const assignment = assign(readDemand(snapshot), readOffers(supply, snapshot), room);
  const pools = readNeeds(supply, assignment, room).map((need) =>
    decidePool(need, sight.doubtsOf(need.sight), { snapshot, config }),
  );
  const plan: Plan = {
    version: 1,
    takenAt: new Date(snapshot.takenAt).toISOString(),
    pools: pools.map((pool) => pool.plan),
    actions: inOrder(pools.flatMap(({ actions }) => actions)),
    assignment: reportAssignment(assignment),
    unserved: reportUnserved(assignment, supply, snapshot),
    findings: reportFindings({ supply, sight, assignment, snapshot, config }),
  };
  return { assignment, pools, plan };
}

/** Scale-outs first, then asks, then lower counts. */
function inOrder(actions: readonly Action[]): readonly Action[] {
  const rank = (action: Action): number => {
    if (action.kind === 'ask-to-leave') return 1;
    return action.to > action.from ? 0 : 2;
  };
  return actions.toSorted((a, b) => rank(a) - rank(b));
}
