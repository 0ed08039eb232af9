/** Rung `lease`: the guard stops an idle daemon on request, and the count follows. */
import { protectUnguarded } from './confirm-rung.ts';
import { decideCount, isDeploying } from './counts.ts';
import type { Course, PoolInput } from './course.ts';
import { replacementsOf, spareOf } from './drainable.ts';
import { decideLeaving, keepAll, type LeaveDecision } from './leaving.ts';

/** Decides about a pool whose tasks have guards. */
export function decideLeasePool(input: PoolInput): Course {
  const { need, service, doubts } = input;
  const { view, capacity, tasks } = need;
  return {
    leaving: leavingTasks(input),
    count: leavesCount(input)
      ? { to: service.desiredCount, why: [] }
      : decideCount({ service, capacity, wanted: tasks.granted, max: view.pool.max, doubts }),
    confirming: protectUnguarded(view),
  };
}

/** Whether others may set the count: no job needs a launch, and ECS can stop no task. */
function leavesCount({ need: { capacity, tasks }, doubts }: PoolInput): boolean {
  const { total, starting, unguarded } = capacity;
  return doubts.includes('count-contested') && tasks.granted <= total && starting + unguarded === 0;
}

/** The tasks that are due to be replaced, then the spare ones. */
function leavingTasks({ need, service, now }: PoolInput): readonly LeaveDecision[] {
  const spare = decideLeaving(need.view, spareOf(need), now);
  // the count stays while ECS deploys: ECS would start another task in the place of a spare one
  const isHeld = isDeploying({ service, capacity: need.capacity });
  return [...replacementsOf(need, now), ...(isHeld ? keepAll(spare, 'holding-for-deployment') : spare)];
}
