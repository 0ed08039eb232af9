/** The cause of a task's end, from ECS's stop code and reasons (docs/internals/aws.md §2). */
import type { DeathCause } from '../model/plan.ts';
import type { Task } from '../model/snapshot.ts';

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
  const cause = CAUSES[task.stopCode ?? ''] ?? 'unknown';
  return cause === 'scaling' && /maintenance|retire/i.test(task.stoppedReason ?? '') ? 'maintenance' : cause;
}

/** ECS's own words, and the exit code. A person can give any text to StopTask. */
export function reasonOfDeath(task: Task): string {
  const code = task.containers.find(({ exitCode }) => exitCode !== undefined)?.exitCode;
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
  if (cause === 'exited') return task.containers.some(({ exitCode }) => exitCode === KILLED);
  return cause !== 'scaling' && cause !== 'unknown';
}

function reasonsOf({ stoppedReason, containers }: Task): readonly string[] {
  return [stoppedReason, ...containers.map(({ reason }) => reason)].flatMap((reason) => reason || []);
}
