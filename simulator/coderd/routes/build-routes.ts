/**
 * `GET /api/v2/workspaces/{workspace}/builds`: the builds of a workspace
 * (coderd/workspacebuilds.go, GetWorkspaceBuildsByWorkspaceID).
 */

import { isUuid } from '../rules/uuids.ts';
import { mayReadWorkspaces } from '../tables/tokens.ts';
import type { BuildRecord } from '../tables/workspace-records.ts';
import { type Answer, badUuid, invalid, NOT_FOUND } from './answers.ts';
import type { UserRequest } from './route.ts';
import { buildAnswer } from './workspace-list.ts';

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Newest first, also for deleted workspaces. `since`: only later builds. `limit` 0: all. `after_id`
 * stands for its build's number: only builds with a higher number, which are newer, follow.
 */
export function workspaceBuilds({ model, user, parameters, rest: [id = ''] }: UserRequest): Answer {
  if (!isUuid(id)) return badUuid(id);
  const builds = model.buildsOf(id.toLowerCase());
  const [first] = builds;
  if (first === undefined || !mayReadWorkspaces(user, first.job.organizationId)) return NOT_FOUND;
  const afterId = parameters.uuid('after_id');
  const limit = parameters.positiveInt32('limit', 0);
  const offset = parameters.positiveInt32('offset', 0);
  const errors = parameters.invalid();
  if (errors.length > 0) return invalid(errors, 'Query parameters have invalid values.');
  const [since] = parameters.strings('since');
  if (since !== undefined && !RFC3339.test(since))
    return { status: 400, body: { message: 'bad `since` format, must be RFC3339' } };
  const after = builds.find((build) => build.id === afterId);
  if (afterId !== undefined && after === undefined)
    return { status: 400, body: { message: `Record at "after_id" ("${afterId}") does not exist.` } };
  const isAsked = ({ createdAt, number }: BuildRecord): boolean =>
    (since === undefined || createdAt > Date.parse(since)) && number > (after?.number ?? 0);
  const found = builds.filter(isAsked).toReversed();
  const page = found.slice(offset, limit === 0 ? undefined : offset + limit);
  const body = page.map((build) => buildAnswer(build, { id, name: build.job.workspace?.name ?? '' }, model));
  return { status: 200, body };
}
