/** What the page keeps of the function's log: changes of the last hour, the last look, and task-hours of a day. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import * as z from 'zod';
import { type EpochMs, isoTime, plusMs } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { IsoTime } from '../../lambda/decision/model/plan.ts';
import { LOG_GROUP_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { LogQueryError, queryLogs } from '../adapters/insights.ts';
import { LookLogError, readLooks } from '../adapters/look-log.ts';
import { findLogGroup, type LogGroup, linesOf } from '../logs/function-log.ts';
import { changesIn, type LoggedChange } from '../logs/logged-changes.ts';
import { PATIENT, withAdvice } from '../shared/aws-advice.ts';
import { type LastLook, lastLookOf } from '../status/read-log.ts';

export type LogView = {
  readonly lastLook: LastLook;
  /** The newest first. */
  readonly changes: readonly TimedChange[];
  /** Of the last 24 hours. Undefined: the log has not told. */
  readonly hours: readonly TaskHours[] | undefined;
};

export type TimedChange = LoggedChange & { readonly at: IsoTime };

const PARTS_AN_HOUR = 12;
const hoursSchema = z
  .object({
    name: z.string(),
    taskHours: z.coerce.number(),
    most: z.coerce.number(),
    parts: z.coerce.number(),
  })
  .transform(({ parts, ...rest }) => ({ ...rest, hours: parts / PARTS_AN_HOUR }));
/**
 * Of a pool: the hours of its tasks together, the most tasks on average over five minutes, and the hours of
 * which the log tells.
 */
export type TaskHours = z.output<typeof hoursSchema>;

/** As "cost in task hours by pool" of infra/constructs/watching/log-queries.ts. */
const HOURS = [
  'fields jsonParse(@message) as look',
  'unnest look.pools into pool',
  'stats avg(pool.tasks) as tasks by bin(5m) as since, pool.name as name',
  'stats sum(tasks) / 12 as taskHours, max(tasks) as most, count(*) as parts by name',
];
/** CloudWatch bills a query by the bytes that it reads: a day of looks is about 12 MB, or $0.00006. */
const HOURS_EVERY_MS = 5 * MINUTE_MS;
const MOST_CHANGES = 40;

/** Reads what is new in the log. It remembers the rest, so that a page that is open costs little. */
export class WatchedLog {
  readonly #client = new CloudWatchLogsClient({ requestHandler: PATIENT });
  readonly #pollMs: number | undefined;
  #seen: { readonly last: Awaited<ReturnType<typeof readLooks>>[number] } | undefined;
  #changes: readonly TimedChange[] = [];
  #hours: LogView['hours'];
  #hoursAt = Number.NEGATIVE_INFINITY;

  /** `pollMs`: milliseconds between two questions whether a query has ended. */
  constructor(pollMs?: number) {
    this.#pollMs = pollMs;
  }

  /** A log that cannot be read gives an unknown last look, with the cause. */
  async read({ ecs }: Snapshot, config: Config, now: EpochMs): Promise<LogView> {
    const log = findLogGroup(ecs.services.items, config);
    if (log === undefined) return this.#unknown(`no ECS service has the tag ${LOG_GROUP_TAG}`);
    try {
      const looks = await readLooks(this.#client, log, this.#seen?.last.takenAt ?? plusMs(now, -HOUR_MS));
      for (const look of looks) this.#add(look);
      if (now - this.#hoursAt >= HOURS_EVERY_MS) {
        this.#hoursAt = now;
        this.#hours = await this.#readHours(log, now);
      }
      return { ...this.#view(), lastLook: lastLookOf(this.#seen?.last, log, now) };
    } catch (cause) {
      if (cause instanceof LookLogError || cause instanceof LogQueryError)
        return this.#unknown(withAdvice(cause.message));
      throw cause;
    }
  }

  #add(look: Awaited<ReturnType<typeof readLooks>>[number]): void {
    if (this.#seen !== undefined && look.takenAt <= this.#seen.last.takenAt) return;
    this.#seen = { last: look };
    const at = isoTime(look.takenAt);
    const added = changesIn(look.line).map((change) => ({ ...change, at }));
    this.#changes = [...added, ...this.#changes].slice(0, MOST_CHANGES);
  }

  async #readHours({ group, service }: LogGroup, now: EpochMs): Promise<LogView['hours']> {
    const query = [linesOf(['look'], service), ...HOURS].join('\n| ');
    const span = { groups: [group], from: plusMs(now, -DAY_MS), to: now };
    const clock = { sleep: (ms: number) => sleep(this.#pollMs ?? ms) };
    const { rows } = await queryLogs(this.#client, { ...span, query }, clock);
    return rows.flatMap((row) => hoursSchema.safeParse(row).data ?? []);
  }

  #view(): Omit<LogView, 'lastLook'> {
    return { changes: this.#changes, hours: this.#hours };
  }

  #unknown(why: string): LogView {
    return { ...this.#view(), lastLook: { kind: 'unknown', why } };
  }

  close(): void {
    this.#client.destroy();
  }
}
