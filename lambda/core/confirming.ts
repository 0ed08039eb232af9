/**
 * Rung `confirm`, for images without sh or curl, whose tasks have no guard: the autoscaler itself protects the tasks that may
 * hold a job, each time for an hour. When one is to go, all others are protected first; a later look, which sees that they are, lowers the
 * count, and only if one more look just before that sees the same. What remains is a job that a daemon takes in the second
 * between that look and ECS's signal (README). Rung `never` protects in the same way and lowers nothing.
 */
import type { Capacity } from './capacity.ts';
import { type CountDecision, isDeploying } from './counts.ts';
import type { LeaveDecision } from './leaving.ts';
import type { Doubt, Reason } from './plan.ts';
import type { PoolSight } from './supply.ts';
import type { TaskSight } from './task-state.ts';

/** A protection with less left is renewed; it is given for an hour. */
const RENEWED_BELOW_MS = 50 * 60_000;
/** With less left, a task might become one that ECS may choose. */
const SURE_FOR_MS = 5 * 60_000;

type Protect = { readonly task: TaskSight; readonly why: 'may-hold-a-job' | 'is-to-stay' };

export type Confirming = {
  readonly protect: readonly Protect[];
  /** Empty: the count is not lowered. */
  readonly stop: readonly TaskSight[];
  readonly why: readonly Reason[];
};

type Input = {
  readonly sight: PoolSight;
  readonly capacity: Capacity;
  readonly leaving: readonly LeaveDecision[];
  readonly count: CountDecision;
  readonly doubts: readonly Doubt[];
};

/** Whether ECS may stop it: nothing protects it, as far as was read. */
export function isUnprotected({ leaseMs }: TaskSight): boolean {
  return leaseMs === 0;
}

/** Decides whom to protect, and who may be stopped now. */
export function decideConfirming(input: Input): Confirming {
  const { sight, leaving, doubts } = input;
  const isConfirmed = sight.pool.scaleIn === 'confirm' && doubts.length === 0;
  const chosen = isConfirmed ? leaving.filter(({ kind }) => kind === 'leave').map(({ task }) => task) : [];
  const others = sight.tasks.filter((task) => task.state === 'working' && !chosen.includes(task));
  // who is spare too is not kept for another hour: its turn comes once its protection has run out
  const waits = new Set(
    leaving.filter(({ why }) => why === 'holding-for-protection').map(({ task }) => task),
  );
  const protect = others.flatMap((task): readonly Protect[] => {
    const leaseMs = task.leaseMs ?? 0;
    if (task.use !== 'idle') return leaseMs < RENEWED_BELOW_MS ? [{ task, why: 'may-hold-a-job' }] : [];
    const isInTheWay = chosen.length > 0 && leaseMs < SURE_FOR_MS && !waits.has(task);
    return isInTheWay ? [{ task, why: 'is-to-stay' }] : [];
  });
  if (chosen.length === 0) return { protect, stop: [], why: [] };
  const unprotected = others.filter(({ leaseMs }) => (leaseMs ?? 0) < SURE_FOR_MS).length;
  const why: readonly Reason[] = [{ code: 'stopping-after-confirmation', tasks: chosen.length, unprotected }];
  return { protect, stop: unprotected === 0 && mayLower(input) ? chosen : [], why };
}

/** ECS is to have no other choice: all tasks are there, and it keeps them as they are. */
function mayLower({ sight: { service }, capacity, count }: Input): boolean {
  if (service === undefined || isDeploying(service)) return false;
  return (
    capacity.starting === 0 && service.desiredCount === capacity.working && count.to === capacity.working
  );
}
