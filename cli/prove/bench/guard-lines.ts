/** What the guard of a task logged: the only word from inside the task. */
import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import * as z from 'zod';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';
import { readLines } from '../../adapters/look-log.ts';

/** As guard/guard.sh writes it. `daemon`: the name of its daemon, `<pool>-<task id>`. */
const line = z.object({ state: z.string(), why: z.string(), daemon: z.string() });

/** `at`: the time of CloudWatch Logs. */
export type GuardLine = z.output<typeof line> & { readonly at: EpochMs };

type Query = { readonly group: string; readonly since: EpochMs; readonly daemon: string };

/** The lines of one guard, the earliest first. Throws AwsCallError. */
export async function readGuardLines(
  client: CloudWatchLogsClient,
  { group, since, daemon }: Query,
): Promise<readonly GuardLine[]> {
  const lines = await readLines(client, { group, startTime: since, message: 'guard' }, (text, at) => {
    const { data } = line.safeParse(parseQuietly(text));
    return data && data.daemon === daemon ? { ...data, at } : undefined;
  });
  return lines.toSorted((a, b) => a.at - b.at);
}
