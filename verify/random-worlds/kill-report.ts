/** What happened to a build that was killed: the last states of its task. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Protection, TaskState } from '../../simulator/ecs/task.ts';
import type { Kill } from '../../simulator/world.ts';

const LAST = 6;

/** Tells of one kill, in a line for people and the last states below it. */
export function storyOf({ task, pool, job, at }: Kill): string {
  const { stopCode, stoppedReason } = task.state;
  return [
    `task ${task.identity.id} of pool "${pool}" was killed at ${timeText(at)} under job ${job.id}: ${stopCode} (${stoppedReason})`,
    ...task.states.entries.slice(-LAST).map((entry) => `  ${timeText(entry.at)}  ${stateText(entry.value)}`),
    ...task.protections.entries
      .slice(-LAST)
      .map((entry) => `  ${timeText(entry.at)}  ${protectionText(entry.value)}`),
  ].join('\n');
}

function stateText({ lastStatus, desiredStatus, exitCode }: TaskState): string {
  return `${lastStatus}, to be ${desiredStatus}${exitCode === undefined ? '' : `, exit code ${exitCode}`}`;
}

function protectionText({ enabled, expiresAt, byHand }: Protection): string {
  if (enabled) return `protected until ${expiresAt === undefined ? 'for ever' : timeText(expiresAt)}`;
  return byHand ? 'not protected, by hand' : 'not protected';
}

/** A world's time, to the second. */
export const timeText = (time: EpochMs): string => new Date(time).toISOString().slice(0, 19);
