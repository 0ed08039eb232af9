/**
 * Reads the builds of workspaces and how long their `terraform init` took (docs/internals/coder.md
 * §13). Only the command line does this; a look does not.
 */
import * as z from 'zod';
import type { DaemonId, EpochMs, JobId, OrganizationId } from '../../decision/model/brands.ts';
import type { BuildInfo, Daemon } from '../../decision/model/snapshot.ts';
import { filtersDaemons } from '../../decision/model/version.ts';
import type { Organization } from '../../look/ports.ts';
import { time } from '../shared/time.ts';
import type { CoderdHttp } from './http/http.ts';
import { daemonSchema, jobSchema } from './http/schemas.ts';

const text = <T extends string>(): z.ZodType<T, T> => z.string() as unknown as z.ZodType<T, T>;

/** codersdk.Workspace, as far as it says whether there may be builds. */
const listedWorkspaceSchema = z.object({
  id: z.string(),
  organization_id: text<OrganizationId>(),
  template_id: z.string(),
  latest_build: z.object({ created_at: time }),
});
const pageSchema = z.object({ workspaces: z.array(listedWorkspaceSchema), count: z.int().min(0) });

export type ListedWorkspace = z.output<typeof listedWorkspaceSchema>;

/** codersdk.WorkspaceBuild with the job of its daemon. */
const buildSchema = z.object({
  id: z.string(),
  template_version_id: z.string(),
  initiator_id: z.string().nullish(),
  reason: z.string(),
  job: z.object({
    id: text<JobId>(),
    status: z.string(),
    started_at: time.nullish(),
    worker_id: text<DaemonId>().nullish(),
  }),
});

export type TimedBuild = z.output<typeof buildSchema>;

const timingsSchema = z.object({
  provisioner_timings: z.array(z.object({ stage: z.string(), started_at: time, ended_at: time })),
});

const PAGE = 250;

/** The workspaces at this offset, and how many coderd has on all pages. */
export async function readWorkspacePage(http: CoderdHttp, offset: number) {
  const query = { limit: String(PAGE), offset: String(offset) };
  return { size: PAGE, ...(await http.get('/api/v2/workspaces', query, pageSchema)).value };
}

/** The builds of a workspace since then, newest first, also of a deleted workspace. */
export async function readBuildsOf(
  http: CoderdHttp,
  workspaceId: string,
  since: EpochMs,
): Promise<readonly TimedBuild[]> {
  const path = `/api/v2/workspaces/${encodeURIComponent(workspaceId)}/builds`;
  return (await http.get(path, { since: new Date(since).toISOString() }, z.array(buildSchema))).value;
}

/**
 * Seconds of the `init` stage of a build: from its first row to the end of its last one, since
 * releases differ in the rows. Undefined if coderd has none, as for a build that failed, or if the
 * clock of the daemon's host was set back meanwhile.
 */
export async function readInitSeconds(http: CoderdHttp, buildId: string): Promise<number | undefined> {
  const path = `/api/v2/workspacebuilds/${encodeURIComponent(buildId)}/timings`;
  const { value } = await http.get(path, {}, timingsSchema);
  // releases before 2.24 may send a zero time of Go
  const rows = value.provisioner_timings.filter((row) => row.stage === 'init' && row.started_at > 0);
  if (rows.length === 0 || rows.some((row) => row.ended_at < row.started_at)) return undefined;
  const start = Math.min(...rows.map(({ started_at }) => started_at));
  return (Math.max(...rows.map(({ ended_at }) => ended_at)) - start) / 1000;
}

/** All daemons that coderd has a row of, offline ones too: it keeps a row for 7 days. */
export async function readAllDaemons(
  http: CoderdHttp,
  organization: Organization,
  build: BuildInfo | undefined,
): Promise<readonly Daemon[]> {
  const path = `/api/v2/organizations/${encodeURIComponent(organization.id)}/provisionerdaemons`;
  const offline = filtersDaemons(build?.version) ? { offline: 'true' } : {};
  return (await http.get(path, { limit: '0', ...offline }, z.array(daemonSchema))).value;
}

/** At most 100 ids: a URL with so many is shorter than 4 KB. */
export async function readJobsByIds(http: CoderdHttp, { id }: Organization, ids: readonly string[]) {
  const path = `/api/v2/organizations/${encodeURIComponent(id)}/provisionerjobs`;
  return (await http.get(path, { ids: ids.join(','), limit: '0' }, z.array(jobSchema))).value;
}
