/** Reads the function's last look from its log group. Only the command line does this; a look does not. */
import { type CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import * as z from 'zod';
import { readPages } from '../../lambda/adapters/shared/pages.ts';
import { time } from '../../lambda/adapters/shared/time.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { parseQuietly } from '../../lambda/decision/model/parse-quietly.ts';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { AwsCallError } from './aws-call-error.ts';

/** The fields that are used of a look's log event (lambda/look/look-event.ts). */
const lookSchema = z.object({
  takenAt: time,
  failures: z.array(z.string()).default([]),
  findings: z.array(z.string()).default([]),
  service: z.string().optional(),
  function_request_id: z.string().optional(),
  lookAgainAfterMs: z.number().nullish(),
});

/** `line`: as the function logged it. */
export type LoggedLook = z.output<typeof lookSchema> & {
  readonly line: string;
  /** By the clock of CloudWatch Logs; `takenAt` is coderd's time. */
  readonly loggedAt: EpochMs;
};

/** The first window is small and nearly always enough. If the last one is empty, there was no look. */
const WINDOWS_MS = [3 * MINUTE_MS, 60 * MINUTE_MS];
const OWN_GROUP = 'Give the autoscaler a log group of its own (aws.logs.group)';
/** Many pages may have no look. */
const MOST_PAGES = 500;

/** The log group, and the deployment whose looks to read: several deployments may share a group. */
export type LookLog = { readonly group: string; readonly service: string | undefined };

/** The last look of the hour before `now`, if there is one. Throws AwsCallError. */
export async function readLastLook(
  client: CloudWatchLogsClient,
  log: LookLog,
  now: EpochMs,
): Promise<LoggedLook | undefined> {
  for (const windowMs of WINDOWS_MS) {
    const last = (await readLooks(client, log, now - windowMs)).at(-1);
    if (last !== undefined) return last;
  }
  return undefined;
}

/** All looks that were logged since then, in milliseconds since 1970, the earliest first. Throws AwsCallError. */
export async function readLooks(
  client: CloudWatchLogsClient,
  { group, service }: LookLog,
  startTime: number,
): Promise<readonly LoggedLook[]> {
  const looks = await readLines(client, { group, startTime, message: 'look' }, (line, at) =>
    readLook(line, at, service),
  );
  return looks.toSorted((a, b) => a.takenAt - b.takenAt);
}

type Lines = {
  readonly group: string;
  readonly startTime: number;
  /** What the field of the line is. */
  readonly message: string;
  /** @default 'message' */
  readonly field?: 'message' | 'level';
};

/** What `parse` makes of the JSON lines with that value in a field: tasks may log to the same group. Throws AwsCallError. */
export async function readLines<T>(
  client: CloudWatchLogsClient,
  { group, startTime, message: wanted, field = 'message' }: Lines,
  parse: (line: string, at: EpochMs) => T | undefined,
): Promise<readonly T[]> {
  const query = { logGroupName: group, startTime, filterPattern: `{ $.${field} = "${wanted}" }` };
  const doing = `reading the log group "${group}"`;
  const read = async (nextToken: string | undefined) => {
    const { events = [], ...page } = await client.send(new FilterLogEventsCommand({ ...query, nextToken }));
    const items = events.flatMap(
      ({ message = '', timestamp = 0 }) => parse(message, timestamp as EpochMs) ?? [],
    );
    return { items, next: page.nextToken };
  };
  try {
    const { items, incomplete } = await readPages('FilterLogEvents', read, { most: MOST_PAGES });
    if (incomplete !== undefined) throw new AwsCallError(`${doing}: ${incomplete}. ${OWN_GROUP}`);
    return items;
  } catch (cause) {
    throw AwsCallError.of(cause, doing, 'logs:FilterLogEvents on it');
  }
}

/** Undefined for the event of an unknown version or of another deployment. */
function readLook(message: string, loggedAt: EpochMs, service: string | undefined): LoggedLook | undefined {
  const look = lookSchema.safeParse(parseQuietly(message)).data;
  if (look === undefined || (service !== undefined && look.service !== service)) return undefined;
  return { ...look, line: message, loggedAt };
}
