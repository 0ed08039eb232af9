/** The function's last look, from its log group. */
import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { type LookLog, LookLogError, readLastLook } from '../../lambda/adapters/look-log.ts';
import { type EpochMs, isoTime } from '../../lambda/decision/model/brands.ts';
import type { IsoTime } from '../../lambda/decision/model/plan.ts';
import { ageText, timeText } from '../../lambda/explain/format.ts';
import { withAdvice } from '../shared/aws-advice.ts';

export type LastLook =
  | {
      readonly kind: 'seen';
      readonly takenAt: IsoTime;
      readonly ageSeconds: number;
      /** Sentences; empty if the look succeeded. */
      readonly failures: readonly string[];
      readonly logGroup: string;
    }
  /** The function logged nothing in the last hour. */
  | { readonly kind: 'none'; readonly logGroup: string }
  | { readonly kind: 'unknown'; readonly why: string };

/** Reads the last look from the log group. An unreadable log gives `unknown`. */
export async function findLastLook(
  client: CloudWatchLogsClient,
  log: LookLog,
  now: EpochMs,
): Promise<LastLook> {
  try {
    return await readLook(client, log, now);
  } catch (cause) {
    if (!(cause instanceof LookLogError)) throw cause;
    return { kind: 'unknown', why: withAdvice(cause.message) };
  }
}

async function readLook(client: CloudWatchLogsClient, log: LookLog, now: EpochMs): Promise<LastLook> {
  const look = await readLastLook(client, log, now);
  const logGroup = log.group;
  if (look === undefined) return { kind: 'none', logGroup };
  const ageSeconds = Math.max(0, Math.round((now - look.takenAt) / 1000));
  return { kind: 'seen', takenAt: isoTime(look.takenAt), ageSeconds, failures: look.failures, logGroup };
}

/** The schedule invokes the function once a minute. */
const LATE_SECONDS = 180;

/** What is wrong with the last look, as sentences. */
export function lookFindings(look: LastLook): readonly string[] {
  if (look.kind === 'unknown') return [];
  const advice = `Check the log group "${look.logGroup}" and the schedule`;
  if (look.kind === 'none') return [`the function has not looked for an hour. ${advice}`];
  const { ageSeconds, failures } = look;
  const late =
    ageSeconds > LATE_SECONDS
      ? [
          `the last look of the function was ${ageText(ageSeconds)} ago, but there should be one every minute. ${advice}`,
        ]
      : [];
  return [...late, ...failures];
}

/** The last look as one line. */
export function lookLine(look: LastLook): string {
  switch (look.kind) {
    case 'unknown':
      return `last look: unknown: ${look.why}`;
    case 'none':
      return 'last look: none in the last hour';
    case 'seen': {
      const { ageSeconds, takenAt, failures } = look;
      const result = failures.length === 0 ? 'succeeded' : 'failed (see findings)';
      return `last look: ${ageText(ageSeconds)} ago, at ${timeText(takenAt)}; ${result}`;
    }
    default:
      return look satisfies never;
  }
}
