/** The operations of CloudWatch Logs that the command line calls (CloudWatch Logs API Reference). */
import { z } from 'zod';
import { AwsError, type Caller } from '../ecs/requests/errors.ts';
import { filterLogEvents, filterRequest } from './filter.ts';
import { runInsights } from './insights.ts';
import { eventsOf, type LogsModel } from './model.ts';

const MOST_ROWS = 10_000;

/** Times in seconds, both included. */
const startRequest = z.object({
  logGroupNames: z.array(z.string()).min(1).max(50),
  startTime: z.int(),
  endTime: z.int(),
  queryString: z.string().max(10_000),
  limit: z.int().min(1).max(MOST_ROWS).default(MOST_ROWS),
});
const resultsRequest = z.object({ queryId: z.string() });

type Operation = (model: LogsModel, body: unknown) => object;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  FilterLogEvents: (model, body) => filterLogEvents(model, parsed(filterRequest, body)),
  StartQuery: (model, body) => startQuery(model, parsed(startRequest, body)),
  GetQueryResults: (model, body) => queryResults(model, parsed(resultsRequest, body)),
};

/** Calls one operation by its name. The function's role may only write. */
export function callLogs(model: LogsModel, name: string, body: unknown, caller: Caller): object {
  const operation = OPERATIONS[name];
  if (operation === undefined || caller !== 'person')
    throw new AwsError(
      'AccessDeniedException',
      `User: arn:aws:sts::123456789012:assumed-role/${caller}/session is not authorized to perform: logs:${name}`,
    );
  return operation(model, body);
}

function parsed<T>(schema: z.ZodType<T>, body: unknown): T {
  const request = schema.safeParse(body);
  if (!request.success) throw new AwsError('InvalidParameterException', z.prettifyError(request.error));
  return request.data;
}

function startQuery(model: LogsModel, request: z.infer<typeof startRequest>) {
  const { logGroupNames, startTime, endTime, queryString, limit } = request;
  if (startTime > endTime) throw new AwsError('InvalidParameterException', 'startTime is after endTime');
  // docs/internals/aws.md §10
  if (logGroupNames.every((name) => (model.createdAt(name) ?? 0) / 1000 >= endTime + 1))
    throw new AwsError(
      'MalformedQueryException',
      "Query's end date and time is either before the log groups creation time or exceeds the log groups log retention settings",
    );
  const events = logGroupNames
    .flatMap((name) => eventsOf(model, name))
    .filter(({ timestamp }) => {
      const second = Math.floor(timestamp / 1000);
      return second >= startTime && second <= endTime;
    })
    .toSorted((a, b) => b.timestamp - a.timestamp);
  return { queryId: model.addQuery(runInsights(events, queryString, limit)) };
}

/** The first answer says that the query still runs. */
function queryResults(model: LogsModel, { queryId }: z.infer<typeof resultsRequest>) {
  const query = model.query(queryId);
  if (query === undefined)
    throw new AwsError('ResourceNotFoundException', 'The specified query does not exist.');
  if (query.asked === 1) return { status: 'Running', results: [] };
  return {
    status: 'Complete',
    results: query.rows.map((row) => Object.entries(row).map(([field, value]) => ({ field, value }))),
  };
}
