/** Finds builds that were killed, and describes how, from the last states of their tasks. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { EcsTaskState, Protection } from '../../simulator/ecs/task.ts';
import type { Kill, World } from '../../simulator/world.ts';

const LAST = 6;

/** One text for each build that a scale-in or a deployment killed. */
export function killedBuilds(world: World): readonly string[] {
  return world
    .kills()
    .filter(({ by }) => by === 'us')
    .map(describeKill);
}

/** More hung jobs of coderd than known kills and crashes: a build was killed unnoticed. */
export function lostJobs(world: World, crashed: number): readonly string[] {
  const hung = world.coderd.jobs().filter(({ failedBy }) => failedBy === 'hung-reaper').length;
  const known = world.kills().length + crashed;
  return hung > known
    ? [`coderd found ${hung} hung builds, but only ${known} builds were killed or crashed`]
    : [];
}

/** One line about the kill, then the last states of its task, one a line. */
function describeKill({ task, pool, job, at }: Kill): string {
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
