/**
 * A pool of rung `lease`: every task has a guard. The autoscaler asks tasks to leave; the guard
 * stops an idle daemon, and the count follows once the task has left.
 */

import { type PoolNeed, spareOf } from '../assignment/needs.ts';
import type { EpochMs } from '../model/brands.ts';
import type { Service } from '../model/snapshot.ts';
import { mayDrain, reasonsOf } from '../report/reasons.ts';
import { protectUnguarded } from '../scale-in/confirm-rung.ts';
import { decideCount, isDeploying } from '../scale-in/counts.ts';
import { decideLeaving, keepAll, type LeaveDecision } from '../scale-in/leaving.ts';
import { askActions, countAction, protectActions } from './actions.ts';
import { type PoolDecision, type PoolInput, toPlan } from './pool-decision.ts';
import { replacementsOf } from './replacements.ts';

/** Decides about a pool whose tasks have guards. */
export function decideLeasePool(input: PoolInput): PoolDecision {
  const { need, service, doubts, snapshot, config } = input;
  const { view, capacity, granted: wanted } = need;
  const now = snapshot.takenAt;
  const leaving = leavingTasks(need, service, now);
  const count = leavesCount(input)
    ? { to: service.desiredCount, why: [] }
    : decideCount({ service, capacity, wanted, max: view.pool.max, doubts });
  const confirming = protectUnguarded(view);
  const why = reasonsOf(need, { leaving, count, confirming, doubts, config, now });
  const asked = mayDrain(need, doubts) ? leaving : [];
  return {
    need,
    doubts,
    leaving,
    plan: toPlan(need, count.to, why),
    actions: [
      ...countAction(need, { service, ...count }),
      ...protectActions(need, confirming.protect),
      ...askActions(need, asked),
    ],
  };
}

/**
 * Whether others may have the count that they want: no job needs a launch, and every task has a
 * lease, so ECS stops none.
 */
function leavesCount({ need: { capacity, granted }, doubts }: PoolInput): boolean {
  const { total, starting, unguarded } = capacity;
  return doubts.includes('count-contested') && granted <= total && starting + unguarded === 0;
}

/** The tasks that are due to be replaced, then the spare ones. */
function leavingTasks(need: PoolNeed, service: Service, now: EpochMs): readonly LeaveDecision[] {
  const spare = decideLeaving(need.view, spareOf(need), now);
  // the count stays while ECS deploys: ECS would start another task in the place of a spare one
  const isHeld = isDeploying({ service, capacity: need.capacity });
  return [...replacementsOf(need, now), ...(isHeld ? keepAll(spare, 'holding-for-deployment') : spare)];
}
