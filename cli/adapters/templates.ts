/** Templates with the tags of their active versions, for the command line only. */

import { ActiveVersions, listTemplates } from '../../lambda/adapters/coderd/forecast/template-versions.ts';
import { type CoderdHttp, wholeList } from '../../lambda/adapters/coderd/http/http.ts';
import type { OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';

export type TemplateTags = {
  readonly name: string;
  readonly organization: OrganizationId;
  /** The tags of the active version; undefined if they could not be read. */
  readonly tags: Tags | undefined;
  readonly error?: unknown;
};

/** Deprecated ones too: their workspaces still need a daemon. Throws CoderdError if none can be listed. */
export async function readTemplateTags(
  http: CoderdHttp,
  signal: AbortSignal,
): Promise<readonly TemplateTags[]> {
  const listed = wholeList((await listTemplates(http, signal)).value);
  const ids = new Set(listed.map(({ active_version_id }) => active_version_id));
  const { known: tags, failures } = await new ActiveVersions(http).read(ids, signal);
  return listed.map(({ name, organization_id: organization, active_version_id: version }) => ({
    name,
    organization,
    tags: tags.get(version),
    error: failures.get(version),
  }));
}
