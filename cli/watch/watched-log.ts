/** What the page keeps of the function's log: the last look, changes, and what the looks of a day saw. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import * as z from 'zod';
import { EACH_TRY, endingWith } from '../../lambda/adapters/shared/aws-calls.ts';
import { type EpochMs, isoTime, plusMs } from '../../lambda/decision/model/brands.ts';
import { unique } from '../../lambda/decision/model/collections.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { parseQuietly } from '../../lambda/decision/model/parse-quietly.ts';
import type { IsoTime } from '../../lambda/decision/model/plan.ts';
import { LOG_GROUP_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { HOUR_MS } from '../../lambda/decision/model/units.ts';
import { AwsCallError } from '../adapters/aws-call-error.ts';
import { queryLogs } from '../adapters/insights.ts';
import { type LoggedLook, readLines, readLooks } from '../adapters/look-log.ts';
import { findLogGroup, type LogGroup } from '../logs/function-log.ts';
import { changesIn, type LoggedChange } from '../logs/logged-changes.ts';
import { PATIENT, withAdvice } from '../shared/aws-advice.ts';
import { type LastLook, lastLookOf } from '../status/read-log.ts';
import { addDay, dayQuery, rowWidthMs } from './strip/day-query.ts';
import { History, type Sample } from './strip/history.ts';

export type LogView = {
  readonly lastLook: LastLook;
  /** Of the last hour and since, the newest first. */
  readonly changes: readonly TimedChange[];
  readonly history: History;
  /** How far back the history goes, and what that cost. Null: it has all that the log has. */
  readonly note: string | null;
};

export type TimedChange = LoggedChange & { readonly at: IsoTime };

const MOST_CHANGES = 40;

const ZERO = z
  .number()
  .nullish()
  .transform((value) => value ?? 0);
const WORDS = z
  .string()
  .optional()
  .transform((text) => text?.split(' ') ?? []);

/** What the strip shows of a look's event (lambda/look/look-event.ts). */
const lookSchema = z.object({
  pending: ZERO,
  unserved: ZERO,
  alarms: WORDS,
  pools: z.array(
    z.object({
      name: z.string(),
      desiredTo: ZERO,
      busy: ZERO,
      tasks: ZERO,
      pending: ZERO,
      atMax: ZERO,
      marks: WORDS,
    }),
  ),
});

const waitSchema = z.object({
  id: z.string(),
  pool: z.string(),
  waitMs: z.number(),
  service: z.string().optional(),
});
type Wait = z.output<typeof waitSchema> & { readonly at: EpochMs };

export type WatchedLogOptions = {
  /** Milliseconds between two questions whether the query has ended. @default 250 to 2,000 */
  readonly pollMs?: number | undefined;
  /** Milliseconds after which the query is given up. @default a minute */
  readonly queryMs?: number | undefined;
};

const QUERY_MS = 60_000;
/** docs/internals/aws.md §10. */
const DOLLARS_PER_GB = 0.005;

/** Reads what is new in the log and remembers the rest, so that a page that is open costs little. */
export class WatchedLog {
  readonly #client = new CloudWatchLogsClient({ requestHandler: PATIENT });
  readonly #options: WatchedLogOptions;
  readonly #history = new History();
  #last: LoggedLook | undefined;
  #changes: readonly TimedChange[] = [];
  /** Of the last read: the next one begins a little earlier. */
  #waitIds: ReadonlySet<string> = new Set();
  #note: string | null = null;
  /** False: the query found nothing, so nothing was before the looks that are known. */
  #hasDay = true;
  #day: Promise<void> | undefined;

  constructor(options: WatchedLogOptions = {}) {
    this.#options = options;
  }

  /** A log that cannot be read gives an unknown last look, with the cause. The first read begins the query of the day. */
  async read({ ecs, takenAt }: Snapshot, config: Config, now: EpochMs): Promise<LogView> {
    const log = findLogGroup(ecs.services.items, config);
    if (log === undefined) {
      const why = `no ECS service has the tag ${LOG_GROUP_TAG}`;
      this.#note = `${UNKNOWN_DAY}: ${why}`;
      return this.#view({ kind: 'unknown', why });
    }
    try {
      const since = this.#last?.takenAt ?? plusMs(now, -HOUR_MS);
      const [looks, waits] = await Promise.all([
        readLooks(this.#client, log, since),
        readLines(this.#client, { group: log.group, startTime: since, message: 'wait' }, (line, at) =>
          readWait(line, at, log.service),
        ),
      ]);
      for (const look of looks) this.#add(look);
      this.#addWaits(waits);
      this.#history.advance(takenAt);
      // the first looks come first: the query adds what was before them
      this.#day ??= this.#readDay(log, config, now);
      return this.#view(lastLookOf(this.#last, log, now));
    } catch (cause) {
      if (!(cause instanceof AwsCallError)) throw cause;
      this.#note ??= `${UNKNOWN_DAY}: the log cannot be read`;
      return this.#view({ kind: 'unknown', why: withAdvice(cause.message) });
    }
  }

  /** How far back the history goes, and what that cost. Null: it has all that the log has. */
  get note(): string | null {
    if (this.#hasDay) return this.#note;
    return this.#history.bins.size === 0 ? NO_LOOKS : null;
  }

  /** Settles once the query of the day has ended, whatever its result. */
  async dayIsRead(): Promise<void> {
    await this.#day;
  }

  async #readDay(log: LogGroup, config: Config, now: EpochMs): Promise<void> {
    this.#note = READING_DAY;
    const widthMs = rowWidthMs(config.pools.length);
    const until = AbortSignal.timeout(this.#options.queryMs ?? QUERY_MS);
    const client = new CloudWatchLogsClient({ requestHandler: PATIENT });
    client.middlewareStack.add(endingWith(until), EACH_TRY);
    const pause = (ms: number): Promise<void> =>
      // at the end of the time the next request fails
      sleep(this.#options.pollMs ?? ms, undefined, { signal: until }).catch(() => {});
    try {
      const { rows, bytesScanned } = await queryLogs(client, dayQuery(log, now, widthMs), { sleep: pause });
      addDay(this.#history, rows, { now, widthMs });
      this.#note = costText(bytesScanned);
      this.#hasDay = rows.length > 0;
    } catch (cause) {
      const why = until.aborted ? 'the query of the log has not ended in time' : withAdvice(messageOf(cause));
      this.#note = `${UNKNOWN_DAY}: ${why}`;
    } finally {
      client.destroy();
    }
  }

  #add(look: LoggedLook): void {
    if (this.#last !== undefined && look.takenAt <= this.#last.takenAt) return;
    this.#last = look;
    const at = isoTime(look.takenAt);
    const added = changesIn(look.line).map((change) => ({ ...change, at }));
    this.#changes = [...added, ...this.#changes].slice(0, MOST_CHANGES);
    const event = lookSchema.safeParse(parseQuietly(look.line)).data;
    if (event === undefined) return;
    const { pending, unserved, alarms, pools } = event;
    const samples = pools.map(({ name, desiredTo, pending: waiting, ...pool }) => {
      const sample: Sample = { ...pool, desired: desiredTo, waiting, most: pool.tasks };
      return [name, sample] as const;
    });
    this.#history.look(look.takenAt, new Map(samples), { waiting: pending + unserved, alarms });
  }

  /** Two processes may log the same start. */
  #addWaits(waits: readonly Wait[]): void {
    for (const { id, at, pool, waitMs } of unique(waits, ({ id: own }) => own))
      if (!this.#waitIds.has(id)) this.#history.wait(at, pool, waitMs);
    this.#waitIds = new Set(waits.map(({ id }) => id));
  }

  #view(lastLook: LastLook): LogView {
    return { lastLook, changes: this.#changes, history: this.#history, note: this.note };
  }
}

export const UNKNOWN_DAY = 'What was before is unknown';
const NO_LOOKS = 'The log has no look of the last day.';
const READING_DAY = 'What was before is being read from the log.';

function costText(bytes: number): string {
  const dollars = (bytes / 1e9) * DOLLARS_PER_GB;
  const read = bytes < 1e6 ? 'less than 1 MB' : `${Math.round(bytes / 1e6)} MB`;
  const cost = dollars < 0.0001 ? 'less than $0.0001' : `$${dollars.toFixed(4)}`;
  return `One query read ${read} of the log, for ${cost}.`;
}

function readWait(line: string, at: EpochMs, service: string | undefined): Wait | undefined {
  const wait = waitSchema.safeParse(parseQuietly(line)).data;
  if (wait === undefined || (service !== undefined && wait.service !== service)) return undefined;
  return { ...wait, at };
}
