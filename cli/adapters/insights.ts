/** Queries of CloudWatch Logs Insights, for the command line. AWS charges for the bytes scanned. */
import {
  type CloudWatchLogsClient,
  GetQueryResultsCommand,
  type GetQueryResultsCommandOutput,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Clock } from '../../lambda/look/ports.ts';
import { AwsCallError } from './aws-call-error.ts';

const MOST_ROWS = 10_000;

export type InsightsQuery = {
  /** The name of the log group. */
  readonly group: string;
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
  /** What AWS charges for, of all queries together. */
  readonly bytesScanned: number;
};

/** If one answer does not hold the rows, it queries each half: sort them. Throws AwsCallError. */
export async function queryLogs(
  client: CloudWatchLogsClient,
  query: InsightsQuery,
  clock: Pick<Clock, 'sleep'>,
): Promise<InsightsRows> {
  const limit = query.limit ?? MOST_ROWS;
  const { rows, bytesScanned } = await runQuery(client, { ...query, limit }, clock);
  if (rows.length < limit) return { rows, isCut: false, bytesScanned };
  const [from, to] = secondsOf(query);
  if (to - from <= 1) return { rows, isCut: true, bytesScanned };
  const middle = toMs(Math.floor((from + to) / 2));
  const first = await queryLogs(client, { ...query, to: middle }, clock);
  const second = await queryLogs(client, { ...query, from: middle }, clock);
  // both halves have the rows of the middle (docs/internals/aws.md §10)
  const known = new Set(first.rows.map((row) => JSON.stringify(row)));
  const others = second.rows.filter((row) => row['@ptr'] === undefined || !known.has(JSON.stringify(row)));
  return {
    rows: [...first.rows, ...others],
    isCut: first.isCut || second.isCut,
    bytesScanned: bytesScanned + first.bytesScanned + second.bytesScanned,
  };
}

const secondsOf = ({ from, to }: InsightsQuery) => [Math.floor(from / 1000), Math.ceil(to / 1000)] as const;

function toMs(seconds: number): EpochMs {
  return (seconds * 1000) as EpochMs;
}

async function runQuery(
  client: CloudWatchLogsClient,
  given: InsightsQuery,
  clock: Pick<Clock, 'sleep'>,
): Promise<Omit<InsightsRows, 'isCut'>> {
  const { group, query, limit } = given;
  const doing = `querying the log group "${group}"`;
  const [startTime, endTime] = secondsOf(given);
  const command = new StartQueryCommand({
    logGroupNames: [group],
    startTime,
    endTime,
    queryString: query,
    limit,
  });
  try {
    const { queryId } = await client.send(command);
    const answer = await finished(client, queryId, clock);
    return { rows: rowsOf(answer, doing), bytesScanned: answer.statistics?.bytesScanned ?? 0 };
  } catch (cause) {
    if (isBeforeGroup(cause)) return { rows: [], bytesScanned: 0 };
    throw AwsCallError.of(cause, doing, 'logs:StartQuery on it, and for logs:GetQueryResults');
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
  doing: string,
): readonly InsightsRow[] {
  if (status !== 'Complete') throw new AwsCallError(`${doing}: AWS ended the query with status ${status}`);
  return results.map((fields) =>
    Object.fromEntries(
      fields.flatMap(({ field, value }) =>
        field === undefined || value === undefined ? [] : [[field, value]],
      ),
    ),
  );
}
