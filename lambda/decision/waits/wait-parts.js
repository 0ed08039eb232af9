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
];
/** Splits the wait from `createdAt` until `startedAt`. The parts are whole milliseconds. */
export function splitWait({ createdAt, startedAt }, served) {
  const end = Math.max(createdAt, startedAt);
  const parts = {};
  let at = createdAt;
  let isGap = false;
  for (const { part, until } of [...timelineOf(served), { part: 'queued', until: startedAt }]) {
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
export function addParts(waits) {
  const total = {};
  for (const parts of waits)
    for (const part of WAIT_PARTS) {
      const ms = parts[part] ?? 0;
      if (ms > 0) total[part] = (total[part] ?? 0) + ms;
    }
  return total;
}
function timelineOf({ task, daemon, requestedAt, noticedAt }) {
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
function registrationOf(task, daemon) {
  if (task?.createdAt === undefined || daemon === undefined) return daemon?.created_at;
  return daemon.created_at < task.createdAt ? undefined : daemon.created_at;
}
function launchOf(requestedAt, noticedAt, createdAt) {
  if (requestedAt === undefined) return [{ part: 'notLaunched', until: createdAt }];
  // a task can be requested for another job before this one is seen
  const seenAt = Math.min(noticedAt ?? requestedAt, requestedAt);
  return [
    { part: 'notNoticed', until: seenAt },
    { part: 'held', until: requestedAt },
    { part: 'launching', until: createdAt },
  ];
}
