/** Reads one job with the names that people know. Only the command line does this. */
import * as z from 'zod';
import type { OrganizationId } from '../../decision/model/brands.ts';
import type { CoderdHttp } from './http/http.ts';
import { jobSchema } from './http/schemas.ts';

/** docs/coder.md §1. The names are missing in answers of old servers and for other kinds of jobs. */
const detailsSchema = jobSchema.extend({
  error: z.string().nullish(),
  metadata: z
    .object({
      workspace_id: z.string().nullish(),
      workspace_name: z.string().nullish(),
      template_id: z.string().nullish(),
      template_name: z.string().nullish(),
      template_version_name: z.string().nullish(),
      workspace_build_transition: z.string().nullish(),
    })
    .nullish(),
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
