/**
 * Counts: the desired count of a service, by the rule of design.md, "The lease". It is absolute, so that saying
 * it twice does no harm, and never below the number of tasks that have not left.
 */
import type { Capacity } from './capacity.ts';
import type { Doubt, Reason } from './plan.ts';
import type { Service } from './snapshot.ts';

export type CountDecision = { readonly to: number; readonly why: readonly Reason[] };

export type CountInput = {
  readonly service: Service;
  readonly capacity: Capacity;
  /** Working, starting and unguarded tasks that are wanted, after all bounds. */
  readonly wanted: number;
  readonly doubts: readonly Doubt[];
};

/** Decides the desired count of one service. */
export function decideCount({ service, capacity, wanted, doubts }: CountInput): CountDecision {
  const from = service.desiredCount;
  if (wanted > capacity.total) return { to: wanted + capacity.leaving + capacity.left, why: [] };
  const notLeft = capacity.total + capacity.leaving;
  if (from < notLeft)
    return { to: notLeft, why: [{ code: 'count-below-tasks', desired: from, tasks: notLeft }] };
  if (from === notLeft) return { to: from, why: [] };
  const holds = holdsOf(service, capacity, doubts);
  if (holds.length > 0) return { to: from, why: holds };
  return { to: notLeft, why: [{ code: 'tasks-left', tasks: capacity.left }] };
}

/** What keeps a count from being lowered: ECS would choose among tasks that are not protected yet. */
function holdsOf(service: Service, capacity: Capacity, doubts: readonly Doubt[]): readonly Reason[] {
  const holds: Reason[] = [];
  if (capacity.starting > 0) holds.push({ code: 'holding-for-starting', tasks: capacity.starting });
  if (capacity.unguarded > 0) holds.push({ code: 'holding-for-unguarded', tasks: capacity.unguarded });
  if (isDeploying(service)) holds.push({ code: 'holding-for-deployment' });
  if (doubts.length > 0) holds.push({ code: 'holding-for-doubt', doubts });
  return holds;
}

function isDeploying({ deployments }: Service): boolean {
  return deployments.length > 1 || deployments.some(({ rolloutState }) => rolloutState === 'IN_PROGRESS');
}
