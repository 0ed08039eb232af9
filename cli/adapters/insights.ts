/** Queries of CloudWatch Logs Insights, for the command line. AWS charges for the bytes scanned. */
import {
  type CloudWatchLogsClient,
  GetQueryResultsCommand,
  type GetQueryResultsCommandOutput,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { describeAwsError } from '../../lambda/adapters/shared/aws-calls.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Clock } from '../../lambda/look/ports.ts';

const MOST_ROWS = 10_000;

export type InsightsQuery = {
  /** Names of log groups, at most 50. */
  readonly groups: readonly string[];
  /** In whole seconds. The end is included as a millisecond. */
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** Commands of Logs Insights without `limit`. */
  readonly query: string;
  /** The most rows of one request, 1 to 10,000. @default 10,000 */
  readonly limit?: number;
};

export type InsightsRow = Readonly<Record<string, string>>;

export type InsightsRows = {
  readonly rows: readonly InsightsRow[];
  /** Whether rows are missing, because one second has more of them than one answer holds. */
  readonly isCut: boolean;
};

/** A log group could not be queried. `not-found`: a group does not exist. */
export class LogQueryError extends Error {
  override readonly name = 'LogQueryError';
  readonly code: 'forbidden' | 'not-found' | 'failed';

  constructor(code: LogQueryError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** If one answer does not hold the rows, it queries each half: sort them. Throws LogQueryError. */
export async function queryLogs(
  client: CloudWatchLogsClient,
  query: InsightsQuery,
  clock: Pick<Clock, 'sleep'>,
): Promise<InsightsRows> {
  const limit = query.limit ?? MOST_ROWS;
  const rows = await runQuery(client, { ...query, limit }, clock);
  if (rows.length < limit) return { rows, isCut: false };
  const [from, to] = secondsOf(query);
  if (to - from <= 1) return { rows, isCut: true };
  const middle = toMs(Math.floor((from + to) / 2));
  const first = await queryLogs(client, { ...query, to: middle }, clock);
  const second = await queryLogs(client, { ...query, from: middle }, clock);
  // both halves have the rows of the middle (docs/internals/aws.md §10)
  const known = new Set(first.rows.map((row) => JSON.stringify(row)));
  const others = second.rows.filter((row) => row['@ptr'] === undefined || !known.has(JSON.stringify(row)));
  return { rows: [...first.rows, ...others], isCut: first.isCut || second.isCut };
}

const secondsOf = ({ from, to }: InsightsQuery) => [Math.floor(from / 1000), Math.ceil(to / 1000)] as const;

function toMs(seconds: number): EpochMs {
  return (seconds * 1000) as EpochMs;
}

async function runQuery(
  client: CloudWatchLogsClient,
  given: InsightsQuery,
  clock: Pick<Clock, 'sleep'>,
): Promise<readonly InsightsRow[]> {
  const { groups, query, limit } = given;
  const [startTime, endTime] = secondsOf(given);
  const command = new StartQueryCommand({
    logGroupNames: [...groups],
    startTime,
    endTime,
    queryString: query,
    limit,
  });
  try {
    const { queryId } = await client.send(command);
    return rowsOf(await finished(client, queryId, clock), groups);
  } catch (cause) {
    if (isBeforeGroup(cause)) return [];
    throw toError(cause, groups);
  }
}

/** AWS refuses a time before the group was made, or beyond its retention (docs/internals/aws.md §10). */
function isBeforeGroup(cause: unknown): boolean {
  if (!(cause instanceof Error) || cause.name !== 'MalformedQueryException') return false;
  return /before the log groups? creation time|log retention settings/i.test(cause.message);
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2_000;

async function finished(
  client: CloudWatchLogsClient,
  queryId: string | undefined,
  clock: Pick<Clock, 'sleep'>,
): Promise<GetQueryResultsCommandOutput> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    const answer = await client.send(new GetQueryResultsCommand({ queryId }));
    if (answer.status !== 'Scheduled' && answer.status !== 'Running') return answer;
    await clock.sleep(waitMs);
  }
}

function rowsOf(
  { status, results = [] }: GetQueryResultsCommandOutput,
  groups: readonly string[],
): readonly InsightsRow[] {
  if (status !== 'Complete')
    throw new LogQueryError('failed', `${querying(groups)}: AWS ended the query with status ${status}`);
  return results.map((fields) =>
    Object.fromEntries(
      fields.flatMap(({ field, value }) =>
        field === undefined || value === undefined ? [] : [[field, value]],
      ),
    ),
  );
}

function querying(groups: readonly string[]): string {
  return `querying the log group ${groups.map((group) => `"${group}"`).join(', ')}`;
}

function toError(cause: unknown, groups: readonly string[]): LogQueryError {
  if (cause instanceof LogQueryError) return cause;
  const { reason, isForbidden } = describeAwsError(cause);
  const message = `${querying(groups)}: ${reason}`;
  if (isForbidden) {
    const advice = 'ask for logs:StartQuery on it, and for logs:GetQueryResults';
    return new LogQueryError('forbidden', `${message}; ${advice}`, { cause });
  }
  const isMissing = cause instanceof Error && cause.name === 'ResourceNotFoundException';
  return new LogQueryError(isMissing ? 'not-found' : 'failed', message, { cause });
}
