/** Reads one job with the names that people know. Only the command line does this. */
import * as z from 'zod';
import type { OrganizationId } from '../../decision/model/brands.ts';
import type { CoderdHttp } from './http/http.ts';
import { jobMetadataSchema, jobSchema } from './http/schemas.ts';

/** docs/internals/coder.md §1. */
const detailsSchema = jobSchema.extend({
  error: z.string().nullish(),
  metadata: jobMetadataSchema.extend({ template_version_name: z.string().nullish() }).nullish(),
});

export type JobDetails = z.output<typeof detailsSchema>;

/** The job with this id; undefined if the organization has none. Throws CoderdError. */
export async function readJobDetails(
  http: CoderdHttp,
  organization: OrganizationId,
  id: string,
): Promise<JobDetails | undefined> {
  const path = `/api/v2/organizations/${encodeURIComponent(organization)}/provisionerjobs`;
  const { value } = await http.get(path, { ids: id, limit: '1' }, z.array(detailsSchema));
  return value[0];
}
