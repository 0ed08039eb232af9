/** Lists the templates that the token's user may read, deprecated ones too. */
import * as z from 'zod';
import { unique } from '../../../decision/model/collections.ts';
import type { CoderdHttp, Document } from '../http/http.ts';
import { listedTemplateSchema } from '../http/schemas.ts';

export type ListedTemplate = z.output<typeof listedTemplateSchema>;

/** Since 2.23 coderd lists deprecated templates only on request. Their workspaces are still built. */
const LISTS = [{}, { q: 'deprecated:true' }] as const;

/** Throws CoderdError. */
export async function listTemplates(
  http: CoderdHttp,
  signal?: AbortSignal,
): Promise<Document<readonly ListedTemplate[]>> {
  const lists = await Promise.all(
    LISTS.map((query) => http.get('/api/v2/templates', query, z.array(listedTemplateSchema), signal)),
  );
  const value = unique(
    lists.flatMap((answer) => answer.value),
    ({ id }) => id,
  );
  return { value, date: lists[0]?.date };
}
