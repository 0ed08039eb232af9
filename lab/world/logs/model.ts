/** CloudWatch Logs: groups of events in order of time. */
import { z } from 'zod';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';
import { AwsError, type AwsService, type Caller, type Endless, operationsFor } from '../base/aws-service.ts';
import type { Timeline } from '../base/timeline.ts';
import { type LogEvent, type LogRow, runInsights } from './insights.ts';

type Query = { readonly rows: readonly LogRow[]; readonly bytesScanned: number; asked: number };

export class LogsModel {
  /** Operations whose list never ends. */
  readonly endlessLists = new Map<string, Endless>();
  /** From an event to the first read that shows it, in milliseconds. */
  delayMs = 0;
  /** By name. @default as the stack makes them: 30 days, AWS's own key */
  readonly settings = new Map<
    string,
    { readonly retentionInDays?: number | undefined; readonly kmsKeyId?: string | undefined }
  >();
  readonly #timeline: Timeline;
  readonly #groups = new Map<string, LogEvent[]>();
  readonly #createdAt = new Map<string, EpochMs>();
  /** False: queries of Logs Insights go on running. */
  areQueriesFast = true;
  readonly #queries = new Map<string, Query>();

  now(): EpochMs {
    return this.#timeline.now();
  }

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  createGroup(name: string): void {
    if (this.#groups.has(name)) return;
    this.#groups.set(name, []);
    this.#createdAt.set(name, this.#timeline.now());
  }

  deleteGroup(name: string): void {
    this.#groups.delete(name);
  }

  groups(): readonly string[] {
    return [...this.#groups.keys()].sort();
  }

  createdAt(name: string): EpochMs | undefined {
    return this.#createdAt.get(name);
  }

  put(group: string, message: string): void {
    this.createGroup(group);
    const events = this.#groups.get(group) ?? [];
    events.push({ eventId: `${events.length}`.padStart(56, '0'), timestamp: this.#timeline.now(), message });
  }

  events(group: string): readonly LogEvent[] | undefined {
    return this.#groups.get(group);
  }

  /** The events of a group. Throws AwsError if the group does not exist. */
  eventsOf(group: string): readonly LogEvent[] {
    const events = this.events(group);
    if (events !== undefined) return events;
    throw new AwsError('ResourceNotFoundException', 'The specified log group does not exist.');
  }

  addQuery(query: Omit<Query, 'asked'>): string {
    const id = `query-${this.#queries.size + 1}`;
    this.#queries.set(id, { ...query, asked: 0 });
    return id;
  }

  query(id: string): Readonly<Query> | undefined {
    const query = this.#queries.get(id);
    if (query !== undefined) query.asked += 1;
    return query;
  }
}

const MOST_ROWS = 10_000;
const PEOPLE: readonly Caller[] = ['person'];

/** Times in seconds. The end is included as a millisecond (docs/internals/aws.md §10). */
const startRequest = z.object({
  logGroupNames: z.array(z.string()).min(1).max(50),
  startTime: z.int(),
  endTime: z.int(),
  queryString: z.string().max(10_000),
  limit: z.int().min(1).max(MOST_ROWS).default(MOST_ROWS),
});

const filterRequest = z.object({
  logGroupName: z.string(),
  startTime: z.number().default(0),
  filterPattern: z.string(),
  nextToken: z.string().optional(),
});

const groupsRequest = z.object({
  logGroupNamePrefix: z.string().min(1).optional(),
  nextToken: z.string().optional(),
});

const operation = operationsFor<LogsModel>('InvalidParameterException');

export const LOGS: AwsService<LogsModel> = {
  service: 'logs',
  endless: { token: 'nextToken', of: (model, name) => model.endlessLists.get(name) },
  operations: {
    DescribeLogGroups: operation(PEOPLE, groupsRequest, describeLogGroups),
    FilterLogEvents: operation(PEOPLE, filterRequest, filterLogEvents),
    StartQuery: operation(PEOPLE, startRequest, startQuery),
    /** The first answer says that the query still runs. */
    GetQueryResults: operation(PEOPLE, z.object({ queryId: z.string() }), (model, { queryId }) => {
      const query = model.query(queryId);
      if (query === undefined)
        throw new AwsError('ResourceNotFoundException', 'The specified query does not exist.');
      if (query.asked === 1 || !model.areQueriesFast) return { status: 'Running', results: [] };
      return {
        status: 'Complete',
        statistics: { bytesScanned: query.bytesScanned },
        results: query.rows.map((row) => Object.entries(row).map(([field, value]) => ({ field, value }))),
      };
    }),
  },
};

const GROUPS_OF_A_PAGE = 50;

function describeLogGroups(
  model: LogsModel,
  { logGroupNamePrefix = '', nextToken }: z.infer<typeof groupsRequest>,
) {
  const names = model.groups().filter((name) => name.startsWith(logGroupNamePrefix));
  const from = Number(nextToken ?? 0);
  const to = from + GROUPS_OF_A_PAGE;
  const logGroups = names.slice(from, to).map((logGroupName) => ({
    logGroupName,
    ...(model.settings.get(logGroupName) ?? { retentionInDays: 30 }),
  }));
  return { logGroups, ...(to < names.length && { nextToken: `${to}` }) };
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
    .flatMap((name) =>
      model.eventsOf(name).map((event) => ({ ...event, eventId: `${name}/${event.eventId}` })),
    )
    .filter(({ timestamp }) => timestamp >= startTime * 1000 && timestamp <= endTime * 1000)
    .toSorted((a, b) => b.timestamp - a.timestamp);
  const bytesScanned = events.reduce((bytes, { message }) => bytes + Buffer.byteLength(message), 0);
  return { queryId: model.addQuery({ rows: runInsights(events, queryString, limit), bytesScanned }) };
}

const PAGE_BYTES = 1024 * 1024;

/** The events of one page. Throws AwsError. */
function filterLogEvents(model: LogsModel, request: z.infer<typeof filterRequest>) {
  const { logGroupName, startTime } = request;
  const all = model.eventsOf(logGroupName);
  const from = request.nextToken === undefined ? 0 : Number(request.nextToken);
  const page = pageFrom(all, from);
  const to = from + page.length;
  const isMatch = matcher(request.filterPattern);
  const shownUntil = model.now() - model.delayMs;
  return {
    events: page
      .filter(
        ({ timestamp, message }) => timestamp >= startTime && timestamp <= shownUntil && isMatch(message),
      )
      .map((event) => ({ ...event, ingestionTime: event.timestamp, logStreamName: '2026/03/02/[$LATEST]0' })),
    ...(to < all.length ? { nextToken: `${to}` } : {}),
    searchedLogStreams: [],
  };
}

function pageFrom(all: readonly LogEvent[], from: number): readonly LogEvent[] {
  const page: LogEvent[] = [];
  let bytes = 0;
  for (const event of all.slice(from, from + MOST_ROWS)) {
    bytes += Buffer.byteLength(event.message);
    if (page.length > 0 && bytes > PAGE_BYTES) break;
    page.push(event);
  }
  return page;
}

function matcher(pattern: string): (message: string) => boolean {
  const [, field, value] = /^\{ \$\.(\w+) = "([^"]*)" \}$/.exec(pattern) ?? [];
  if (field === undefined) throw new AwsError('InvalidParameterException', 'Invalid filter pattern');
  return (message) => fieldOf(message, field) === value;
}

function fieldOf(message: string, field: string): unknown {
  const event = parseQuietly(message);
  return typeof event === 'object' && event !== null ? Reflect.get(event, field) : undefined;
}
