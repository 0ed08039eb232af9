/** Decides about one pool: which tasks drain, and its desired count. */

import type { EpochMs, TaskArn } from '../model/brands.ts';
import type { Action, Doubt } from '../model/plan.ts';
import type { Service } from '../model/snapshot.ts';
import { isPaused } from '../settings/settings-in-force.ts';
import { isDeploying, mayDrain } from '../supply/capacity.ts';
import type { TaskView } from '../supply/task-state.ts';
import { askActions, countActions, protectActions } from './actions.ts';
import { type CountDecision, decideCount } from './counts.ts';
import { replacementsOf, spareOf } from './drainable.ts';
import { decideLeaving, keepAll, type LeaveDecision, withoutRefused } from './leaving.ts';
import type { PoolNeed } from './needs.ts';
import { unguardedToKeep } from './unguarded.ts';

/** The pool has an ECS service. */
type PoolInput = {
  readonly need: PoolNeed;
  readonly service: Service;
  /** Any doubt holds scale-in. */
  readonly doubts: readonly Doubt[];
} & At;

type At = {
  readonly now: EpochMs;
  /** Tasks of which ECS has just refused a request: they get none for a while. */
  readonly refused: readonly TaskArn[];
};

export type PoolDecision = {
  readonly need: PoolNeed;
  readonly doubts: readonly Doubt[];
  /** `sized`: as the need asks for. The other modes launch and drain nothing. */
  readonly mode: 'no-service' | 'server-too-old' | 'paused' | 'sized';
  /** The tasks that leave, and the spare tasks that stay. */
  readonly leaving: readonly LeaveDecision[];
  readonly count: CountDecision;
  /** Tasks without a guard that get a protection. */
  readonly kept: readonly TaskView[];
  /** The desired count, in tasks. */
  readonly to: number;
  readonly actions: readonly Action[];
  /** The count that is left to the next look, and how many a look may change. */
  readonly later?: { readonly to: number; readonly changes: number };
};

/** Decides about one pool. Never throws: there is a decision for every state. */
export function decidePool(need: PoolNeed, doubts: readonly Doubt[], at: At): PoolDecision {
  const { service, overrides } = need.view;
  const to = service?.desiredCount ?? 0;
  const nothing = { need, doubts, to, leaving: [], count: { to, why: [] }, kept: [], actions: [] };
  if (service === undefined) return { ...nothing, mode: 'no-service' };
  if (doubts.includes('server-too-old')) return { ...nothing, mode: 'server-too-old' };
  // a pause must stop no build either
  const kept = unguardedToKeep(need.view, doubts);
  const protections = protectActions(need, kept);
  if (isPaused(overrides)) return { ...nothing, mode: 'paused', kept, actions: protections };
  const { leaving, count } = decideCourse({ need, service, doubts, ...at });
  return {
    ...{ need, doubts, mode: 'sized', to: count.to, leaving, count, kept },
    actions: [
      ...countActions(need, { service, ...count }),
      ...protections,
      ...(mayDrain(need.capacity, doubts.length > 0) ? askActions(need, leaving) : []),
    ],
  };
}

/** The guard stops an idle daemon on request, and the count follows. */
function decideCourse(input: PoolInput): Pick<PoolDecision, 'leaving' | 'count'> {
  const { need, service, doubts, refused } = input;
  const { view, capacity, tasks } = need;
  return {
    leaving: withoutRefused(refused, leavingGuarded(input)),
    count: leavesCount(input)
      ? { to: service.desiredCount, why: [] }
      : decideCount({ service, capacity, wanted: tasks.granted, max: view.pool.max, doubts }),
  };
}

/** Whether others may set the count: no job needs a launch, and ECS can stop no task. */
function leavesCount({ need: { capacity, tasks }, doubts }: PoolInput): boolean {
  const { total, starting, unguarded } = capacity;
  return doubts.includes('count-contested') && tasks.granted <= total && starting + unguarded === 0;
}

/** The tasks that are due to be replaced, then the spare ones. */
function leavingGuarded({ need, service, now }: PoolInput): readonly LeaveDecision[] {
  const spare = decideLeaving(need.view, spareOf(need), now);
  // the count stays while ECS deploys: ECS would start another task in the place of a spare one
  const isHeld = isDeploying({ service, capacity: need.capacity });
  return [...replacementsOf(need, now), ...(isHeld ? keepAll(spare) : spare)];
}
