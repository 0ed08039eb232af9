/**
 * Reads the active versions of templates and their files (docs/internals/coder.md §6). Only the
 * command line does this; a look does not.
 */
import * as z from 'zod';
import type { CoderdHttp } from './http/http.ts';
import { templateVersionSchema } from './http/schemas.ts';

/** coderd accepts no larger file. */
export const LARGEST_FILE = 100 * 1024 * 1024;

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
