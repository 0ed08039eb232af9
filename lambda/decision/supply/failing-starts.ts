/**
 * Failing starts: tasks that stop before their daemon has registered, and tasks that stay PENDING. After three
 * failures within ten minutes a pool gets one probe at a time until one succeeds. Nothing is remembered: ECS shows
 * stopped tasks for an hour (docs/aws.md §2), and coderd says when a daemon registered.
 */
import type { EpochMs } from '../model/brands.ts';
import type { Task } from '../model/snapshot.ts';

const WINDOW_MS = 10 * 60_000;
const TRIPPED_BY = 3;
/** A task that has not begun to run after this long is not counted on. */
const START_TTL_MS = 10 * 60_000;

/** What a guard exits with that got no lease in time (guard/guard.sh). */
const NO_LEASE = 75;
/** What the guard's other exit codes mean. */
const GUARD_SAYS: ReadonlyMap<number, string> = new Map([
  [76, 'the daemon exited with 0, although nobody asked it to. Check the image and its coder'],
  [78, 'the image lacks curl, sleep, tr or date, which the guard needs. Add it, or set scaleIn: confirm'],
]);

export type FailingStarts = {
  /** Failed starts of the last ten minutes, and tasks that should have begun to run by now. */
  readonly recent: number;
  /** Failed starts since a daemon last registered. */
  readonly count: number;
  /** Whether the pool gets only one probe at a time. */
  readonly isTripped: boolean;
  /** Whether the newest failure is that of a guard that got no lease: a deployment may refuse leases until old tasks leave. */
  readonly lacksLease: boolean;
  /** What ECS says of the newest failure; undefined when nothing failed. */
  readonly reason: string | undefined;
};

export type FailingInput = {
  /** All tasks of a service, the stopped ones included. */
  readonly tasks: readonly Task[];
  readonly now: EpochMs;
  /** When the daemon of a task registered; `unknown` where the daemons that are gone can't be seen. */
  readonly registration: (task: Task) => EpochMs | 'never' | 'unknown';
};

/** Judges a pool's starts. A daemon that registers clears every failure before it. */
export function deriveFailingStarts({ tasks, now, registration }: FailingInput): FailingStarts {
  const lastSuccess = tasks.reduce((last, task) => {
    const at = registration(task);
    return typeof at === 'number' && at > last ? at : last;
  }, Number.NEGATIVE_INFINITY);
  const failures = tasks
    .filter((task) => endedAt(task) > lastSuccess && hasFailed(task, registration(task)))
    .toSorted((a, b) => endedAt(a) - endedAt(b) || (a.taskArn < b.taskArn ? -1 : 1));
  const stalled = tasks.filter((task) => isOverdue(task, now) && createdAt(task) > lastSuccess).length;
  const newest = failures.at(-1);
  return {
    recent: stalled + failures.filter((task) => now - endedAt(task) <= WINDOW_MS).length,
    count: failures.length,
    isTripped: stalled > 0 || hasThreeInWindow(failures),
    lacksLease: newest?.containers.some(({ exitCode }) => exitCode === NO_LEASE) ?? false,
    reason: newest === undefined ? (stalled > 0 ? STALLED : undefined) : reasonOf(newest),
  };
}

const STALLED = 'ECS has not begun to run a desired task for over 10 min; the events of its service say why';

/** Desired and listed, but not running long after it should be. */
export function isOverdue({ lastStatus, desiredStatus, createdAt: since }: Task, now: EpochMs): boolean {
  const isWaiting = desiredStatus === 'RUNNING' && lastStatus !== 'RUNNING' && lastStatus !== 'STOPPED';
  return isWaiting && since !== undefined && now - since > START_TTL_MS;
}

function hasThreeInWindow(failures: readonly Task[]): boolean {
  return failures.some((task, index) => {
    const last = failures[index + TRIPPED_BY - 1];
    return last !== undefined && endedAt(last) - endedAt(task) <= WINDOW_MS;
  });
}

/** A task that ran and whose daemon never came has failed too: a wrong key ends the daemon (docs/coder.md §5). */
function hasFailed(
  { lastStatus, stopCode, containers }: Task,
  registered: EpochMs | 'never' | 'unknown',
): boolean {
  if (lastStatus !== 'STOPPED') return false;
  if (stopCode === 'TaskFailedToStart') return true;
  // a guard that has left exits with 0, and its row may be gone by then
  const isClean = containers.length > 0 && containers.every(({ exitCode }) => exitCode === 0);
  return stopCode === 'EssentialContainerExited' && registered === 'never' && !isClean;
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
  const said = [stoppedReason, container?.reason, exitText(container?.exitCode)].filter(
    (part) => part !== undefined && part !== '',
  );
  return [...new Set(said)].join('; ') || 'ECS gives no reason';
}

function exitText(code: number | undefined): string | undefined {
  if (code === undefined) return undefined;
  const meaning = GUARD_SAYS.get(code);
  return meaning === undefined ? `exit code ${code}` : `exit code ${code}: ${meaning}`;
}
