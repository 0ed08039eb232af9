/**
 * Rung `confirm`, for images without sh or curl, whose tasks have no guard: the autoscaler itself protects the tasks that may
 * hold a job, each time for half an hour. When one is to go, all others are protected first; a later look, which sees that they are, lowers the
 * count, and only if one more look just before that sees the same. What remains is a job that a daemon takes in the second
 * between that look and ECS's signal (docs/how-it-works.md). Rung `never` protects in the same way and lowers nothing.
 */
import type { Capacity } from '../capacity/capacity.ts';
import type { Doubt, Reason } from '../model/plan.ts';
import type { Service } from '../model/snapshot.ts';
import type { PoolView } from '../supply/supply.ts';
import type { TaskView } from '../supply/task-state.ts';
import { type CountDecision, isDeploying } from './counts.ts';
import type { LeaveDecision } from './leaving.ts';

/** A protection with less left is renewed; it is given for half an hour. */
const RENEWED_BELOW_MS = 20 * 60_000;
/** With less left, a task might become one that ECS may choose. */
const SURE_FOR_MS = 5 * 60_000;

type Protect = { readonly task: TaskView; readonly why: 'may-hold-a-job' | 'is-to-stay' };

export type Confirming = {
  readonly protect: readonly Protect[];
  /** Empty: the count is not lowered. */
  readonly stop: readonly TaskView[];
  readonly why: readonly Reason[];
};

type Input = {
  readonly view: PoolView;
  readonly service: Service;
  readonly capacity: Capacity;
  readonly leaving: readonly LeaveDecision[];
  readonly count: CountDecision;
  readonly doubts: readonly Doubt[];
};

/** Whether ECS may stop it: nothing protects it, as far as was read. */
export function isUnprotected({ leaseMs }: TaskView): boolean {
  return leaseMs === 0;
}

/** Whether ECS would stop none of these tasks, whatever it starts before the count is lowered. */
export function areSure(tasks: readonly TaskView[]): boolean {
  return tasks.every(isSure);
}

/** Decides whom to protect, and who may be stopped now. */
export function decideConfirming(input: Input): Confirming {
  const { view, leaving } = input;
  // those that are replaced have a guard: they are asked
  const spare = leaving
    .filter(({ kind, why }) => kind === 'leave' && why === 'idle-long-enough')
    .map(({ task }) => task);
  const held = spare.length > 0 ? whatHolds(input) : [];
  const chosen = held === undefined || held.length > 0 ? [] : spare;
  const others = view.tasks.filter((task) => task.state === 'working' && !chosen.includes(task));
  // who is spare too is not kept for longer: its turn comes once its protection has run out
  const waits = new Set(
    leaving.filter(({ why }) => why === 'holding-for-protection').map(({ task }) => task),
  );
  const protect = others.flatMap((task): readonly Protect[] => {
    if (needsProtection(task)) return [{ task, why: 'may-hold-a-job' }];
    const isInTheWay = chosen.length > 0 && !isSure(task) && !waits.has(task);
    return isInTheWay ? [{ task, why: 'is-to-stay' }] : [];
  });
  const unprotected = others.filter((task) => !isSure(task)).length;
  return {
    protect,
    stop: unprotected === 0 ? chosen : [],
    why: reasonsOf({ protect, chosen, unprotected }, held),
  };
}

/**
 * Protects the busy tasks of a lease pool whose protection runs out. Such a task has no guard: its pool had another
 * rung when it started. A guard would have renewed the protection long before.
 */
export function protectUnguarded({ tasks: all }: PoolView): Confirming {
  const tasks = all.filter(
    (task) => task.state === 'leaving' && task.use === 'busy' && needsProtection(task),
  );
  return {
    protect: tasks.map((task) => ({ task, why: 'may-hold-a-job' })),
    stop: [],
    why: tasks.length > 0 ? [{ code: 'protecting', tasks: tasks.length }] : [],
  };
}

/** Whether it may hold a job, and its protection is to be renewed. */
function needsProtection({ use, leaseMs }: TaskView): boolean {
  return use !== 'idle' && (leaseMs ?? 0) < RENEWED_BELOW_MS;
}

function isSure({ leaseMs }: TaskView): boolean {
  return (leaseMs ?? 0) >= SURE_FOR_MS;
}

/** Why nobody may be stopped now; undefined: for reasons that the plan tells anyway. */
function whatHolds({
  view: { pool, tasks },
  service,
  capacity,
  count,
  doubts,
}: Input): readonly Reason[] | undefined {
  if (pool.scaleIn !== 'confirm' || doubts.length > 0) return undefined;
  if (isDeploying({ service, capacity })) return [{ code: 'holding-for-deployment' }];
  if (capacity.starting > 0) return [{ code: 'holding-for-starting', tasks: capacity.starting }];
  // ECS is to have no other choice: all tasks are there, and it keeps them as they are. What it cannot start is given up with them
  const isAtRest = capacity.isHeldBack || service.desiredCount === capacity.working;
  if (isAtRest && count.to >= capacity.working && count.to <= service.desiredCount) return [];
  const leaving = tasks.filter(({ state }) => state === 'leaving').length;
  return leaving > 0 ? [{ code: 'holding-for-leaving', tasks: leaving }] : undefined;
}

type Chosen = Pick<Confirming, 'protect'> & {
  readonly chosen: readonly TaskView[];
  readonly unprotected: number;
};

function reasonsOf(
  { protect, chosen, unprotected }: Chosen,
  held: readonly Reason[] | undefined,
): readonly Reason[] {
  const reasons: Reason[] = [...(held ?? [])];
  if (protect.length > 0) reasons.push({ code: 'protecting', tasks: protect.length });
  if (chosen.length > 0)
    reasons.push({ code: 'stopping-after-confirmation', tasks: chosen.length, unprotected });
  return reasons;
}

/**
 * Tasks that ECS has been told to stop and that are still there: their count is not raised again, if they are the ones that nothing
 * protects.
 */
export function isStopping(
  tasks: readonly TaskView[],
  { desired, total, wanted }: { readonly desired: number; readonly total: number; readonly wanted: number },
): boolean {
  const free = tasks.filter(
    (task) => task.state === 'working' && task.use === 'idle' && isUnprotected(task),
  ).length;
  return wanted <= desired && desired < total && total - desired <= free;
}
