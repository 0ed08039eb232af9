/** What the page keeps of the function's log: the last look, changes, and how many tasks there were. */
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import * as z from 'zod';
import { type EpochMs, isoTime, plusMs } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { parseQuietly } from '../../lambda/decision/model/parse-quietly.ts';
import type { IsoTime } from '../../lambda/decision/model/plan.ts';
import { LOG_GROUP_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { HOUR_MS } from '../../lambda/decision/model/units.ts';
import { AwsCallError } from '../adapters/aws-call-error.ts';
import { type LoggedLook, readLooks } from '../adapters/look-log.ts';
import { findLogGroup } from '../logs/function-log.ts';
import { changesIn, type LoggedChange } from '../logs/logged-changes.ts';
import { PATIENT, withAdvice } from '../shared/aws-advice.ts';
import { type LastLook, lastLookOf } from '../status/read-log.ts';

export type LogView = {
  readonly lastLook: LastLook;
  /** Of the last hour and since, the newest first. */
  readonly changes: readonly TimedChange[];
  /** Of the last hour and since. Undefined: the log has not two looks. */
  readonly past: Past | undefined;
};

export type TimedChange = LoggedChange & { readonly at: IsoTime };

/** `tasks`: of the last look. `taskHours`: of all tasks together. */
type Figures = { readonly tasks: number; readonly most: number; readonly taskHours: number };
/** By name. */
export type Past = { readonly hours: number; readonly pools: ReadonlyMap<string, Figures> };

const MOST_CHANGES = 40;

const tasksSchema = z.object({ pools: z.array(z.object({ name: z.string(), tasks: z.number() })) });

/** Reads what is new in the log and remembers the rest, so that a page that is open costs little. */
export class WatchedLog {
  readonly #client = new CloudWatchLogsClient({ requestHandler: PATIENT });
  #last: LoggedLook | undefined;
  #changes: readonly TimedChange[] = [];
  #past: Past = { hours: 0, pools: new Map() };

  /** A log that cannot be read gives an unknown last look, with the cause. */
  async read({ ecs }: Snapshot, config: Config, now: EpochMs): Promise<LogView> {
    const log = findLogGroup(ecs.services.items, config);
    if (log === undefined)
      return this.#view({ kind: 'unknown', why: `no ECS service has the tag ${LOG_GROUP_TAG}` });
    try {
      const since = this.#last?.takenAt ?? plusMs(now, -HOUR_MS);
      for (const look of await readLooks(this.#client, log, since)) this.#add(look);
      return this.#view(lastLookOf(this.#last, log, now));
    } catch (cause) {
      if (!(cause instanceof AwsCallError)) throw cause;
      return this.#view({ kind: 'unknown', why: withAdvice(cause.message) });
    }
  }

  #add(look: LoggedLook): void {
    if (this.#last !== undefined && look.takenAt <= this.#last.takenAt) return;
    const hours = (look.takenAt - (this.#last?.takenAt ?? look.takenAt)) / HOUR_MS;
    this.#last = look;
    const at = isoTime(look.takenAt);
    const added = changesIn(look.line).map((change) => ({ ...change, at }));
    this.#changes = [...added, ...this.#changes].slice(0, MOST_CHANGES);
    const pools = tasksSchema.safeParse(parseQuietly(look.line)).data?.pools ?? [];
    const figures = pools.map(({ name, tasks }) => {
      // a pool has the tasks of a look until the next one
      const before = this.#past.pools.get(name) ?? { tasks: 0, most: 0, taskHours: 0 };
      const taskHours = before.taskHours + before.tasks * hours;
      return [name, { tasks, most: Math.max(before.most, tasks), taskHours }] as const;
    });
    this.#past = { hours: this.#past.hours + hours, pools: new Map([...this.#past.pools, ...figures]) };
  }

  #view(lastLook: LastLook): LogView {
    return { lastLook, changes: this.#changes, past: this.#past.hours === 0 ? undefined : this.#past };
  }
}
