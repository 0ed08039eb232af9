/** Computes the task-hours of a pool from an average week: its floors, its busy tasks and its free tasks. */
import type { DeployedPool } from '../../lambda/config/rules/deployment.ts';
import type { Schedule } from '../../lambda/decision/model/config.ts';
import { MINUTE_MS, MONTH_HOURS } from '../../lambda/decision/model/units.ts';
import { leastOf } from '../../lambda/decision/settings/settings-in-force.ts';
import { type ExpectedStock, expectedStock } from './expected-stock.ts';

const DAY_MINUTES = 24 * 60;
const WEEK_MINUTES = 7 * DAY_MINUTES;

/** Monday to Friday, ten hours from 08:00, in the time zone of the schedules. */
const WORK = { days: [1, 2, 3, 4, 5], fromMinute: 8 * 60, toMinute: 18 * 60 } as const;
/** Minutes of a working day. */
export const WORK_DAY_MINUTES = WORK.toMinute - WORK.fromMinute;
/** The hours of a month in which people work: 217, which is 22 days. */
export const WORK_HOURS = (50 * MONTH_HOURS) / 168;

/** How much is built. */
export type Load = {
  /** The share of `max` that is busy in working hours, on average. */
  readonly share: number;
};

/** Assumptions about builds, from the trace `1k-users` (docs/backtest.md), which has 8,348 builds a week. */
export const BUILDS = {
  /** Average duration of a build, in minutes. */
  minutes: 1,
  /** The share of builds that people start, which the autoscaler cannot forecast. */
  unforeseen: 0.6,
  /** With fewer unforeseen builds on a working day, a pool keeps no daemon free. */
  leastADay: 2,
} as const;

/** The task-hours of a pool in a month. */
export function taskHours(pool: DeployedPool, load: Load): number {
  const stock = stockOf(pool, load);
  const starts = changesOf([WORK, ...pool.schedules]);
  let all = 0;
  for (const [index, start] of starts.entries()) {
    const minutes = (starts[index + 1] ?? WEEK_MINUTES) - start;
    all += minutes * tasksAt(pool, load, stock, start);
  }
  return (all / WEEK_MINUTES) * MONTH_HOURS;
}

type Hours = Pick<Schedule, 'days' | 'fromMinute' | 'toMinute'>;

/** The minutes of the week at which hours begin or end, in order. The first is minute 0. */
function changesOf(all: readonly Hours[]): readonly number[] {
  const changes = all.flatMap(({ days, fromMinute, toMinute }) =>
    days.flatMap((day) => {
      const from = day * DAY_MINUTES + fromMinute;
      return [from, from + lengthOf({ fromMinute, toMinute })];
    }),
  );
  return [...new Set([0, ...changes.map((minute) => minute % WEEK_MINUTES)])].sort((a, b) => a - b);
}

/** Minutes. Hours that end before they begin last until the next day. */
function lengthOf({ fromMinute, toMinute }: Omit<Hours, 'days'>): number {
  return toMinute > fromMinute ? toMinute - fromMinute : toMinute - fromMinute + DAY_MINUTES;
}

/** The hours of a month in which the pool's tasks build. */
export function buildHours(pool: DeployedPool, { share }: Load): number {
  return pool.retiring ? 0 : Math.min(share, 1) * pool.max * WORK_HOURS;
}

/**
 * The pool's average tasks in one minute of the week. Minute 0 is the first of Sunday. Not a whole
 * number.
 */
function tasksAt(pool: DeployedPool, { share }: Load, stock: ExpectedStock, minute: number): number {
  if (pool.retiring) return 0;
  const active = pool.schedules.filter((schedule) => isActive(schedule, minute));
  const isWork = isActive(WORK, minute);
  // The forecast is readable, so an unset min is 0 if wake is on.
  const min = Math.max(leastOf(pool, undefined), ...active.map((schedule) => schedule.min));
  const warm = Math.max(isWork ? stock.atWork : stock.else, ...active.map((schedule) => schedule.warm));
  const busy = isWork ? share * pool.max : 0;
  return Math.min(pool.max, Math.max(min, busy + warm));
}

/** The daemons that a pool keeps free on average. */
function stockOf(pool: DeployedPool, { share }: Load): ExpectedStock {
  if (pool.warm !== 'auto') return { atWork: pool.warm, else: pool.warm };
  // coderd starts the builds of a pool of prebuilds
  const unforeseen = pool.tags.is_prebuild === 'true' ? 0 : BUILDS.unforeseen;
  const perMinute = (Math.min(share, 1) * pool.max * unforeseen) / BUILDS.minutes;
  if (perMinute * WORK_DAY_MINUTES < BUILDS.leastADay) return { atWork: 0, else: 0 };
  const tookMs = BUILDS.minutes * MINUTE_MS;
  return expectedStock(pool, { perMinute, workMinutes: WORK_DAY_MINUTES, tookMs });
}

function isActive({ days, ...hours }: Hours, minute: number): boolean {
  const length = lengthOf(hours);
  return days.some(
    (day) => (minute - day * DAY_MINUTES - hours.fromMinute + WEEK_MINUTES) % WEEK_MINUTES < length,
  );
}
