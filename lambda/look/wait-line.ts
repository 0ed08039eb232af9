/**
 * The log event of a started job, `message: "wait"`: one for each job, with flat fields for queries
 * of Logs Insights. Queries that count must first remove events with the same `id`: two processes
 * may see the same start.
 */
import type { IsoTime } from '../decision/model/plan.ts';
import { isoTime } from '../decision/report/waiting.ts';
import type { JobWait } from '../decision/waits/job-wait.ts';
import { WAIT_PARTS, type WaitPart } from '../decision/waits/wait-parts.ts';
import { tagText } from '../explain/format.ts';

export type WaitLine = {
  /** The job. */
  readonly id: string;
  /** Name. */
  readonly organization: string;
  readonly pool: string;
  /** The task id; absent: unknown. */
  readonly task?: string;
  /** `cluster=gpu, size=l`. */
  readonly tags: string;
  readonly type: string;
  readonly templateId?: string;
  readonly workspaceId?: string;
  /** `start`, `stop` or `delete`. */
  readonly transition?: string;
  readonly createdAt: IsoTime;
  readonly startedAt: IsoTime;
  /** The sum of the parts. */
  readonly waitMs: number;
} & { readonly [Part in WaitPart as `${Part}Ms`]?: number };

/** The fields of the log event. Parts of zero are left out. */
export function waitLine(wait: JobWait): WaitLine {
  const { parts, createdAt, startedAt, tags, task, templateId, workspaceId, transition, ...rest } = wait;
  return {
    ...rest,
    ...withoutNull({ task, templateId, workspaceId, transition }),
    tags: tagText(tags),
    createdAt: isoTime(createdAt),
    startedAt: isoTime(startedAt),
    ...Object.fromEntries(WAIT_PARTS.flatMap((part) => msOf(part, parts[part]))),
  };
}

function msOf(part: WaitPart, ms: number | undefined): [string, number][] {
  return ms === undefined ? [] : [[`${part}Ms`, ms]];
}

function withoutNull<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as never;
}
