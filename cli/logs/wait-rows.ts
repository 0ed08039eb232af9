/** Reads rows of Logs Insights about started jobs (lambda/look/wait-line.ts). */
import * as z from 'zod';
import type { InsightsRow } from '../../lambda/adapters/insights.ts';
import { WAIT_PARTS, type WaitPart, type WaitParts } from '../../lambda/decision/waits/wait-parts.ts';

const ms = z.coerce.number().nonnegative();
const partFields = Object.fromEntries(WAIT_PARTS.map((part) => [`${part}Ms`, ms.optional()])) as Readonly<
  Record<`${WaitPart}Ms`, z.ZodOptional<typeof ms>>
>;

const rowSchema = z.object({
  id: z.string(),
  pool: z.string(),
  task: z.string().optional(),
  waitMs: ms,
  promisedFromMs: z.coerce.number().optional(),
  promisedToMs: z.coerce.number().optional(),
  ...partFields,
});

/** The fields to request. */
export const WAIT_FIELDS: readonly string[] = Object.keys(rowSchema.shape);

export type LoggedWait = {
  readonly id: string;
  readonly pool: string;
  /** The task id; null: unknown. */
  readonly task: string | null;
  readonly waitMs: number;
  /** What the first look that saw the job promised, in milliseconds from the submission. Null: unknown. */
  readonly promised: { readonly fromMs: number; readonly toMs: number } | null;
  readonly parts: WaitParts;
};

/** Undefined for a row of an unknown version. */
export function loggedWait(row: InsightsRow): LoggedWait | undefined {
  const { data } = rowSchema.safeParse(row);
  if (data === undefined) return undefined;
  const { id, pool, task = null, waitMs, promisedFromMs: fromMs, promisedToMs: toMs } = data;
  const parts = WAIT_PARTS.flatMap((part) => {
    const partMs = data[`${part}Ms`] ?? 0;
    return partMs > 0 ? [[part, partMs]] : [];
  });
  const promised = fromMs === undefined || toMs === undefined ? null : { fromMs, toMs };
  return { id, pool, task, waitMs, promised, parts: Object.fromEntries(parts) };
}
