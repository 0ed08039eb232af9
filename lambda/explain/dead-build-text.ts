/** Words the builds that died with their tasks: the cause, and what to check in the cloud. */
import type { DeadBuild, DeathCause, FindingOf } from '../decision/model/plan.ts';
import { few, some, timeText } from './format.ts';

const CAUSES: Readonly<Record<DeathCause, string>> = {
  spot: 'Spot interruption',
  host: 'host failure',
  maintenance: 'maintenance by AWS',
  memory: 'out of memory',
  'by-hand': 'stopped by hand',
  exited: 'its daemon ended, up to 4 min before the task stopped',
  scaling: 'stopped for a scale-in or a deployment',
  unknown: 'unknown cause',
};

export function causeText(cause: DeathCause): string {
  return CAUSES[cause];
}

export function deadBuildsText({ pool, builds }: FindingOf<'build-died-with-task'>): string {
  const [one] = builds;
  const which = few(
    builds.map((build) => `${buildText(build)} (${causeText(build.cause)}, ${timeText(build.stoppedAt)})`),
  );
  const advice =
    builds.length === 1 && one !== undefined ? checkText(one) : 'Run `autoscaler explain --dead`';
  return `pool "${pool}": ${some(builds.length, 'build')} died with ${builds.length === 1 ? 'its task' : 'their tasks'}: ${which}. Resources may be left over in the cloud. coderd never got the new state. ${advice}`;
}

export function unknownBuildText({ pool, tasks }: FindingOf<'build-of-task-unknown'>): string {
  const one = tasks.length === 1;
  return `pool "${pool}": ${some(tasks.length, 'task')} ended unasked (${few(tasks)}), and coderd does not list ${one ? 'its daemon' : 'their daemons'} any more (provisioner key deleted?). It is unknown whether ${one ? 'it' : 'they'} ran a build. Check the builds that failed in Coder up to 10 min later`;
}

/** `start of alice/dev`. */
export function buildText({ transition, ...build }: Named & Pick<DeadBuild, 'transition'>): string {
  return `${transition ?? 'build'} of ${workspaceText(build)}`;
}

type Named = Pick<DeadBuild, 'workspace' | 'workspaceId' | 'owner'>;

/** `alice/dev`, as far as the names are known. */
function workspaceText({ workspace, workspaceId, owner }: Named): string {
  const name = workspace ?? (workspaceId === null ? 'an unknown workspace' : `workspace ${workspaceId}`);
  return isNamed({ workspace, owner }) ? `${owner}/${name}` : name;
}

/** Without an owner, `coder` takes the name for that of the caller's own workspace. */
function isNamed({ workspace, owner }: Pick<Named, 'workspace' | 'owner'>): boolean {
  return workspace !== null && owner !== null;
}

type Checked = Named & Pick<DeadBuild, 'transition' | 'startedAt' | 'stoppedAt'>;

/** What a person should check in the cloud, and do in Coder. */
export function checkText(build: Checked): string {
  const name = workspaceText(build);
  const pull = `\`coder state pull ${isNamed(build) ? name : 'OWNER/WORKSPACE'}\``;
  const span = `from ${timeText(build.startedAt)} to ${timeText(build.stoppedAt)}`;
  switch (build.transition) {
    case 'start':
      return `In the cloud, find resources of ${name} that were created ${span}. Delete those that ${pull} does not list. Then start the workspace again`;
    case 'stop':
      return `Stop ${name} again in Coder. Then check in the cloud that nothing of it still runs, and that nothing was changed by half ${span}`;
    case 'delete':
      return `Delete ${name} again in Coder. Then check in the cloud that nothing of it is left`;
    default:
      return `In the cloud, compare the resources of ${name} that were created or changed ${span} with ${pull}. Then repeat the build`;
  }
}
