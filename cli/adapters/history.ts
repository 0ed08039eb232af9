/** Past jobs and builds, for traces. Only the command line reads them. */
import * as z from 'zod';
import { refuseOldServer } from '../../lambda/adapters/coderd/coderd.ts';
import { type CoderdHttp, wholeList } from '../../lambda/adapters/coderd/http/http.ts';
import { jobMetadataSchema, jobSchema } from '../../lambda/adapters/coderd/http/schemas.ts';
import { listJobs } from '../../lambda/adapters/coderd/job-list.ts';
import { rowsOf } from '../../lambda/adapters/shared/rows.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { BuildInfo } from '../../lambda/decision/model/snapshot.ts';
import type { Organization } from '../../lambda/look/ports.ts';

/** About a week of jobs of some hundred users. */
const FIRST_LIMIT = 4_000;

type Since<T> = {
  readonly since: EpochMs;
  readonly build: BuildInfo | undefined;
  readonly schema: z.ZodType<T>;
};

/** Jobs that were created at or after a time, newest first, in any status. */
type JobsSince<T> = {
  readonly jobs: readonly T[];
  readonly hasOlder: boolean;
};

/**
 * coderd's list has no pages and no filter by time (docs/internals/coder.md §1). So this reads it again with a
 * larger limit until the oldest job is older than `since`. Throws CoderdError.
 */
export async function readJobsSince<T extends { readonly created_at: EpochMs }>(
  http: CoderdHttp,
  organization: Organization,
  { since, build, schema }: Since<T>,
): Promise<JobsSince<T>> {
  refuseOldServer(build);
  for (let limit = FIRST_LIMIT; ; limit *= 4) {
    const asked = { filter: {}, limit: String(limit), rows: rowsOf(schema) };
    const value = wholeList((await listJobs(http, organization, asked)).value);
    const jobs = value.filter(({ created_at }) => created_at >= since);
    const hasOlder = jobs.length < value.length;
    if (value.length < limit || hasOlder) return { jobs, hasOlder };
  }
}

/** docs/internals/coder.md §1. */
const detailsSchema = jobSchema.extend({
  error: z.string().nullish(),
  metadata: jobMetadataSchema.extend({ template_version_name: z.string().nullish() }).nullish(),
});

export type JobDetails = z.output<typeof detailsSchema>;

/** Reads one job with the names that people know; undefined if the organization has none. Throws CoderdError. */
export async function readJobDetails(
  http: CoderdHttp,
  organization: Pick<Organization, 'id'>,
  id: string,
): Promise<JobDetails | undefined> {
  const asked = { filter: { ids: id }, limit: '1', rows: rowsOf(detailsSchema) };
  return wholeList((await listJobs(http, organization, asked)).value)[0];
}
