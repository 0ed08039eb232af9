/**
 * Reads the tags of the active version of each template, whether workspaces use it or not. Only the
 * command line does this; a look does not.
 */
import * as z from 'zod';
import type { OrganizationId } from '../../decision/model/brands.ts';
import { unique } from '../../decision/model/collections.ts';
import type { Tags } from '../../decision/model/tags.ts';
import { ActiveVersions } from './forecast/active-versions.ts';
import { TEMPLATE_LISTS } from './forecast/forecast-reading.ts';
import type { CoderdHttp } from './http/http.ts';
import { listedTemplateSchema } from './http/schemas.ts';

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
  const lists = await Promise.all(
    TEMPLATE_LISTS.map((query) =>
      http.get('/api/v2/templates', query, z.array(listedTemplateSchema), signal),
    ),
  );
  const listed = unique(
    lists.flatMap(({ value }) => value),
    ({ id }) => id,
  );
  const ids = new Set(listed.map(({ active_version_id }) => active_version_id));
  const { tags, failures } = await new ActiveVersions(http).read(ids, signal);
  return listed.map(({ name, organization_id: organization, active_version_id: version }) => ({
    name,
    organization,
    tags: tags.get(version),
    error: failures.get(version),
  }));
}
