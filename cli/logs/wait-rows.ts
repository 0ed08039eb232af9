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
  readonly parts: WaitParts;
};

/** Undefined for a row of an unknown version. */
export function loggedWait(row: InsightsRow): LoggedWait | undefined {
  const { data } = rowSchema.safeParse(row);
  if (data === undefined) return undefined;
  const { id, pool, task = null, waitMs } = data;
  const parts = WAIT_PARTS.flatMap((part) => {
    const partMs = data[`${part}Ms`] ?? 0;
    return partMs > 0 ? [[part, partMs]] : [];
  });
  return { id, pool, task, waitMs, parts: Object.fromEntries(parts) };
}
