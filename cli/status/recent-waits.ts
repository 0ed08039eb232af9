/** Where the waits of the last hour went, from the function's log lines about started jobs. */
import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { percentile, sum } from '../../lambda/decision/model/collections.ts';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { ageText, some } from '../../lambda/explain/format.ts';
import { addParts, type WaitPart } from '../../lambda/look/waits/wait-parts.ts';
import { AwsCallError } from '../adapters/aws-call-error.ts';
import { type InsightsRows, queryLogs } from '../adapters/insights.ts';
import { namedShares, percentText, waitShares } from '../explain/wait-text.ts';
import { type LogGroup, type LoggedWait, linesOf, loggedWait, WAIT_FIELDS } from '../logs/function-log.ts';
import { withAdvice } from '../shared/aws-advice.ts';

export type RecentWaits =
  | {
      readonly kind: 'seen';
      readonly sinceMinutes: number;
      /** Jobs that started, and that the log has. */
      readonly jobs: number;
      /** Of these jobs, from submission until a daemon took them; null without jobs. */
      readonly p50Seconds: number | null;
      readonly p95Seconds: number | null;
      /** Of all waits together, the longest first. */
      readonly parts: readonly RecentPart[];
      /** At most so many more jobs started, of which the log has no wait. */
      readonly missed: number;
      /** False if the log has more lines than AWS returned. */
      readonly isComplete: boolean;
    }
  | { readonly kind: 'unknown'; readonly why: string };

type RecentPart = { readonly part: WaitPart; readonly seconds: number; readonly percent: number };

const SINCE_MINUTES = 60;

type Limits = {
  readonly now: EpochMs;
  readonly until: AbortSignal;
  readonly pause: (ms: number) => Promise<void>;
};

/** Queries the log group. An unreadable log gives `unknown`. */
export async function findRecentWaits(
  client: CloudWatchLogsClient,
  { group, service }: LogGroup,
  { now, until, pause }: Limits,
): Promise<RecentWaits> {
  const fields = `fields message, waitsMissed, ${WAIT_FIELDS.join(', ')}`;
  const query = `${linesOf(['wait', 'look'], service)}\n| ${fields}`;
  const span = { group, from: plusMs(now, -SINCE_MINUTES * MINUTE_MS), to: now };
  let isRunning = false;
  const sleep = (ms: number): Promise<void> => {
    isRunning = true;
    return pause(ms);
  };
  try {
    return recentWaitsOf(await queryLogs(client, { ...span, query }, { sleep }));
  } catch (cause) {
    if (!(cause instanceof AwsCallError)) throw cause;
    const isLate = isRunning && until.aborted;
    const why = isLate
      ? `the query of the log group "${group}" has not ended in time. Run the command again`
      : withAdvice(cause.message);
    return { kind: 'unknown', why };
  }
}

/** Computes the waits from the rows about starts and looks. Two processes may log the same start. */
export function recentWaitsOf({ rows, isCut }: InsightsRows): RecentWaits {
  const logged = rows.flatMap((row) => (row.message === 'wait' ? (loggedWait(row) ?? []) : []));
  const waits = [...new Map(logged.map((wait) => [wait.id, wait])).values()];
  const sorted = waits.map(({ waitMs }) => waitMs).sort((a, b) => a - b);
  const secondsAt = (quantile: number): number | null =>
    sorted.length === 0 ? null : tenths(percentile(sorted, quantile) / 1000);
  return {
    kind: 'seen',
    sinceMinutes: SINCE_MINUTES,
    jobs: waits.length,
    p50Seconds: secondsAt(0.5),
    p95Seconds: secondsAt(0.95),
    parts: partsOf(waits),
    missed: sum(rows, ({ waitsMissed }) => Number(waitsMissed) || 0),
    isComplete: !isCut,
  };
}

function partsOf(waits: readonly LoggedWait[]): readonly RecentPart[] {
  return waitShares(addParts(waits.map(({ parts }) => parts))).map(({ part, ms, share }) => ({
    part,
    seconds: tenths(ms / 1000),
    percent: tenths(share * 100),
  }));
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The waits as two lines. None if no job started in the hour. */
export function recentWaitLines(waits: RecentWaits): readonly string[] {
  if (waits.kind === 'unknown') return [`waits of the last hour: unknown: ${waits.why}`];
  const { jobs, p50Seconds, p95Seconds, parts, missed, isComplete } = waits;
  if (p50Seconds === null || p95Seconds === null) return [];
  const atLeast = isComplete ? '' : 'at least ';
  const others =
    missed === 0
      ? ''
      : `; up to ${some(missed, 'more job')} ${missed === 1 ? 'has' : 'have'} no wait in the log`;
  const shares = namedShares(Object.fromEntries(parts.map(({ part, seconds }) => [part, seconds])));
  return [
    `waits of the last hour: ${atLeast}${some(jobs, 'job')}, median ${ageText(p50Seconds)}, p95 ${ageText(p95Seconds)}${others}`,
    ...(shares.length === 0
      ? []
      : [`  ${shares.map(({ name, share }) => `${name} ${percentText(share)}`).join(', ')}`]),
  ];
}
