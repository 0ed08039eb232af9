/** Chooses the tasks that drain, and says why the other candidates stay. */
import type { EpochMs, TaskArn } from '../model/brands.ts';
import { by, partition } from '../model/collections.ts';
import type { Replacing } from '../model/plan.ts';
import { isUntried, outdatedCredential } from '../supply/credentials.ts';
import { isOldRevision } from '../supply/older-tasks.ts';
import type { PoolView } from '../supply/supply.ts';
import { isIdle, isIdleLongEnough, type TaskView } from '../supply/task-state.ts';
import { replacementReason } from '../turns/rolling.ts';

export type LeaveDecision =
  | { readonly task: TaskView; readonly kind: 'leave'; readonly why: 'idle-long-enough' | Replacing }
  | {
      readonly task: TaskView;
      readonly kind: 'keep';
      readonly why: 'idle-too-briefly' | 'holding-for-deployment' | Replacing;
    };

/**
 * Chooses among the spare daemons. `given`: the most tasks that may drain. A task drains only in
 * state `working`, when its daemon has been idle for `idleTimeout` or longer. Late heartbeats come
 * first, then old revisions and tasks with an earlier secret, then the zone with most tasks, then the longest idle.
 */
export function decideLeaving(view: PoolView, given: number, now: EpochMs): readonly LeaveDecision[] {
  const spare = given - doubtful(view);
  if (spare <= 0) return [];
  const idle = view.tasks
    .filter((task) => task.state === 'working' && isIdle(task))
    .toSorted(
      by(
        ({ idleSince }) => idleSince ?? Number.POSITIVE_INFINITY,
        ({ task }) => task.taskArn,
      ),
    );
  const [long, brief] = partition(idle, (task) => isIdleLongEnough(task, view.pool, now));
  const leave = pickSpread(long, spare, view);
  return [
    ...leave.map((task) => ({ task, kind: 'leave', why: 'idle-long-enough' }) as const),
    ...brief
      .slice(0, Math.max(0, spare - leave.length))
      .map((task) => ({ task, kind: 'keep', why: 'idle-too-briefly' }) as const),
  ];
}

/** Counts the tasks that may never get a useful daemon, because the new value of a secret may be wrong. */
function doubtful(view: PoolView): number {
  if (!isUntried(view)) return 0;
  return view.tasks.filter(
    ({ state, use, hasOtherTags }) => state === 'working' && (use === 'registering' || hasOtherTags),
  ).length;
}

export type Launching = {
  /** Whether something has to launch in the place of tasks whose turn has come. */
  readonly isGrowing: boolean;
  /** Whether tasks start while fewer daemons than the floor are ready. */
  readonly isShort: boolean;
};

/**
 * Chooses among the tasks to replace. A task whose turn has come drains, busy or not, once nothing
 * more has to launch in its place. A task that only has an earlier value of a secret also waits
 * until the floor is ready without it.
 */
export function decideReplacing(
  view: PoolView,
  { isGrowing, isShort }: Launching,
  now: EpochMs,
): readonly LeaveDecision[] {
  return view.tasks.flatMap((task) => {
    const why = replacementReason(view, task, now);
    if (why === undefined) return [];
    const mayLeave = !isGrowing && !(why === 'old-secret' && isShort);
    return [{ task, kind: task.state === 'replacing' && mayLeave ? 'leave' : 'keep', why } as const];
  });
}

/** The same decisions, but every task stays while ECS deploys. */
export function keepAll(decisions: readonly LeaveDecision[]): readonly LeaveDecision[] {
  return decisions.map((decision) =>
    decision.kind === 'leave'
      ? { task: decision.task, kind: 'keep', why: 'holding-for-deployment' }
      : decision,
  );
}

/** The same decisions, but a task whose last request ECS has just refused stays for now. */
export function withoutRefused(
  refused: readonly TaskArn[],
  decisions: readonly LeaveDecision[],
): readonly LeaveDecision[] {
  return decisions.map((decision) => {
    const { task, kind, why } = decision;
    if (kind === 'keep' || !refused.includes(task.task.taskArn)) return decision;
    return { task, kind: 'keep', why: why === 'idle-long-enough' ? 'holding-for-deployment' : why };
  });
}

/** Of tasks in order of idle time: old ones first, and the zones kept even. */
function pickSpread(tasks: readonly TaskView[], count: number, pool: PoolView): TaskView[] {
  const { service, tasks: all } = pool;
  const zoneOf = ({ task }: TaskView): string => task.availabilityZone ?? '';
  const isOld = (view: TaskView): boolean =>
    (service !== undefined && isOldRevision(view.task, service)) ||
    outdatedCredential(pool, view) !== undefined;
  const inZone = new Map([...Map.groupBy(all, zoneOf)].map(([zone, { length }]) => [zone, length]));
  const ageOf = (task: TaskView): number => (task.use === 'unsure' ? -1 : isOld(task) ? 0 : 1);
  const places = tasks.map((task, place) => ({ task, place, zone: zoneOf(task), age: ageOf(task) }));
  const queues = [...Map.groupBy(places, ({ age, zone }) => `${age} ${zone}`).values()];
  const picked: TaskView[] = [];
  while (picked.length < count) {
    const [next] = queues
      .flatMap(([head]) => head ?? [])
      .toSorted(by('age', ({ zone }) => -(inZone.get(zone) ?? 0), 'place'));
    if (next === undefined) break;
    queues.find(([head]) => head === next)?.shift();
    inZone.set(next.zone, (inZone.get(next.zone) ?? 0) - 1);
    picked.push(next.task);
  }
  return picked;
}
