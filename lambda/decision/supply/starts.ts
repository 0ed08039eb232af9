/**
 * The starts of a pool's tasks: how long they take, and whether they fail. Failing are tasks that stop
 * before their daemon has registered, tasks that stay PENDING, and late tasks: they run, and their daemon
 * does not register. After three failures without a success a pool gets one probe at a time until a start
 * succeeds. If failing tasks had run, it waits before each probe for as long as starts have failed: ECS
 * itself waits only after tasks that never ran. The autoscaler stores no state for this: ECS shows stopped
 * tasks for an hour (docs/internals/aws.md §2), and coderd shows when a daemon registered.
 */
import type { EpochMs } from '../model/brands.ts';
import { by, percentile } from '../model/collections.ts';
import type { StartTime } from '../model/plan.ts';
import type { Task } from '../model/snapshot.ts';
import { MINUTE_MS } from '../model/units.ts';
import { provisionerOf } from './rows/daemons.ts';
import { LEASE_LATE_MS, type Registration } from './rows/task-row.ts';

const WINDOW_MS = 10 * MINUTE_MS;
export const FAILURES_TO_TRIP = 3;
/** With one probe at a time, few guards without a lease end in the hour that ECS shows. */
const REFUSALS_TO_TRIP = 2;
const LONGEST_PAUSE_MS = 10 * MINUTE_MS;
/** A task that does not run after this time is not expected to come. */
const START_TTL_MS = 10 * MINUTE_MS;

/** The exit code of a guard that got no lease in time (guard/guard.sh). */
const NO_LEASE = 75;
/** The exit code of a guard whose role AWS has refused the lease for a minute. */
export const ROLE_REFUSED = 79;
/** The exit code of a guard that ECS has stopped some minutes after its daemon had died early. */
const DIED_EARLY = 77;
/** The meaning of the guard's other exit codes. */
const GUARD_EXIT_CODES: ReadonlyMap<number, string> = new Map([
  [76, 'the daemon exited with 0 without a drain request. Check the image and its coder'],
  [DIED_EARLY, 'the daemon ended by itself soon after its start. Read the log of the task'],
  [ROLE_REFUSED, 'AWS refuses the role of the task the protection of the task itself'],
  [78, 'the image lacks curl, sleep, tr or date, which the guard needs. Add it (docs/upgrade.md)'],
]);

/** What the starts alone tell of failures. */
export type StartFailures = {
  /** Failed starts of the last ten minutes, plus tasks that should run by now. Late tasks are failed starts. */
  readonly recent: number;
  /** Failed starts since a daemon last registered. */
  readonly count: number;
  /** When the newest of them failed. Undefined: there is none. */
  readonly newestAt: EpochMs | undefined;
  /** Whether the pool gets only one probe at a time. */
  readonly isTripped: boolean;
  /** Whether it is too early for the next probe. */
  readonly isPaused: boolean;
  /** The newest failed task is a guard without a lease: a deployment may refuse leases. */
  readonly lacksLease: boolean;
  /** When a task last ended, or was given up, that had waited for its lease in vain. */
  readonly refusedAt: number;
  /** Whether tasks keep ending before their daemon has registered, and not for want of leases. */
  readonly keepsEnding: boolean;
  /** Recent failures of tasks that never ran: after some, ECS waits before it starts another. */
  readonly neverRan: number;
  /** ECS's reason for the newest failure; undefined if no start failed. */
  readonly reason: string | undefined;
};

export type FailingStarts = StartFailures & {
  /** Old tasks keep new ones from their leases (older-tasks.ts): none starts, and those that do are given up. */
  readonly isShutOut: boolean;
};

/** The start of a task, a stopped one too. */
export type Start = {
  readonly task: Task;
  readonly registered: Registration;
  /** When it got its lease, at the latest. @default it is not known to have one */
  readonly leasedAt?: number | undefined;
};

export type Lateness = {
  readonly now: EpochMs;
  /** When a task is late, in milliseconds after its creation; undefined: the pool has not learned it. */
  readonly lateAfterMs?: number | undefined;
};

type FailingInput = Lateness & {
  /** Whether the task had a revision or a secret that its pool no longer has. @default false */
  readonly isOutdated?: (task: Task) => boolean;
};

/** Derives the failing starts of a pool. A daemon that registers clears all failures before it. */
export function deriveFailingStarts(
  starts: readonly Start[],
  { isOutdated = () => false, ...lateness }: FailingInput,
): StartFailures {
  const { now } = lateness;
  const lastSuccess = starts.reduce(
    (last, { registered: at }) => (typeof at === 'number' && at > last ? at : last),
    Number.NEGATIVE_INFINITY,
  );
  const failures = starts
    .flatMap((start) => {
      const at = failedAt(start, lateness);
      return at !== undefined && at > lastSuccess ? [{ task: start.task, at }] : [];
    })
    .toSorted(by('at', ({ task }) => task.taskArn));
  const stalled = starts.filter(({ task }) => isOverdue(task, now) && createdAt(task) > lastSuccess).length;
  const first = failures[0];
  const newest = failures.at(-1);
  const ended = failures.filter(({ task }) => task.desiredStatus === 'STOPPED');
  const recent = failures.filter(({ at }) => now - at <= WINDOW_MS);
  const refused = starts.filter(({ task, registered }) => hasWaited(task, now) && registered === 'never');
  const lacksLease = isWithoutLease(ended.at(-1)?.task);
  const pauseMs = Math.min(LONGEST_PAUSE_MS, (newest?.at ?? 0) - (first?.at ?? 0));
  const mayPause = newest !== undefined && !isNeverRun(newest.task) && !isOutdated(newest.task);
  return {
    recent: stalled + recent.length,
    count: failures.length,
    newestAt: newest?.at as EpochMs | undefined,
    isTripped: stalled > 0 || failures.length >= failuresToTrip(ended.at(-1)?.task),
    isPaused: mayPause && now - newest.at < pauseMs,
    refusedAt: Math.max(...refused.map(({ task }) => endedAt(task)), Number.NEGATIVE_INFINITY),
    ...{ lacksLease, keepsEnding: ended.length >= FAILURES_TO_TRIP && !lacksLease },
    neverRan: recent.filter(({ task }) => isNeverRun(task)).length,
    reason: newest === undefined ? (stalled > 0 ? STALLED : undefined) : reasonOf(newest.task),
  };
}

/** A role that AWS refuses will be refused the next time too. */
function failuresToTrip(newest: Task | undefined): number {
  if (newest !== undefined && provisionerOf(newest)?.exitCode === ROLE_REFUSED) return 1;
  return isWithoutLease(newest) ? REFUSALS_TO_TRIP : FAILURES_TO_TRIP;
}

function isWithoutLease(task: Task | undefined): boolean {
  return task !== undefined && provisionerOf(task)?.exitCode === NO_LEASE;
}

/** Whether ECS has stopped it, or will, after its guard has waited for a lease. */
function hasWaited(task: Task, now: EpochMs): boolean {
  const { desiredStatus, startedAt = now, stopCode, stoppedAt, stoppingAt } = task;
  const isGivenUp = stopCode === 'ServiceSchedulerInitiated' && (provisionerOf(task)?.exitCode ?? 0) === 0;
  const ranMs = (stoppedAt ?? stoppingAt ?? now) - startedAt;
  return desiredStatus === 'STOPPED' && ranMs >= LEASE_LATE_MS && (isGivenUp || isWithoutLease(task));
}

function failedAt(start: Start, lateness: Lateness): number | undefined {
  return lateSince(start, lateness) ?? (hasFailed(start) ? endedAt(start.task) : undefined);
}

/**
 * Since when a task is late: it runs for much longer than starts of its pool take, or has its lease for
 * longer than a daemon takes to register, and its daemon has not. It may have frozen, or coderd has refused
 * its daemon (docs/internals/coder.md §5). It serves no job, although its daemon may still come.
 */
export function lateSince(
  { task, registered, leasedAt }: Start,
  { now, lateAfterMs = Number.POSITIVE_INFINITY }: Lateness,
): number | undefined {
  const { lastStatus, desiredStatus, startedAt = now, createdAt: since = now } = task;
  if (lastStatus !== 'RUNNING' || desiredStatus !== 'RUNNING' || registered !== 'never') return undefined;
  const at = Math.min(since + lateAfterMs, (leasedAt ?? now) + LEAST_LATE_MS);
  return now > at && now - startedAt < LONGEST_MS ? at : undefined;
}

/** When a task of a pool is late: only a pool that has learned its start time knows. */
export function lateAfter({ from, p95Ms }: StartTime): number | undefined {
  return from === 'learned' ? Math.max(LEAST_LATE_MS, STARTS_TO_BE_LATE * p95Ms) : undefined;
}

const STARTS_TO_BE_LATE = 3;
const LEAST_LATE_MS = 2 * MINUTE_MS;

const STALLED = 'ECS has not begun to run a desired task for over 10 min; the events of its service say why';

/** Whether a desired task still does not run long after it should. */
export function isOverdue({ lastStatus, desiredStatus, createdAt: since }: Task, now: EpochMs): boolean {
  const isWaiting = desiredStatus === 'RUNNING' && lastStatus !== 'RUNNING' && lastStatus !== 'STOPPED';
  return isWaiting && since !== undefined && now - since > START_TTL_MS;
}

/**
 * A wrong key ends the daemon (docs/internals/coder.md §5), so that is a failure too, also of a task that
 * has run. Not a longer run: its daemon may have registered, and its row be gone with a deleted key.
 */
function hasFailed({ task, registered }: Start): boolean {
  const { lastStatus, stopCode } = task;
  if (isNeverRun(task)) return true;
  if (lastStatus !== 'STOPPED' || registered !== 'never') return false;
  // a guard that has drained exits with 0, and coderd may have deleted its daemon's row by then
  const code = provisionerOf(task)?.exitCode;
  if (code === DIED_EARLY) return true;
  const isShort = endedAt(task) - Math.max(task.startedAt ?? 0, createdAt(task)) <= LONGEST_MS;
  return stopCode === 'EssentialContainerExited' && code !== 0 && isShort;
}

function isNeverRun({ stopCode }: Task): boolean {
  return stopCode === 'TaskFailedToStart';
}

function createdAt(task: Task): number {
  return task.createdAt ?? 0;
}

function endedAt(task: Task): number {
  return task.stoppedAt ?? task.stoppingAt ?? createdAt(task);
}

/** ECS's own reason, then the container's reason and exit code if they add something. */
function reasonOf(task: Task): string {
  if (task.desiredStatus === 'RUNNING') return LATE;
  const { reason, exitCode } = provisionerOf(task) ?? {};
  const own = [reason, exitText(exitCode)].filter((part) => part !== undefined && part !== '');
  const parts = [task.stoppedReason, ...(own.length > 0 ? own : [reasonOfSidecar(task)])];
  return [...new Set(parts.filter((part) => part !== undefined && part !== ''))].join('; ') || NO_REASON;
}

const LATE =
  'tasks run for much longer than earlier starts took, and their daemons do not register. Read the logs of the tasks';
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
const LONGEST_MS = 15 * MINUTE_MS;

/** Computes the start time of a pool: from when ECS creates a task until its daemon registers. */
export function learnStartTime(starts: readonly Start[], settingMs: number): StartTime {
  const samples = seenStarts(starts);
  if (samples.length < MIN_SAMPLES)
    return { from: 'setting', samples: samples.length, p50Ms: settingMs, p95Ms: settingMs };
  const [p50Ms, p95Ms] = [percentile(samples, 0.5), percentile(samples, 0.95)];
  return { from: 'learned', samples: samples.length, p50Ms, p95Ms };
}

/**
 * Derives the newest starts of a pool's tasks, the shortest first: the milliseconds from when ECS created the
 * task until its daemon registered. The newest are those created last: of many tasks created at once, those
 * that registered last would be the slowest.
 */
export function seenStarts(starts: readonly Start[]): readonly number[] {
  const seen: { readonly tookMs: number; readonly since: number; readonly arn: string }[] = [];
  for (const { task, registered: at } of starts) {
    if (typeof at !== 'number' || task.createdAt === undefined) continue;
    const tookMs = at - task.createdAt;
    const isStart = tookMs >= 0 && tookMs <= LONGEST_MS && at - (task.startedAt ?? at) <= LEASE_LATE_MS;
    if (isStart) seen.push({ tookMs, since: task.createdAt, arn: task.taskArn });
  }
  return seen
    .toSorted(by(({ since }) => -since, 'arn'))
    .slice(0, MAX_SAMPLES)
    .map(({ tookMs }) => tookMs)
    .sort((a, b) => a - b);
}
