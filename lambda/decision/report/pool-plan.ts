/** The row of the plan about one pool, from its decision. */
import type { PoolDecision } from '../drain/decide-pool.ts';
import { sum } from '../model/collections.ts';
import type { PoolPlan, Reason } from '../model/plan.ts';
import { countDaemons } from '../supply/capacity.ts';

export function reportPool({ need, to }: PoolDecision, why: readonly Reason[]): PoolPlan {
  const { service, pool, overrides, startTime } = need.view;
  return {
    name: pool.name,
    scaleIn: pool.scaleIn,
    retiring: pool.retiring,
    overrides,
    service: service?.serviceArn ?? null,
    desired: service === undefined ? { from: null, to: null } : { from: service.desiredCount, to },
    daemons: countDaemons(need.view),
    pending: sum(Object.values(need.jobs), (jobs) => jobs),
    due: Math.max(need.poolForecast.wakeAssignment?.due.length ?? 0, need.ready.due),
    startTime,
    floor: need.floor,
    why,
  };
}
