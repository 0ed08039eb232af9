/** How long the `terraform init` of a build took (docs/internals/coder.md §13), for the command line only. */
import * as z from 'zod';
import type { BuildInfo, Daemon } from '../../decision/model/snapshot.ts';
import { filtersDaemons } from '../../decision/model/version.ts';
import type { Organization } from '../../look/ports.ts';
import { time } from '../shared/time.ts';
import type { CoderdHttp } from './http/http.ts';
import { daemonSchema, listPath } from './http/schemas.ts';

const timingsSchema = z.object({
  provisioner_timings: z.array(z.object({ stage: z.string(), started_at: time, ended_at: time })),
});

/**
 * From the first row of `init` to the end of its last one, since releases differ in the rows. Undefined if
 * coderd has none, as for a build that failed, or if the clock of the daemon's host was set back.
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
  const path = listPath(organization, 'provisionerdaemons');
  const offline = filtersDaemons(build?.version) ? { offline: 'true' } : {};
  return (await http.get(path, { limit: '0', ...offline }, z.array(daemonSchema))).value;
}
