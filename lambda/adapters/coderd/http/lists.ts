/**
 * The lists of coderd: one schema and one reader for each, for looks, the forecast, keys, traces and `doctor`. A reader gives
 * the rows that fit, and what it left out. If coderd gives a list in another form, only this file changes.
 */
import * as z from 'zod';
import { rowsOf, textAt } from '../../shared/rows.ts';
import {
  daemonSchema,
  jobSchema,
  listedKeySchema,
  listedTemplateSchema,
  memberSchema,
  organizationSchema,
  workspaceSchema,
} from './schemas.ts';

// Building a schema takes longer than parsing a short list with it.
export const organizationRows = rowsOf(organizationSchema);

/** With the organization for which coderd accepts the pre-shared key. */
export const organizationRowsWithDefault = rowsOf(
  organizationSchema.extend({ is_default: z.boolean().nullish() }),
);

/** docs/internals/coder.md §1; job-list.ts reads the second form of this list too. */
export const jobRows = rowsOf(jobSchema);

/** docs/internals/coder.md §2 */
export const daemonRows = rowsOf(daemonSchema);

/** docs/internals/coder.md §3 */
export const keyRows = rowsOf(listedKeySchema);

export const memberRows = rowsOf(memberSchema);

/** The same list with the names and roles of the members, which no look reads. */
export const namedMemberRows = rowsOf(
  z.object({ username: z.string(), roles: z.array(z.object({ name: z.string() })).nullish() }),
);

/** docs/internals/coder.md §10: the builds of a workspace. */
export const buildRows = rowsOf(workspaceSchema.shape.latest_build);

/** The same list with what a trace needs of each build. Its reason distinguishes builds of the lifecycle executor. */
export const buildReasonRows = rowsOf(
  z.object({ initiator_id: z.string().nullish(), reason: z.string(), job: z.object({ id: z.string() }) }),
);

const organizationOf = (row: unknown) => textAt(row, 'organization_id');

export const templateRows = rowsOf(listedTemplateSchema, organizationOf);

/** docs/internals/coder.md §10. `count`: the number of workspaces on all pages. */
export const workspacesPageSchema = z.object({
  workspaces: rowsOf(workspaceSchema, organizationOf),
  count: z.int().min(0),
});
