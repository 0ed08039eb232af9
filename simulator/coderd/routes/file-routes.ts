/**
 * `GET /api/v2/files/{id}`: the archive of a template version (coderd/files.go, GetFileByID in
 * coderd/database/dbauthz).
 */

import { tarArchive } from '../rules/tar.ts';
import { isUuid } from '../rules/uuids.ts';
import { mayRead, mayReadWorkspaces } from '../tables/tokens.ts';
import { type Answer, NOT_FOUND } from './answers.ts';
import type { UserRequest } from './route.ts';

/** Of versions for which the model has no archive. */
const WITHOUT_LOCK_FILE = tarArchive({ 'main.tf': '# a template\n' });
const BAD_ID: Answer = { status: 400, body: { message: 'File id must be a valid UUID.' } };

/**
 * Who may update the template may read its files. Simulated users have that right with those of the
 * role organization template admin: to read jobs and templates.
 */
export function uploadedFile({ model, user, rest: [id = ''] }: UserRequest): Answer {
  if (!isUuid(id)) return BAD_ID;
  for (const { versions, organizationId } of model.templates()) {
    const version = versions.find(({ fileId }) => fileId === id.toLowerCase());
    if (version === undefined) continue;
    const mayUpdate = mayRead(user, organizationId) && mayReadWorkspaces(user, organizationId);
    return mayUpdate ? { status: 200, body: version.archive ?? WITHOUT_LOCK_FILE } : NOT_FOUND;
  }
  return NOT_FOUND;
}
