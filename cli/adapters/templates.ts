/** Templates with the tags and providers of their active versions, for the command line only. */
import * as z from 'zod';
import { ActiveVersions, listTemplates } from '../../lambda/adapters/coderd/forecast/template-versions.ts';
import { type CoderdHttp, wholeList } from '../../lambda/adapters/coderd/http/http.ts';
import type { OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';

export type TemplateTags = {
  readonly name: string;
  readonly organization: OrganizationId;
  /** The id of the active version. */
  readonly version: string;
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
    version,
    tags: tags.get(version),
    error: failures.get(version),
  }));
}

const logLines = z.array(z.object({ output: z.string() }));

/** `hashicorp/aws v5.1.0`, without a host: of the public registry. */
const PROVIDER = /(?:^|\s)([\w-]+\/[\w-]+) v(\d+\.\d+\.\d+[\w.-]*?)(?=\.{3}|[:\s]|$)/;

/**
 * The providers that Terraform installed when coderd imported the version, as `hashicorp/aws 5.1.0`
 * (docs/internals/coder.md §10). Throws CoderdError.
 */
export async function readProviders(http: CoderdHttp, version: string): Promise<readonly string[]> {
  const path = `/api/v2/templateversions/${encodeURIComponent(version)}/logs`;
  const { value: lines } = await http.get(path, {}, logLines);
  const found = lines.flatMap(({ output }) => {
    const [, name, release] = PROVIDER.exec(output) ?? [];
    return name === undefined ? [] : [`${name} ${release}`];
  });
  return [...new Set(found)];
}
