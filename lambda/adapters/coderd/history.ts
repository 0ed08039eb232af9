/**
 * Reads past jobs and builds from coderd, for traces and sizes. Only the command line does this; a look does
 * not.
 */
import * as z from 'zod';
import type { EpochMs } from '../../decision/model/brands.ts';
import type { BuildInfo, Job } from '../../decision/model/snapshot.ts';
import type { Organization } from '../../look/ports.ts';
import { time } from '../shared/time.ts';
import { refuseOldServer } from './coderd.ts';
import type { CoderdHttp } from './http/http.ts';
import { jobSchema } from './http/schemas.ts';

/** About a week of jobs of some hundred users. */
const FIRST_LIMIT = 4_000;

type Since = { readonly since: EpochMs; readonly build: BuildInfo | undefined };

/** Jobs that were created at or after a time, newest first, in any status. */
export type JobsSince<T> = {
  readonly jobs: readonly T[];
  /** Whether coderd has older jobs, too. */
  readonly hasOlder: boolean;
};

/** Reads the jobs of an organization. Throws CoderdError. */
export function readJobsSince(
  http: CoderdHttp,
  organization: Organization,
  since: Since,
): Promise<JobsSince<Job>> {
  return listSince(http, organization, { ...since, schema: jobSchema });
}

/** A job with what shows where and how it ended. */
const outcomeSchema = z.object({
  created_at: time,
  started_at: time.nullish(),
  completed_at: time.nullish(),
  canceled_at: time.nullish(),
  /** The name of the daemon, from 2.23 on (docs/internals/coder.md §1). */
  worker_name: z.string().nullish(),
  error: z.string().nullish(),
});

export type JobOutcome = z.output<typeof outcomeSchema>;

/** As `readJobsSince`, with the name of the daemon and the error of each job. */
export async function readOutcomesSince(
  http: CoderdHttp,
  organization: Organization,
  since: Since,
): Promise<readonly JobOutcome[]> {
  return (await listSince(http, organization, { ...since, schema: outcomeSchema })).jobs;
}

/** A job with what shows which daemon ran it, from which files, and for which build. */
const runSchema = z.object({
  created_at: time,
  started_at: time.nullish(),
  status: z.string(),
  worker_id: z.string().nullish(),
  file_id: z.string(),
  input: z.object({ workspace_build_id: z.string().nullish() }),
});

export type JobRun = z.output<typeof runSchema>;

/** As `readJobsSince`, with the daemon, the files and the build of each job. */
export async function readRunsSince(
  http: CoderdHttp,
  organization: Organization,
  since: Since,
): Promise<readonly JobRun[]> {
  return (await listSince(http, organization, { ...since, schema: runSchema })).jobs;
}

/**
 * coderd's list has no pages and no filter by time (docs/internals/coder.md §1). So this reads it
 * again with a larger limit until the oldest job is older than `since`.
 */
async function listSince<T extends { readonly created_at: EpochMs }>(
  http: CoderdHttp,
  organization: Organization,
  { since, build, schema }: Since & { readonly schema: z.ZodType<T> },
): Promise<JobsSince<T>> {
  refuseOldServer(build);
  const path = `/api/v2/organizations/${encodeURIComponent(organization.id)}/provisionerjobs`;
  for (let limit = FIRST_LIMIT; ; limit *= 4) {
    const { value } = await http.get(path, { limit: String(limit) }, z.array(schema));
    const jobs = value.filter(({ created_at }) => created_at >= since);
    const hasOlder = jobs.length < value.length;
    if (value.length < limit || hasOlder) return { jobs, hasOlder };
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
