/**
 * Reads the function's log, if the caller may: its last look, and the waits of the last hour. What
 * cannot be read is `unknown` with its cause; the rest of the status is worth more.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { EACH_TRY, endingWith } from '../../lambda/adapters/shared/aws-calls.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { LOG_GROUP_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { findLogGroup } from '../logs/log-group.ts';
import type { CliEnvironment } from '../shared/cli-environment.ts';
import { findLastLook, type LastLook } from './last-look.ts';
import { findRecentWaits, type RecentWaits } from './recent-waits.ts';

export type LogFacts = { readonly lastLook: LastLook; readonly waits: RecentWaits };

/** The whole time that reading the log may take. */
const LOG_MS = 7_000;
/** A call without an answer must not block the command. */
const TIMEOUTS = { connectionTimeout: 5_000, requestTimeout: 10_000, throwOnRequestTimeout: true } as const;

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
  const client = new CloudWatchLogsClient({ requestHandler: TIMEOUTS });
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
