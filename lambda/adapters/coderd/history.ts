/** What coderd has had to build: read by people, for a trace, never in a look. */
import * as z from 'zod';
import type { EpochMs } from '../../decision/model/brands.ts';
import type { BuildInfo, Job } from '../../decision/model/snapshot.ts';
import type { Organization } from '../../look/ports.ts';
import { refuseOldServer } from './coderd.ts';
import type { CoderdHttp } from './http/http.ts';
import { jobSchema } from './http/schemas.ts';

/** A week of some hundred users. */
const FIRST_LIMIT = 4_000;

/**
 * The jobs of an organization that were created since then, the newest first, whatever has become of them. The list has no pages
 * and no filter by time (docs/coder.md §1), so it is read again with a larger limit until it reaches back far enough. Throws CoderdError.
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

/** codersdk.WorkspaceBuild: by its reason the lifecycle executor tells what it builds. */
const workspaceBuildSchema = z.object({
  initiator_id: z.string().nullish(),
  reason: z.string(),
  job: z.object({ id: z.string() }),
});

export type WorkspaceBuild = z.output<typeof workspaceBuildSchema>;

/** A build and its job are written one after another. */
const SLACK_MS = 60_000;

/**
 * The builds of a workspace since then; deleted ones have theirs too. `GET /api/v2/workspaces/{workspace}/builds?since=`
 * (coderd/workspacebuilds.go) answers without a limit. Throws CoderdError, `not-found` where the token's user may not read the workspace.
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
