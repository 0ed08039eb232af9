/**
 * Failing starts: tasks that stop before their daemon has registered. After three within ten minutes a pool gets one
 * probe at a time until one succeeds. Nothing is remembered: ECS shows stopped tasks for an hour (aws-facts §2).
 */
import type { EpochMs } from './brands.ts';
import type { Task } from './snapshot.ts';

const WINDOW_MS = 10 * 60_000;
const TRIPPED_BY = 3;

export type FailingStarts = {
  /** Failed starts of the last ten minutes. */
  readonly recent: number;
  /** Whether the pool gets only one probe at a time. */
  readonly isTripped: boolean;
  /** What ECS says of the newest failure. */
  readonly reason: string | undefined;
};

export type FailingInput = {
  /** All tasks of a service, the stopped ones included. */
  readonly tasks: readonly Task[];
  readonly now: EpochMs;
  /** Whether a daemon of this task has ever registered; undefined when that can't be known. */
  readonly hasRegistered: (task: Task) => boolean | undefined;
};

/** Judges a pool's starts. Only failures of tasks newer than the newest one that succeeded count against it. */
export function readFailingStarts({ tasks, now, hasRegistered }: FailingInput): FailingStarts {
  const lastSuccess = Math.max(
    ...tasks.filter((task) => hasRegistered(task) === true).map(createdAt),
    Number.NEGATIVE_INFINITY,
  );
  const failures = tasks
    .filter((task) => hasFailed(task, hasRegistered(task)) && createdAt(task) > lastSuccess)
    .toSorted((a, b) => endedAt(a) - endedAt(b) || (a.taskArn < b.taskArn ? -1 : 1));
  const newest = failures.at(-1);
  return {
    recent: failures.filter((task) => now - endedAt(task) <= WINDOW_MS).length,
    isTripped: failures.some((task, index) => {
      const last = failures[index + TRIPPED_BY - 1];
      return last !== undefined && endedAt(last) - endedAt(task) <= WINDOW_MS;
    }),
    reason: newest && reasonOf(newest),
  };
}

/** A task that ran and whose daemon never came has failed too: a wrong key ends the daemon (contract §5). */
function hasFailed({ lastStatus, stopCode }: Task, registered: boolean | undefined): boolean {
  if (lastStatus !== 'STOPPED') return false;
  return (
    stopCode === 'TaskFailedToStart' || (stopCode === 'EssentialContainerExited' && registered === false)
  );
}

function createdAt(task: Task): number {
  return task.createdAt ?? 0;
}

function endedAt(task: Task): number {
  return task.stoppedAt ?? task.stoppingAt ?? createdAt(task);
}

/** ECS's own words; the container's reason and exit code where they say more. */
function reasonOf({ stoppedReason, containers }: Task): string {
  const [container] = containers.filter(
    ({ reason, exitCode }) => reason !== undefined || exitCode !== undefined,
  );
  const exit = container?.exitCode === undefined ? undefined : `exit code ${container.exitCode}`;
  const said = [stoppedReason, container?.reason, exit].filter((part) => part !== undefined && part !== '');
  return [...new Set(said)].join('; ') || 'ECS gives no reason';
}
