/**
 * Reads the tags of the active version of each template, whether workspaces use it or not. Only the
 * command line does this; a look does not.
 */
import type { OrganizationId } from '../../decision/model/brands.ts';
import type { Tags } from '../../decision/model/tags.ts';
import { ActiveVersions } from './forecast/active-versions.ts';
import { listTemplates } from './forecast/template-list.ts';
import type { CoderdHttp } from './http/http.ts';

export type TemplateTags = {
  readonly name: string;
  readonly organization: OrganizationId;
  /** The tags of the active version; undefined if they could not be read. */
  readonly tags: Tags | undefined;
  /** The error that prevented the reading. */
  readonly error?: unknown;
};

/**
 * The templates that the token's user may read, deprecated ones too: their workspaces still need a
 * daemon. Throws CoderdError if they cannot be listed.
 */
export async function readTemplateTags(
  http: CoderdHttp,
  signal: AbortSignal,
): Promise<readonly TemplateTags[]> {
  const { value: listed } = await listTemplates(http, signal);
  const ids = new Set(listed.map(({ active_version_id }) => active_version_id));
  const { tags, failures } = await new ActiveVersions(http).read(ids, signal);
  return listed.map(({ name, organization_id: organization, active_version_id: version }) => ({
    name,
    organization,
    tags: tags.get(version),
    error: failures.get(version),
  }));
}
