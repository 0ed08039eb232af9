/**
 * The transition of a pending or running build: start, stop or delete. Starts take longer than
 * stops. coderd before 2.33 does not tell the transition of a job (docs/internals/coder.md §1), but
 * the list of workspaces nearly always does.
 */
import type { Job, OrganizationReadings, Workspace } from '../model/snapshot.ts';

/** Makes a function that derives the transition of a job. Undefined: unknown. */
export function transitionsIn({ workspaces }: OrganizationReadings): (job: Job) => string | undefined {
  const known = new Map((workspaces?.items ?? []).map((workspace) => [workspace.id, workspace]));
  return ({ metadata, id, created_at }) => {
    const told = metadata?.workspace_build_transition;
    const workspaceId = metadata?.workspace_id;
    if (told != null || workspaceId == null) return told ?? undefined;
    const workspace = known.get(workspaceId);
    if (workspace !== undefined) return afterOrAt(workspace, id);
    // the workspace is younger than the list
    const isNew = workspaces?.status === 'ok' && created_at > (workspaces.takenAt ?? created_at);
    return isNew ? 'start' : undefined;
  };
}

function afterOrAt({ latest_build: build }: Workspace, job: string): string | undefined {
  if (build.job.id === job) return build.transition;
  return NEXT.get(build.transition);
}

/** The build that usually follows. */
const NEXT: ReadonlyMap<string, string> = new Map([
  ['start', 'stop'],
  ['stop', 'start'],
]);
