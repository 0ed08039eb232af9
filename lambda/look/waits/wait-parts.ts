/**
 * Splits the wait of a job that has started into parts. The timeline of the task whose daemon took
 * the job gives the parts; the wait cuts it off at both ends. So the parts add up to the wait
 * exactly. If a time of the timeline is missing, the parts on both sides of it are one, `unknown`.
 */
import type { EpochMs } from '../../decision/model/brands.ts';
import type { Daemon, Task } from '../../decision/model/snapshot.ts';

/** In order of time. */
export const WAIT_PARTS = [
  /** No look has seen the job yet. */
  'notNoticed',
  /** A look has seen the job; no task was requested: a limit, or another daemon was expected. */
  'held',
  /** A task was requested; ECS has not created it yet. */
  'launching',
  /** The three above, where this process did not request the task. */
  'notLaunched',
  /** ECS places the task and attaches its network interface. */
  'provisioning',
  'imagePull',
  /** From the end of the pull until ECS says that the task runs. */
  'containerStart',
  /** The guard takes the lease, and the daemon registers with coderd. */
  'registration',
  /** The daemon is registered: coderd gives it other jobs first. */
  'queued',
  'unknown',
] as const;
export type WaitPart = (typeof WAIT_PARTS)[number];

/** Milliseconds. Parts of zero are left out. */
export type WaitParts = Readonly<Partial<Record<WaitPart, number>>>;

/** What is known of the task that served a job. */
export type ServingTask = {
  /** Undefined: the task of the daemon is unknown. */
  readonly task: Pick<Task, 'createdAt' | 'pullStartedAt' | 'pullStoppedAt' | 'startedAt'> | undefined;
  /** Undefined: coderd no longer lists the daemon. */
  readonly daemon: Pick<Daemon, 'created_at'> | undefined;
  /** When this process requested the task; undefined: it did not, or it does not know. */
  readonly requestedAt?: EpochMs | undefined;
  /**
   * When a look of this process saw the job for the first time. Undefined: the look that requested
   * the task, or none saw it pending.
   */
  readonly noticedAt?: EpochMs | undefined;
};

type Wait = { readonly createdAt: EpochMs; readonly startedAt: EpochMs };
type Point = { readonly part: WaitPart; readonly until: EpochMs | undefined };

/** Splits the wait from `createdAt` until `startedAt`. The parts are whole milliseconds. */
export function splitWait({ createdAt, startedAt }: Wait, served: ServingTask): WaitParts {
  const end = Math.max(createdAt, startedAt);
  const parts: Partial<Record<WaitPart, number>> = {};
  let at: number = createdAt;
  let isGap = false;
  for (const { part, until } of [...timelineOf(served), { part: 'queued' as const, until: startedAt }]) {
    if (until === undefined) {
      isGap = true;
      continue;
    }
    const next = Math.min(end, Math.max(at, until));
    const name = isGap ? 'unknown' : part;
    if (next > at) parts[name] = (parts[name] ?? 0) + next - at;
    at = next;
    isGap = false;
  }
  return parts;
}

/** Adds up the parts of several waits. */
export function addParts(waits: readonly WaitParts[]): WaitParts {
  const total: Partial<Record<WaitPart, number>> = {};
  for (const parts of waits)
    for (const part of WAIT_PARTS) {
      const ms = parts[part] ?? 0;
      if (ms > 0) total[part] = (total[part] ?? 0) + ms;
    }
  return total;
}

function timelineOf({ task, daemon, requestedAt, noticedAt }: ServingTask): readonly Point[] {
  const registeredAt = registrationOf(task, daemon);
  return [
    ...launchOf(requestedAt, noticedAt, task?.createdAt),
    { part: 'provisioning', until: task?.pullStartedAt },
    { part: 'imagePull', until: task?.pullStoppedAt },
    { part: 'containerStart', until: task?.startedAt },
    { part: 'registration', until: registeredAt },
  ];
}

/**
 * Undefined: unknown. Without a guard a daemon has the name of its host. coderd keeps the row of an
 * earlier daemon with the same name, and the time at which it was made (docs/internals/coder.md
 * §2).
 */
function registrationOf(task: ServingTask['task'], daemon: ServingTask['daemon']): EpochMs | undefined {
  if (task?.createdAt === undefined || daemon === undefined) return daemon?.created_at;
  return daemon.created_at < task.createdAt ? undefined : daemon.created_at;
}

function launchOf(
  requestedAt: EpochMs | undefined,
  noticedAt: EpochMs | undefined,
  createdAt: EpochMs | undefined,
): readonly Point[] {
  if (requestedAt === undefined) return [{ part: 'notLaunched', until: createdAt }];
  // a task can be requested for another job before this one is seen
  const seenAt = Math.min(noticedAt ?? requestedAt, requestedAt) as EpochMs;
  return [
    { part: 'notNoticed', until: seenAt },
    { part: 'held', until: requestedAt },
    { part: 'launching', until: createdAt },
  ];
}
