/** The judgement of one pool's tasks, from their rows: how starts go, and the state of each task. */
import type { EpochMs } from '../model/brands.ts';
import { compare } from '../model/collections.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { type Credential, deriveCredentials } from './credentials.ts';
import { isOldRevision, withShutOut } from './older-tasks.ts';
import { type PoolStarts, startsOf } from './pool-starts.ts';
import type { PoolFacts, PoolRows } from './rows/pool-rows.ts';
import { boundToLease, isKeptRunning, type TaskRow } from './rows/task-row.ts';
import { type FailingStarts, type Lateness, lateSince, type Start } from './starts.ts';
import { deriveTaskView, lacksGuard, type TaskInput, type TaskView, withOneStart } from './task-state.ts';

export type PoolTasks = Pick<PoolStarts, 'startTime' | 'placement' | 'isRoleUntried'> & {
  readonly failing: FailingStarts;
  /** All tasks that ECS intends to keep running, in order of ARN. */
  readonly tasks: readonly TaskView[];
  /** The starts of all tasks that ECS lists, stopping and stopped ones too. */
  readonly starts: readonly Start[];
  /** The secrets that its tasks get, as far as AWS tells since when: the latest change first. */
  readonly credentials: readonly Credential[];
};

/** Judges the tasks. `now` is AWS's time. */
export function judgeTasks({ facts, rows }: PoolRows, snapshot: Snapshot, now: EpochMs): PoolTasks {
  const { configured, service } = facts;
  const credentials = deriveCredentials(configured, snapshot, now);
  const starts = rows.map((row) => judgeStart(row, snapshot.coder.unlicensedAt, now));
  const { failures, lateAfterMs, ...known } = startsOf(starts, { ...facts, credentials }, snapshot, now);
  const isFailing = failures.keepsEnding;
  const views = viewsOf(starts, facts, { now, lateAfterMs, isFailing });
  // a task that starts without a guard gets its daemon at once
  const hasGuards = !views.some(
    (view) => lacksGuard(view) && !(service && isOldRevision(view.task, service)),
  );
  const tasks = isFailing && hasGuards ? withOneStart(views) : views;
  const failing = withShutOut(failures, { tasks, service, hasGuards, now });
  return { ...known, failing, tasks, starts, credentials };
}

type JudgedStart = TaskRow & Start & Pick<TaskView, 'isRefused'>;

/** coderd refuses a daemon without a license, which then never dials again (docs/internals/coder.md §5). That is no failed start. */
function judgeStart(row: TaskRow, unlicensedAt: EpochMs | undefined, now: EpochMs): JudgedStart {
  const { task, registered, leasedAt = boundToLease(task, now) } = row;
  const isRefused = registered === 'never' && unlicensedAt !== undefined && leasedAt < unlicensedAt;
  return { ...row, isRefused, registered: isRefused ? 'unknown' : registered };
}

function viewsOf(
  starts: readonly JudgedStart[],
  { pool, organization, index }: PoolFacts,
  { isFailing, ...lateness }: Lateness & Pick<TaskInput, 'isFailing'>,
): readonly TaskView[] {
  const { now } = lateness;
  const registered = starts.filter((start) => typeof start.registered === 'number');
  const newest = Math.max(...registered.map(({ task }) => task.createdAt ?? 0), 0);
  return starts
    .filter(({ task }) => isKeptRunning(task))
    .toSorted((a, b) => compare(a.task.taskArn, b.task.taskArn))
    .map((start) => {
      const isLate = lateSince(start, lateness) !== undefined;
      const isOvertaken = newest > (start.task.startedAt ?? now);
      return deriveTaskView({ ...start, pool, organization, index, now, isLate, isOvertaken, isFailing });
    });
}
