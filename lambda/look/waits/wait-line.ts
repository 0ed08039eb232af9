/**
 * The log event of a started job, `message: "wait"`: one for each job, with flat fields for queries
 * of Logs Insights. Queries that count must first remove events with the same `id`: two processes
 * may see the same start. A busy deployment writes as many of these events as looks, so they have
 * only what coderd does not tell later.
 */
import { isoTime } from '../../decision/model/brands.ts';
import type { IsoTime } from '../../decision/model/plan.ts';
import type { JobWait } from './job-wait.ts';
import { WAIT_PARTS, type WaitPart } from './wait-parts.ts';

export type WaitLine = {
  /** The job. */
  readonly id: string;
  readonly pool: string;
  /** The task id; absent: unknown. */
  readonly task?: string;
  readonly startedAt: IsoTime;
  /** The sum of the parts. */
  readonly waitMs: number;
  /** What the first look that saw the job promised, from the submission: p50 and p95 of the wait. */
  readonly promisedFromMs?: number;
  readonly promisedToMs?: number;
  /** The pool again, as in the event of a look: so one query can unnest the lists of both. */
  readonly pools: readonly [{ readonly name: string; readonly waitMs: number }];
} & { readonly [Part in WaitPart as `${Part}Ms`]?: number };

/** The fields of the log event. Parts of zero are left out. */
export function waitLine({
  id,
  pool,
  task,
  createdAt,
  startedAt,
  waitMs,
  parts,
  promised,
}: JobWait): WaitLine {
  return {
    id,
    pool,
    ...(task === null ? {} : { task }),
    startedAt: isoTime(startedAt),
    waitMs,
    pools: [{ name: pool, waitMs }],
    ...(promised && {
      promisedFromMs: Date.parse(promised.p50) - createdAt,
      promisedToMs: Date.parse(promised.p95) - createdAt,
    }),
    ...Object.fromEntries(WAIT_PARTS.flatMap((part) => msOf(part, parts[part]))),
  };
}

function msOf(part: WaitPart, ms: number | undefined): [string, number][] {
  return ms === undefined ? [] : [[`${part}Ms`, ms]];
}
