/** Active versions, their tags and their files (docs/internals/coder.md §6), for the command line only. */
import * as z from 'zod';
import type { OrganizationId } from '../../decision/model/brands.ts';
import type { Tags } from '../../decision/model/tags.ts';
import { ActiveVersions, listTemplates } from './forecast/template-versions.ts';
import { type CoderdHttp, wholeList } from './http/http.ts';
import { templateVersionSchema } from './http/schemas.ts';

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

/** coderd accepts no larger file. */
const LARGEST_FILE = 100 * 1024 * 1024;

const uploadedVersionSchema = templateVersionSchema.extend({
  job: templateVersionSchema.shape.job.extend({ file_id: z.string() }),
});

/** The tags of a version's jobs, and the id of its file. Throws CoderdError. */
export async function readVersion(http: CoderdHttp, id: string, signal: AbortSignal) {
  const path = `/api/v2/templateversions/${encodeURIComponent(id)}`;
  const { job } = (await http.get(path, {}, uploadedVersionSchema, signal)).value;
  return { tags: job.tags, fileId: job.file_id };
}

/** Reads an uploaded file as coderd stores it. Throws CoderdError. */
export function readFile(http: CoderdHttp, id: string, signal: AbortSignal): Promise<Uint8Array> {
  return http.download(`/api/v2/files/${encodeURIComponent(id)}`, LARGEST_FILE, signal);
}
