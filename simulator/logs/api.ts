/**
 * The operations of CloudWatch Logs that the command line calls (CloudWatch Logs API Reference). The
 * function's role may only write.
 */
import { z } from 'zod';
import { AwsError, type AwsService, type Caller, operationsFor } from '../base/aws-service.ts';
import { filterLogEvents, filterRequest } from './filter.ts';
import { runInsights } from './insights.ts';
import type { LogsModel } from './model.ts';

const MOST_ROWS = 10_000;
const PEOPLE: readonly Caller[] = ['person'];

/** Times in seconds, both included. */
const startRequest = z.object({
  logGroupNames: z.array(z.string()).min(1).max(50),
  startTime: z.int(),
  endTime: z.int(),
  queryString: z.string().max(10_000),
  limit: z.int().min(1).max(MOST_ROWS).default(MOST_ROWS),
});

const operation = operationsFor<LogsModel>('InvalidParameterException');

export const LOGS: AwsService<LogsModel> = {
  service: 'logs',
  operations: {
    FilterLogEvents: operation(PEOPLE, filterRequest, filterLogEvents),
    StartQuery: operation(PEOPLE, startRequest, startQuery),
    /** The first answer says that the query still runs. */
    GetQueryResults: operation(PEOPLE, z.object({ queryId: z.string() }), (model, { queryId }) => {
      const query = model.query(queryId);
      if (query === undefined)
        throw new AwsError('ResourceNotFoundException', 'The specified query does not exist.');
      if (query.asked === 1) return { status: 'Running', results: [] };
      return {
        status: 'Complete',
        results: query.rows.map((row) => Object.entries(row).map(([field, value]) => ({ field, value }))),
      };
    }),
  },
};

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
    .flatMap((name) => model.eventsOf(name))
    .filter(({ timestamp }) => {
      const second = Math.floor(timestamp / 1000);
      return second >= startTime && second <= endTime;
    })
    .toSorted((a, b) => b.timestamp - a.timestamp);
  return { queryId: model.addQuery(runInsights(events, queryString, limit)) };
}
