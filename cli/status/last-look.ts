/** Reads the function's last look from its log group, if the caller may read the log. */
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { type LookLog, LookLogError, readLastLook } from '../../lambda/adapters/logs/look-log.ts';
import { EACH_TRY, endingWith } from '../../lambda/adapters/shared/aws-calls.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { IsoTime } from '../../lambda/decision/model/plan.ts';
import { LOG_GROUP_TAG, STACK_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { Service, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { isoTime } from '../../lambda/decision/report/waiting.ts';
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

/** A call without an answer must not block the command. */
const TIMEOUTS = { connectionTimeout: 5_000, requestTimeout: 10_000, throwOnRequestTimeout: true } as const;

/** Finds the log group by the tags of the services. An unreadable log gives `unknown`. */
export async function findLastLook({ ecs }: Snapshot, now: EpochMs, until: AbortSignal): Promise<LastLook> {
  const tags = ecs.services.items.map((service) => service.tags).find((all) => tagOf(all, LOG_GROUP_TAG));
  const logGroup = tagOf(tags, LOG_GROUP_TAG);
  if (logGroup === undefined)
    return { kind: 'unknown', why: `no ECS service has the tag ${LOG_GROUP_TAG}, which names the log group` };
  const client = new CloudWatchLogsClient({ requestHandler: TIMEOUTS });
  client.middlewareStack.add(endingWith(until), EACH_TRY);
  try {
    return await readLook(client, { group: logGroup, service: tagOf(tags, STACK_TAG) }, now);
  } catch (cause) {
    if (!(cause instanceof LookLogError)) throw cause;
    return { kind: 'unknown', why: withAdvice(cause.message) };
  } finally {
    client.destroy();
  }
}

function tagOf(tags: Service['tags'] = [], wanted: string): string | undefined {
  return tags.find(({ key }) => key === wanted)?.value;
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

/** The problems of the last look, as sentences. */
export function lookProblems(look: LastLook): readonly string[] {
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
      const result = failures.length === 0 ? 'succeeded' : 'failed (see problems)';
      return `last look: ${ageText(ageSeconds)} ago, at ${timeText(takenAt)}; ${result}`;
    }
    default:
      return look satisfies never;
  }
}
