/** Why a task ended, and whether a job died with it. */

import type { EpochMs, JobId } from '../model/brands.ts';
import { ownValue } from '../model/collections.ts';
import type { DeathCause } from '../model/plan.ts';
import type { Daemon, Job, Snapshot, Task } from '../model/snapshot.ts';
import { awsTimeOf } from '../model/snapshot.ts';
import { MINUTE_MS } from '../model/units.ts';
import { provisionerOf, taskId } from '../supply/rows/daemons.ts';

/** A task that has run and is STOPPED. */
export type EndedTask = Task & { readonly startedAt: EpochMs; readonly stoppedAt: EpochMs };

/** Converts a time by AWS's clock to coderd's. */
export type ToCoderdTime = (awsTime: EpochMs) => EpochMs;

/** The clocks of two lists may seem to differ by the duration of a look. */
const NOISE_MS = MINUTE_MS;
/**
 * A daemon reports a result before its task is STOPPED, and coderd waits 5 minutes before it fails
 * the job of a daemon that is gone (docs/internals/coder.md §5). This time lies between, with room
 * for clocks.
 */
const SETTLED_MS = 2 * MINUTE_MS;

/** The jobs that coderd lists as pending or running, and when it did. */
export type OpenJobs = { readonly ids: ReadonlySet<JobId>; readonly takenAt: number };

export function isEnded(task: Task): task is EndedTask {
  return task.lastStatus === 'STOPPED' && task.startedAt !== undefined && task.stoppedAt !== undefined;
}

/** Measures how far coderd's clock is ahead of AWS's in this look. */
export function coderdTimeOf(snapshot: Snapshot): ToCoderdTime {
  const ahead = snapshot.takenAt - awsTimeOf(snapshot);
  return (time) => (Math.abs(ahead) < NOISE_MS ? time : time + ahead) as EpochMs;
}

/** The last one. A host's name is used again, so its daemon may have run others' jobs. */
export function lastJobOf(
  task: EndedTask,
  { daemon, jobs }: { readonly daemon: Daemon | undefined; readonly jobs: readonly Job[] },
  toCoderdTime: ToCoderdTime,
): Job | undefined {
  const isOwnName = daemon === undefined || daemon.name.endsWith(taskId(task));
  const from = toCoderdTime(task.startedAt) - SETTLED_MS;
  const until = isOwnName ? Number.POSITIVE_INFINITY : toCoderdTime(task.stoppedAt);
  return jobs.reduce<Job | undefined>((last, job) => {
    const startedAt = job.started_at ?? 0;
    return startedAt >= from && startedAt <= until && startedAt >= (last?.started_at ?? 0) ? job : last;
  }, undefined);
}

type Witnesses = {
  readonly daemon: Pick<Daemon, 'last_seen_at'> | undefined;
  readonly open: OpenJobs;
  readonly toCoderdTime: ToCoderdTime;
};

/**
 * Whether a job that the task's daemon took last died with the task: this look still lists it long
 * after the task stopped, or coderd failed it later, or because it heard no more of it nor of the
 * daemon. A job that no list shows any more has ended, and nobody knows how.
 */
export function hasDiedWith(task: EndedTask, job: Job, { daemon, open, toCoderdTime }: Witnesses): boolean {
  const settledAt = toCoderdTime(task.stoppedAt) + SETTLED_MS;
  const { completed_at: endedAt } = job;
  if (endedAt == null) return open.takenAt >= settledAt && open.ids.has(job.id);
  if (job.status !== 'failed') return false;
  // after an outage coderd may fail the job of a daemon that is alive
  const hasOutlived = (daemon?.last_seen_at ?? 0) > endedAt;
  return endedAt >= settledAt || (job.error === 'hung' && !hasOutlived);
}

/** By ECS's stop code (docs/internals/aws.md §2). */
const CAUSES: Readonly<Record<string, DeathCause>> = {
  SpotInterruption: 'spot',
  InfrastructureHealth: 'host',
  TerminationNotice: 'maintenance',
  UserInitiated: 'by-hand',
  ServiceSchedulerInitiated: 'scaling',
  EssentialContainerExited: 'exited',
};

/** The exit code of a process that got SIGKILL. */
const KILLED = 137;

/** Derives why ECS stopped the task. */
export function causeOfDeath(task: Task): DeathCause {
  if (reasonsOf(task).some((reason) => reason.startsWith('OutOfMemory'))) return 'memory';
  const cause = ownValue(CAUSES, task.stopCode ?? '') ?? 'unknown';
  return cause === 'scaling' && /maintenance|retire|draining/i.test(task.stoppedReason ?? '')
    ? 'maintenance'
    : cause;
}

/** ECS's own words, and the exit code. A person can give any text to StopTask. */
export function reasonOfDeath(task: Task): string {
  const code = provisionerOf(task)?.exitCode;
  const parts = [...reasonsOf(task), ...(code === undefined ? [] : [`exit code ${code}`])];
  return [...new Set(parts.map(printable))].join('; ') || task.stopCode || 'ECS gives no reason';
}

/** On one line, without characters that change a terminal. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** Whether a running build may have been the victim: not of a task that left by itself. */
export function wasKilled(task: Task): boolean {
  const cause = causeOfDeath(task);
  if (cause === 'exited') return provisionerOf(task)?.exitCode === KILLED;
  return cause !== 'scaling' && cause !== 'unknown';
}

function reasonsOf(task: Task): readonly string[] {
  return [task.stoppedReason, provisionerOf(task)?.reason].flatMap((reason) => reason || []);
}
