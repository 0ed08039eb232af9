/**
 * FilterLogEvents (CloudWatch Logs API Reference): events of a group in order of time, in pages of
 * at most 1 MiB. A page may be empty before the last one: the search goes on as long as there is a
 * token. The only supported filter pattern is `{ $.field = "value" }`, which matches events that
 * are JSON objects.
 */
import { z } from 'zod';
import { parseQuietly } from '../../lambda/decision/model/parse-quietly.ts';
import { AwsError } from '../base/aws-service.ts';
import type { LogEvent, LogsModel } from './model.ts';

const MOST_EVENTS = 10_000;
const PAGE_BYTES = 1024 * 1024;

export const filterRequest = z.object({
  logGroupName: z.string(),
  startTime: z.number().optional(),
  endTime: z.number().optional(),
  filterPattern: z.string().optional(),
  limit: z.int().min(1).max(MOST_EVENTS).default(MOST_EVENTS),
  nextToken: z.string().optional(),
});

/** The events of one page. Throws AwsError. */
export function filterLogEvents(model: LogsModel, request: z.infer<typeof filterRequest>) {
  const { logGroupName, startTime = 0, endTime = Number.POSITIVE_INFINITY } = request;
  const all = model.eventsOf(logGroupName);
  const from = request.nextToken === undefined ? 0 : Number(request.nextToken);
  const page = pageFrom(all, from, request.limit);
  const to = from + page.length;
  const isMatch = matcher(request.filterPattern);
  return {
    events: page
      .filter(({ timestamp, message }) => timestamp >= startTime && timestamp <= endTime && isMatch(message))
      .map((event) => ({ ...event, ingestionTime: event.timestamp, logStreamName: '2026/03/02/[$LATEST]0' })),
    ...(to < all.length ? { nextToken: `${to}` } : {}),
    searchedLogStreams: [],
  };
}

/** The next events that fit into one answer, before filtering. */
function pageFrom(all: readonly LogEvent[], from: number, limit: number): readonly LogEvent[] {
  const page: LogEvent[] = [];
  let bytes = 0;
  for (const event of all.slice(from, from + limit)) {
    bytes += Buffer.byteLength(event.message);
    if (page.length > 0 && bytes > PAGE_BYTES) break;
    page.push(event);
  }
  return page;
}

function matcher(pattern: string | undefined): (message: string) => boolean {
  if (pattern === undefined) return () => true;
  const [, field, value] = /^\{ \$\.(\w+) = "([^"]*)" \}$/.exec(pattern) ?? [];
  if (field === undefined) throw new AwsError('InvalidParameterException', 'Invalid filter pattern');
  return (message) => fieldOf(message, field) === value;
}

function fieldOf(message: string, field: string): unknown {
  const event = parseQuietly(message);
  return typeof event === 'object' && event !== null ? Reflect.get(event, field) : undefined;
}
