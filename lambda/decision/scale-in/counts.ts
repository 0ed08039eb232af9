/**
 * Counts: the desired count of a service, by the rule of docs/architecture.md, "The lease". It is absolute, so that saying
 * it twice does no harm, and never below the number of tasks that have not left.
 */
import type { Capacity } from '../capacity/capacity.ts';
import type { Doubt, Reason } from '../model/plan.ts';
import type { Service } from '../model/snapshot.ts';

export type CountDecision = { readonly to: number; readonly why: readonly Reason[] };

export type CountInput = {
  readonly service: Service;
  readonly capacity: Capacity;
  /** Working, starting and unguarded tasks that are wanted, after all bounds. */
  readonly wanted: number;
  /** Of the pool, in tasks. */
  readonly max: number;
  readonly doubts: readonly Doubt[];
};

/** Decides the desired count of one service. */
export function decideCount(input: CountInput): CountDecision {
  const { uncounted } = input.capacity;
  const all = decideAll(input);
  return { ...all, to: Math.max(0, all.to - uncounted) };
}

/** The count of all tasks: of those that ECS counts, and of those of an earlier deployment that it does not. */
function decideAll({ service, capacity, wanted, max, doubts }: CountInput): CountDecision {
  const from = service.desiredCount + capacity.uncounted;
  const { total, leaving, left, vacant } = capacity;
  const notLeft = total + leaving;
  const blind = blindness({ service, capacity }, doubts);
  const unprotected = unprotectedTasks(capacity);
  const mayLower = blind.length === 0 && unprotected.length === 0;
  // tasks that never had a daemon go before others come: else a pool of them would grow without end (docs/adr/0003)
  if (vacant > 0 && mayLower && from >= notLeft) {
    const waits: readonly Reason[] = wanted > total ? [{ code: 'waiting-for-vacant', tasks: vacant }] : [];
    return { to: notLeft, why: [{ code: 'tasks-left', tasks: left }, ...waits] };
  }
  const uncapped = Math.max(wanted, total) + leaving + left;
  const lowest = vacant > 0 ? Math.min(uncapped, Math.max(from, max + leaving + left - vacant)) : uncapped;
  // beyond what is there ECS only tries to start tasks: a count above it is dropped when that keeps failing
  if (wanted > total && lowest >= from) return { to: lowest, why: [] };
  if (from < notLeft)
    return { to: notLeft, why: [{ code: 'count-below-tasks', desired: from, tasks: notLeft }] };
  if (from === notLeft) return { to: from, why: [] };
  // ECS may start what is desired and not there before the count is lowered, and then stop any task without a lease
  if (capacity.isHeldBack && capacity.exposed > 0) return { to: from, why: unprotected };
  if (mayGiveUp({ capacity, doubts }) && lowest < from) return { to: lowest, why: [] };
  if (blind.length > 0) return { to: from, why: blind };
  const to = wanted > total || unprotected.length > 0 ? Math.min(from, lowest) : notLeft;
  if (to === from) return { to, why: unprotected };
  return { to, why: to === notLeft && left > 0 ? [{ code: 'tasks-left', tasks: left }] : [] };
}

/**
 * Whether tasks that are desired and do not come are given up. A task that runs without a lease holds that: ECS may start the missing ones
 * before the count is lowered, and then stop it.
 */
export function mayGiveUp({ capacity, doubts }: Pick<CountInput, 'capacity' | 'doubts'>): boolean {
  return capacity.isHeldBack && capacity.exposed === 0 && capacity.uncounted === 0 && doubts.length === 0;
}

/** What keeps any count from being lowered. */
function blindness(rollout: Rollout, doubts: readonly Doubt[]): readonly Reason[] {
  const reasons: Reason[] = [];
  if (isDeploying(rollout)) reasons.push({ code: 'holding-for-deployment' });
  if (doubts.length > 0) reasons.push({ code: 'holding-for-doubt', doubts });
  return reasons;
}

/** Tasks without a lease among which ECS could choose in place of those that have left. */
function unprotectedTasks({ starting, unguarded }: Capacity): readonly Reason[] {
  const reasons: Reason[] = [];
  if (starting > 0) reasons.push({ code: 'holding-for-starting', tasks: starting });
  if (unguarded > 0) reasons.push({ code: 'holding-for-unguarded', tasks: unguarded });
  return reasons;
}

type Rollout = Pick<CountInput, 'service' | 'capacity'>;

/** Whether ECS has not finished a deployment of the service, or tasks of an earlier one are still there. */
export function isDeploying({ service: { deployments }, capacity }: Rollout): boolean {
  if (deployments.length > 1 || capacity.older > 0) return true;
  return deployments.some(({ rolloutState }) => rolloutState === 'IN_PROGRESS');
}
