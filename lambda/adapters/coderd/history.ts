/**
 * Reads past jobs and builds from coderd for a trace. Only the command line does this; a look does
 * not.
 */
import * as z from 'zod';
import type { EpochMs } from '../../decision/model/brands.ts';
import type { BuildInfo, Job } from '../../decision/model/snapshot.ts';
import type { Organization } from '../../look/ports.ts';
import { refuseOldServer } from './coderd.ts';
import type { CoderdHttp } from './http/http.ts';
import { jobSchema } from './http/schemas.ts';

/** About a week of jobs of some hundred users. */
const FIRST_LIMIT = 4_000;

/**
 * Reads the jobs of an organization that were created at or after `since`, newest first, in any
 * status. coderd's list has no pages and no filter by time (docs/coder.md §1). So this reads it
 * again with a larger limit until the oldest job is older than `since`. Throws CoderdError.
 */
export async function readJobsSince(
  http: CoderdHttp,
  organization: Organization,
  { since, build }: { readonly since: EpochMs; readonly build: BuildInfo | undefined },
): Promise<readonly Job[]> {
  refuseOldServer(build);
  const path = `/api/v2/organizations/${encodeURIComponent(organization.id)}/provisionerjobs`;
  for (let limit = FIRST_LIMIT; ; limit *= 4) {
    const { value } = await http.get(path, { limit: String(limit) }, z.array(jobSchema));
    const oldest = value.at(-1);
    if (value.length < limit || oldest === undefined || oldest.created_at < since)
      return value.filter(({ created_at }) => created_at >= since);
  }
}

/** codersdk.WorkspaceBuild. Its reason distinguishes builds of the lifecycle executor. */
const workspaceBuildSchema = z.object({
  initiator_id: z.string().nullish(),
  reason: z.string(),
  job: z.object({ id: z.string() }),
});

export type WorkspaceBuild = z.output<typeof workspaceBuildSchema>;

/** coderd writes a build and its job one after another, so their times differ a little. */
const SLACK_MS = 60_000;

/**
 * Reads the builds of a workspace since then, also of a deleted workspace. `GET
 * /api/v2/workspaces/{workspace}/builds?since=` (coderd/workspacebuilds.go) has no limit. Throws
 * CoderdError; the code is `not-found` if the token's user may not read the workspace.
 */
export async function readBuildsSince(
  http: CoderdHttp,
  workspaceId: string,
  since: EpochMs,
): Promise<readonly WorkspaceBuild[]> {
  const path = `/api/v2/workspaces/${encodeURIComponent(workspaceId)}/builds`;
  const query = { since: new Date(since - SLACK_MS).toISOString() };
  return (await http.get(path, query, z.array(workspaceBuildSchema))).value;
}
