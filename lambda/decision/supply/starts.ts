/**
 * The starts of a pool's tasks: how long they take, and whether they fail. Failing are tasks that stop
 * before their daemon has registered, and tasks that stay PENDING. After three failures within ten
 * minutes a pool gets one probe at a time until a start succeeds. The autoscaler stores no state for
 * this: ECS shows stopped tasks for an hour (docs/internals/aws.md §2), and coderd shows when a daemon
 * registered.
 */
import type { EpochMs } from '../model/brands.ts';
import { percentile } from '../model/collections.ts';
import type { StartTime } from '../model/plan.ts';
import type { Task } from '../model/snapshot.ts';
import { provisionerOf } from './daemons.ts';

const WINDOW_MS = 10 * 60_000;
const FAILURES_TO_TRIP = 3;
/** A task that does not run after this time is not expected to come. */
const START_TTL_MS = 10 * 60_000;

/** The exit code of a guard that got no lease in time (guard/guard.sh). */
const NO_LEASE = 75;
/** The meaning of the guard's other exit codes. */
const GUARD_EXIT_CODES: ReadonlyMap<number, string> = new Map([
  [76, 'the daemon exited with 0 without a drain request. Check the image and its coder'],
  [78, 'the image lacks curl, sleep, tr or date, which the guard needs. Add it, or set scaleIn: confirm'],
]);

export type FailingStarts = {
  /** Failed starts of the last ten minutes, plus tasks that should run by now. */
  readonly recent: number;
  /** Failed starts since a daemon last registered. */
  readonly count: number;
  /** Whether the pool gets only one probe at a time. */
  readonly isTripped: boolean;
  /** The newest failure is a guard without a lease: a deployment may refuse leases. */
  readonly lacksLease: boolean;
  /** ECS's reason for the newest failure; undefined if no start failed. */
  readonly reason: string | undefined;
};

export type Starts = {
  /** All tasks of a service, the stopped ones included. */
  readonly tasks: readonly Task[];
  /** When the daemon of a task registered; `unknown` if coderd does not list offline daemons. */
  readonly registration: (task: Task) => EpochMs | 'never' | 'unknown';
};

/** Derives the failing starts of a pool. A daemon that registers clears all failures before it. */
export function deriveFailingStarts({
  tasks,
  now,
  registration,
}: Starts & { readonly now: EpochMs }): FailingStarts {
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
    lacksLease: newest !== undefined && provisionerOf(newest)?.exitCode === NO_LEASE,
    reason: newest === undefined ? (stalled > 0 ? STALLED : undefined) : reasonOf(newest),
  };
}

const STALLED = 'ECS has not begun to run a desired task for over 10 min; the events of its service say why';

/** Whether a desired task still does not run long after it should. */
export function isOverdue({ lastStatus, desiredStatus, createdAt: since }: Task, now: EpochMs): boolean {
  const isWaiting = desiredStatus === 'RUNNING' && lastStatus !== 'RUNNING' && lastStatus !== 'STOPPED';
  return isWaiting && since !== undefined && now - since > START_TTL_MS;
}

function hasThreeInWindow(failures: readonly Task[]): boolean {
  return failures.some((task, index) => {
    const last = failures[index + FAILURES_TO_TRIP - 1];
    return last !== undefined && endedAt(last) - endedAt(task) <= WINDOW_MS;
  });
}

/** A wrong key ends the daemon (docs/internals/coder.md §5), so that is a failure too. */
function hasFailed(task: Task, registered: EpochMs | 'never' | 'unknown'): boolean {
  const { lastStatus, stopCode } = task;
  if (lastStatus !== 'STOPPED') return false;
  if (stopCode === 'TaskFailedToStart') return true;
  // a guard that has drained exits with 0, and coderd may have deleted its daemon's row by then
  const isClean = provisionerOf(task)?.exitCode === 0;
  return stopCode === 'EssentialContainerExited' && registered === 'never' && !isClean;
}

function createdAt(task: Task): number {
  return task.createdAt ?? 0;
}

function endedAt(task: Task): number {
  return task.stoppedAt ?? task.stoppingAt ?? createdAt(task);
}

/** ECS's own reason, then the container's reason and exit code if they add something. */
function reasonOf(task: Task): string {
  const { reason, exitCode } = provisionerOf(task) ?? {};
  const own = [reason, exitText(exitCode)].filter((part) => part !== undefined && part !== '');
  const parts = [task.stoppedReason, ...(own.length > 0 ? own : [reasonOfSidecar(task)])];
  return [...new Set(parts.filter((part) => part !== undefined && part !== ''))].join('; ') || NO_REASON;
}

const NO_REASON = 'ECS gives no reason';

/** Its name, because its image is not that of the pool. */
function reasonOfSidecar({ containers }: Task): string | undefined {
  const { name, reason } = containers.find((container) => container.reason) ?? {};
  return reason && `container "${name}": ${reason}`;
}

function exitText(code: number | undefined): string | undefined {
  if (code === undefined) return undefined;
  const meaning = GUARD_EXIT_CODES.get(code);
  return meaning === undefined ? `exit code ${code}` : `exit code ${code}: ${meaning}`;
}

/** With fewer starts the configured start time is used. */
const MIN_SAMPLES = 3;
/** Only the newest starts count: images, sizes and registries change. */
const MAX_SAMPLES = 50;
/** A longer time is no start: the daemon may have registered again, for example with a new key. */
const LONGEST_MS = 15 * 60_000;
/** It waited for its lease (docs/internals/aws.md §1, DEPLOYMENT_BLOCKED). */
const LEASE_LATE_MS = 2 * 60_000;

/** One start that ECS still lists, in milliseconds. */
export type SeenStart = {
  /** From when ECS created the task until its daemon registered. */
  readonly tookMs: number;
  /** The part of it after the task was RUNNING; undefined: ECS does not say when that was. */
  readonly afterRunningMs: number | undefined;
};

/** Computes the start time of a pool: from when ECS creates a task until its daemon registers. */
export function learnStartTime({ settingMs, ...input }: Starts & { readonly settingMs: number }): StartTime {
  const samples = seenStarts(input).map(({ tookMs }) => tookMs);
  if (samples.length < MIN_SAMPLES)
    return { from: 'setting', samples: samples.length, p50Ms: settingMs, p95Ms: settingMs };
  const [p50Ms, p95Ms] = [percentile(samples, 0.5), percentile(samples, 0.95)];
  return { from: 'learned', samples: samples.length, p50Ms, p95Ms };
}

/** Derives the newest starts of a pool's tasks, the shortest first. */
export function seenStarts({ tasks, registration }: Starts): readonly SeenStart[] {
  const starts: (SeenStart & { readonly at: number })[] = [];
  for (const task of tasks) {
    const at = registration(task);
    if (typeof at !== 'number' || task.createdAt === undefined) continue;
    const tookMs = at - task.createdAt;
    const isStart = tookMs >= 0 && tookMs <= LONGEST_MS && at - (task.startedAt ?? at) <= LEASE_LATE_MS;
    const afterRunningMs = task.startedAt === undefined ? undefined : Math.max(0, at - task.startedAt);
    if (isStart) starts.push({ at, tookMs, afterRunningMs });
  }
  return starts
    .toSorted((a, b) => b.at - a.at || a.tookMs - b.tookMs)
    .slice(0, MAX_SAMPLES)
    .toSorted((a, b) => a.tookMs - b.tookMs);
}
