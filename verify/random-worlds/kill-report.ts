/** Describes how a build was killed, from the last states and protections of its task. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { EcsTaskState, Protection } from '../../simulator/ecs/task.ts';
import type { Kill } from '../../simulator/world.ts';

const LAST = 6;

/** One line about the kill, then the last states of its task, one a line. */
export function describeKill({ task, pool, job, at }: Kill): string {
  const { stopCode, stoppedReason } = task.state;
  return [
    `task ${task.identity.id} of pool "${pool}" was killed at ${timeText(at)} while it ran job ${job.id}: ${stopCode} (${stoppedReason})`,
    ...task.states.entries.slice(-LAST).map((entry) => `  ${timeText(entry.at)}  ${stateText(entry.value)}`),
    ...task.protections.entries
      .slice(-LAST)
      .map((entry) => `  ${timeText(entry.at)}  ${protectionText(entry.value)}`),
  ].join('\n');
}

function stateText({ lastStatus, desiredStatus, exitCode }: EcsTaskState): string {
  return `${lastStatus}, desired ${desiredStatus}${exitCode === undefined ? '' : `, exit code ${exitCode}`}`;
}

function protectionText({ enabled, expiresAt, byHand }: Protection): string {
  if (enabled)
    return `protected ${expiresAt === undefined ? 'without an end' : `until ${timeText(expiresAt)}`}`;
  return byHand ? 'not protected: a person removed the protection' : 'not protected';
}

/** A time in the world as text, to the second. */
export const timeText = (time: EpochMs): string => new Date(time).toISOString().slice(0, 19);
