/**
 * The lists of coderd: one schema and one reader for each, for looks, the forecast, keys, traces and `doctor`. A reader gives
 * the rows that fit, and what it left out. If coderd also gives a list as a page, `listOrPage` reads both, and only this
 * file changes. The second form of the list of jobs has other parameters too, which job-list.ts knows.
 */
import * as z from 'zod';
import { fieldOf, issuesAt, type Rows, type RowsSchema, rowsOf, textAt } from '../../shared/rows.ts';
import {
  daemonSchema,
  jobSchema,
  listedKeySchema,
  listedTemplateSchema,
  memberSchema,
  organizationSchema,
  workspaceSchema,
} from './schemas.ts';

/**
 * A list that coderd gives as itself or as a page: `{ [field]: rows, count }`. A page with fewer rows than its `count`, and
 * than the request allowed, is incomplete: nothing is concluded from what it lacks.
 */
export function listOrPage<T>(
  list: RowsSchema<T>,
  field: string,
  /** The most rows that the request allows. @default all */
  limit: number = Number.POSITIVE_INFINITY,
): RowsSchema<T> {
  const schema = z.unknown().transform((answer, context): Rows<T> => {
    const count = pageSchema.safeParse(answer).data?.count;
    const values = fieldOf(answer, field);
    const isPage = count !== undefined && Array.isArray(values);
    const { data: rows, error } = list.safeParse(isPage ? values : answer);
    if (error !== undefined) context.issues.push(...issuesAt(isPage ? [field] : [], error, answer));
    if (rows === undefined) return z.NEVER;
    if (!isPage) return rows;
    const listed = rows.items.length + rows.leftOut.length;
    if (Math.min(count, limit) <= listed) return { ...rows, count };
    const incomplete = `coderd counts ${count} ${field.replaceAll('_', ' ')} and lists ${listed}`;
    return { ...rows, count, incomplete };
  });
  return Object.assign(schema, { row: list.row });
}

const pageSchema = z.object({ count: z.int().min(0) });

// Building a schema takes longer than parsing a short list with it.
export const organizationRows = rowsOf(organizationSchema);

/** With the organization for which coderd accepts the pre-shared key. */
export const organizationRowsWithDefault = rowsOf(
  organizationSchema.extend({ is_default: z.boolean().nullish() }),
);

/** docs/internals/coder.md §1; job-list.ts asks for this list in both forms. */
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
