/**
 * Rung `confirm`, for images without sh or curl: their tasks have no guard. The autoscaler itself
 * protects the tasks that may hold a job, for half an hour at a time. Before a task stops, the
 * autoscaler protects all others. A later look that sees this lowers the count, if one more look
 * just before plans the same. One gap remains: a daemon may take a job in the second between that
 * look and ECS's signal (docs/how-it-works.md). Rung `never` protects too, and lowers nothing.
 */
import type { Doubt, Reason } from '../model/plan.ts';
import type { Service } from '../model/snapshot.ts';
import { type Capacity, isDeploying } from '../supply/capacity.ts';
import type { PoolView } from '../supply/supply.ts';
import { isSure, type TaskView } from '../supply/task-state.ts';
import type { CountDecision } from './counts.ts';
import type { LeaveDecision } from './leaving.ts';

/** A protection lasts half an hour. With less than this left it is renewed. */
const RENEWED_BELOW_MS = 20 * 60_000;

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

/** Whether ECS may stop the task: no protection was read. */
export function isUnprotected({ leaseMs }: TaskView): boolean {
  return leaseMs === 0;
}

/** Chooses the tasks to protect, and the tasks that ECS may stop now. */
export function decideConfirming(input: Input): Confirming {
  const { view, leaving } = input;
  // tasks that are replaced have a guard, so they get a drain request
  const spare = leaving
    .filter(({ kind, why }) => kind === 'leave' && why === 'idle-long-enough')
    .map(({ task }) => task);
  const held = spare.length > 0 ? whatHolds(input) : [];
  const chosen = held === undefined || held.length > 0 ? [] : spare;
  const others = view.tasks.filter((task) => task.state === 'working' && !chosen.includes(task));
  // do not renew the protection of other spare tasks: they can stop when it ends
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
 * Protects the busy tasks of a lease pool whose protection runs out. Such a task has no guard: its
 * pool had another rung when it started. A guard would have renewed the protection long before.
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

/** Whether the task may hold a job and its protection has to be renewed. */
function needsProtection({ use, leaseMs }: TaskView): boolean {
  return use !== 'idle' && (leaseMs ?? 0) < RENEWED_BELOW_MS;
}

/** Why no task may stop now; undefined if the plan already has the reason. */
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
  // ECS must have no other choice: all tasks run and none is replaced. Tasks that ECS cannot start
  // are given up too
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

/** ECS still stops tasks after the count was lowered, so it must not rise again. */
export function isStopping(
  tasks: readonly TaskView[],
  { desired, total, wanted }: { readonly desired: number; readonly total: number; readonly wanted: number },
): boolean {
  const free = tasks.filter(
    (task) => task.state === 'working' && task.use === 'idle' && isUnprotected(task),
  ).length;
  return wanted <= desired && desired < total && total - desired <= free;
}
