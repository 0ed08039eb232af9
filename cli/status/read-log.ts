/** The function's last look and the waits of the last hour. Both may be `unknown`, with the cause. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { EACH_TRY, endingWith } from '../../lambda/adapters/shared/aws-calls.ts';
import { type EpochMs, isoTime } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { IsoTime } from '../../lambda/decision/model/plan.ts';
import { LOG_GROUP_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { Service, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { ageText, timeText } from '../../lambda/explain/format.ts';
import { AwsCallError } from '../adapters/aws-call-error.ts';
import { type LoggedLook, type LookLog, readLastLook } from '../adapters/look-log.ts';
import { findLogGroup } from '../logs/function-log.ts';
import { PATIENT, withAdvice } from '../shared/aws-advice.ts';
import type { CliEnvironment } from '../shared/cli-environment.ts';
import { findRecentWaits, type RecentWaits } from './recent-waits.ts';

export type LogFacts = { readonly lastLook: LastLook; readonly waits: RecentWaits };

/** The whole time that reading the log may take. */
const LOG_MS = 7_000;

type LogEnvironment = Pick<CliEnvironment, 'now' | 'silenceMs' | 'pollMs'>;

/** Finds the log group by the tags of the services, and reads both facts at the same time. */
export async function readLog(
  { ecs }: Snapshot,
  config: Config,
  cliEnvironment: LogEnvironment,
): Promise<LogFacts> {
  const log = findLogGroup(ecs.services.items, config);
  if (log === undefined) {
    const why = `no ECS service has the tag ${LOG_GROUP_TAG}, which names the log group`;
    return { lastLook: { kind: 'unknown', why }, waits: { kind: 'unknown', why } };
  }
  const until = AbortSignal.timeout(cliEnvironment.silenceMs ?? LOG_MS);
  const client = new CloudWatchLogsClient({ requestHandler: PATIENT });
  client.middlewareStack.add(endingWith(until), EACH_TRY);
  const pause = (ms: number): Promise<void> =>
    // at the end of the time the next request fails
    sleep(cliEnvironment.pollMs ?? ms, undefined, { signal: until }).catch(() => {});
  const now = cliEnvironment.now();
  try {
    const [lastLook, waits] = await Promise.all([
      findLastLook(client, log, now),
      findRecentWaits(client, log, { now, until, pause }),
    ]);
    return { lastLook, waits };
  } finally {
    client.destroy();
  }
}

export type LastLook =
  | {
      readonly kind: 'seen';
      readonly takenAt: IsoTime;
      readonly ageSeconds: number;
      /** Sentences; empty if the look succeeded. */
      readonly failures: readonly string[];
      /** Sentences about what the function saw. Some of them need its memory: a look from here has none. */
      readonly findings: readonly string[];
      readonly logGroup: string;
    }
  /** The function logged nothing in the last hour. */
  | { readonly kind: 'none'; readonly logGroup: string }
  | { readonly kind: 'unknown'; readonly why: string };

/** An unreadable log gives `unknown`. */
async function findLastLook(client: CloudWatchLogsClient, log: LookLog, now: EpochMs): Promise<LastLook> {
  try {
    return lastLookOf(await readLastLook(client, log, now), log, now);
  } catch (cause) {
    if (!(cause instanceof AwsCallError)) throw cause;
    return { kind: 'unknown', why: withAdvice(cause.message) };
  }
}

export function lastLookOf(
  look: LoggedLook | undefined,
  { group }: Pick<LookLog, 'group'>,
  now: EpochMs,
): LastLook {
  if (look === undefined) return { kind: 'none', logGroup: group };
  const { takenAt, failures, findings } = look;
  const ageSeconds = Math.max(0, Math.round((now - takenAt) / 1000));
  return { kind: 'seen', takenAt: isoTime(takenAt), ageSeconds, failures, findings, logGroup: group };
}

/** The schedule invokes the function once a minute. */
const LATE_SECONDS = 180;
/** A minute, the longest look and the way of its line into the log. */
const OVERDUE_SECONDS = 120;

/** How long ago ECS began the newest deployment of a pool; infinite if ECS tells none. */
export function deployedSeconds(services: readonly Pick<Service, 'deployments'>[], now: EpochMs): number {
  const times = services.flatMap(({ deployments }) => deployments.map(({ createdAt = 0 }) => createdAt));
  return (now - Math.max(0, ...times)) / 1000;
}

/** Undefined: the function looks, or nobody knows. `deployedSeconds`: the age of the newest deployment. */
export function lateText(look: LastLook, deployedSeconds: number): string | undefined {
  if (look.kind === 'unknown') return undefined;
  const advice = `Run \`autoscaler doctor\`: it looks at the schedule and the log group "${look.logGroup}"`;
  if (look.kind === 'none') {
    if (deployedSeconds <= LATE_SECONDS) return undefined;
    const since =
      deployedSeconds < 3600 ? `since the deployment ${ageText(deployedSeconds)} ago` : 'for an hour';
    return `the function has not looked ${since}. ${advice}`;
  }
  const { ageSeconds } = look;
  if (ageSeconds <= LATE_SECONDS) return undefined;
  return `the last look of the function was ${ageText(ageSeconds)} ago, but there should be one every minute. ${advice}`;
}

/** What the function found at its last look and this machine did not, as sentences. Each cause once. */
export function saidByFunction(look: LastLook, own: readonly string[]): readonly string[] {
  if (look.kind !== 'seen') return [];
  const known = new Set(own.map(withoutNumbers));
  const news = new Map(
    [...look.failures, ...look.findings].map((line) => [withoutNumbers(line), line] as const),
  );
  return [...news].flatMap(([key, line]) => (known.has(key) ? [] : [line]));
}

/** Two looks count other tasks at other times, and mean the same. */
function withoutNumbers(line: string): string {
  return withoutParentheses(line)
    .replaceAll(/\S*\d\S*/g, '#')
    .replaceAll(/\b(?:is|are|has|have|it|them)\b/g, '')
    .replaceAll(/s\b/g, '');
}

/** Those within others too: reasons of ECS have them. */
function withoutParentheses(line: string): string {
  const less = line.replaceAll(/\([^()]*\)/g, '');
  return less === line ? line : withoutParentheses(less);
}

/** Whether each minute brings a look: without one no task starts. An unreadable log does not tell. */
export function isLooking(look: LastLook, deployedSeconds: number): boolean {
  const isOverdue = look.kind === 'seen' && look.ageSeconds > OVERDUE_SECONDS;
  return !isOverdue && lateText(look, deployedSeconds) === undefined;
}

/** `isAged`: with its age as of now; a page that stays open has the time only. */
export function lookLine(look: LastLook, isAged = true): string {
  switch (look.kind) {
    case 'unknown':
      return `last look: unknown: ${look.why}`;
    case 'none':
      return 'last look: none in the last hour';
    case 'seen': {
      const { ageSeconds, takenAt, failures } = look;
      const result = failures.length === 0 ? 'succeeded' : 'failed (see findings)';
      const age = isAged ? `${ageText(ageSeconds)} ago, ` : '';
      return `last look: ${age}at ${timeText(takenAt)}; ${result}`;
    }
    default:
      return look satisfies never;
  }
}
