/** What the autoscaler does about one pool, and how the plan tells it. */

import type { PoolNeed } from '../assignment/needs.ts';
import { sum } from '../model/collections.ts';
import type { Config } from '../model/config.ts';
import type { Action, Doubt, PoolPlan, Reason } from '../model/plan.ts';
import type { Service, Snapshot } from '../model/snapshot.ts';
import type { LeaveDecision } from '../scale-in/leaving.ts';
import { countDaemons } from '../supply/capacity.ts';

export type PoolDecision = {
  readonly need: PoolNeed;
  readonly doubts: readonly Doubt[];
  /** The tasks that leave, and the spare tasks that stay. */
  readonly leaving: readonly LeaveDecision[];
  readonly plan: PoolPlan;
  readonly actions: readonly Action[];
};

/** What each mode decides from. The pool has an ECS service. */
export type PoolInput = {
  readonly need: PoolNeed;
  readonly service: Service;
  /** Any doubt holds scale-in. */
  readonly doubts: readonly Doubt[];
  readonly snapshot: Snapshot;
  readonly config: Config;
};

/** A decision that changes nothing, for the reasons `why`. */
export function withoutAction(
  need: PoolNeed,
  doubts: readonly Doubt[],
  why: readonly Reason[],
): PoolDecision {
  const to = need.view.service?.desiredCount ?? 0;
  return { need, doubts, leaving: [], plan: toPlan(need, to, why), actions: [] };
}

/** The pool's row of the plan. `to`: the desired count, in tasks. */
export function toPlan(need: PoolNeed, to: number, why: readonly Reason[]): PoolPlan {
  const { service, pool } = need.view;
  return {
    name: pool.name,
    scaleIn: pool.scaleIn,
    retiring: pool.retiring,
    overrides: need.view.overrides,
    service: service?.serviceArn ?? null,
    desired: service === undefined ? { from: null, to: null } : { from: service.desiredCount, to },
    daemons: countDaemons(need.view),
    pending: sum(Object.values(need.jobs), (jobs) => jobs),
    due: Math.max(need.poolForecast.wakeAssignment?.due.length ?? 0, need.due),
    startTime: need.view.startTime,
    floor: need.floor,
    why,
  };
}
