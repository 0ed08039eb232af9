/** How many tasks a pool has over an average week: its floors, the busy ones, and those that it keeps free. */
import type { DeployedPool } from '../lambda/config/rules/deployment.ts';
import type { Schedule } from '../lambda/decision/model/config.ts';
import { leastOf } from '../lambda/decision/settings/settings-in-force.ts';
import { expectedStock } from './expected-stock.ts';

/** The hours of an average month. */
export const MONTH_HOURS = 730;
const DAY_MINUTES = 24 * 60;
const WEEK_MINUTES = 7 * DAY_MINUTES;

/** Monday to Friday, ten hours from 08:00 on the clock that the schedules go by. */
const WORK = { days: [1, 2, 3, 4, 5], fromMinute: 8 * 60, toMinute: 18 * 60 } as const;
/** Of a working day. */
export const WORK_DAY_MINUTES = WORK.toMinute - WORK.fromMinute;
/** The hours of a month in which people work: 217, which is 22 days. */
export const WORK_HOURS = (50 * MONTH_HOURS) / 168;

/** What is built. */
export type Load = {
  /** Of `max`: busy in working hours on average. */
  readonly share: number;
};

/** What no configuration tells, from the trace `1k-users` (docs/traces.md): 8,348 builds a week. */
export const BUILDS = {
  /** Minutes that a build takes, on average. */
  minutes: 1,
  /** The share that people start, so that no forecast tells it. */
  unforeseen: 0.6,
  /** Unforeseen builds a working day; with fewer, a pool keeps no daemon free. */
  leastADay: 2,
} as const;

/** Task-hours a month. */
export type TaskHours = { readonly onDemand: number; readonly spot: number };

/** The task-hours of a pool in a month. */
export function taskHours(pool: DeployedPool, load: Load): TaskHours {
  const stock = { atWork: stockOf(pool, load, true), else: stockOf(pool, load, false) };
  const minutes = Array.from({ length: WEEK_MINUTES }, (_, minute) => tasksAt(pool, load, stock, minute));
  const monthly = (counts: readonly number[]) =>
    (counts.reduce((sum, count) => sum + count, 0) / WEEK_MINUTES) * MONTH_HOURS;
  const onDemand = minutes.map((tasks) => (pool.spot ? Math.min(tasks, pool.spotBase) : tasks));
  return { onDemand: monthly(onDemand), spot: monthly(minutes) - monthly(onDemand) };
}

/** The hours of a month in which the pool's tasks build. */
export function buildHours(pool: DeployedPool, { share }: Load): number {
  return pool.retiring ? 0 : Math.min(share, 1) * pool.max * WORK_HOURS;
}

type Stock = { readonly atWork: number; readonly else: number };

/** The pool's tasks in one minute of the week, of which Sunday's first is 0; on average, so not a whole number. */
function tasksAt(pool: DeployedPool, { share }: Load, stock: Stock, minute: number): number {
  if (pool.retiring) return 0;
  const active = pool.schedules.filter((schedule) => isActive(schedule, minute));
  const isWork = isActive(WORK, minute);
  // the forecast can be read, so that min is 0 where it is not written and wake is on
  const min = Math.max(leastOf(pool, undefined), ...active.map((schedule) => schedule.min));
  const warm = Math.max(isWork ? stock.atWork : stock.else, ...active.map((schedule) => schedule.warm));
  const busy = isWork ? share * pool.max : 0;
  return Math.min(pool.max, Math.max(min, busy + warm));
}

/**
 * The daemons that a pool keeps free. As the autoscaler does, it counts the builds of the moment and those of the last seven days, so
 * that a pool which is in use every day keeps some at night too.
 */
function stockOf(pool: DeployedPool, { share }: Load, isWork: boolean): number {
  if (pool.warm !== 'auto') return pool.warm;
  const busy = Math.min(share, 1) * pool.max * unforeseenShare(pool);
  const atWork = busy / BUILDS.minutes;
  if (atWork * WORK_DAY_MINUTES < BUILDS.leastADay) return 0;
  const ofTheWeek = (atWork * WORK_HOURS) / MONTH_HOURS;
  const endingShare = Math.min(1, pool.startTimeMs / 60_000 / BUILDS.minutes);
  return isWork
    ? expectedStock(pool, { perMinute: atWork + ofTheWeek, ending: Math.floor(busy * endingShare) })
    : expectedStock(pool, { perMinute: ofTheWeek, ending: 0 });
}

/** A pool for prebuilds alone has none: coderd starts them. */
function unforeseenShare({ tags }: DeployedPool): number {
  return tags.is_prebuild === 'true' ? 0 : BUILDS.unforeseen;
}

function isActive(
  { days, fromMinute, toMinute }: Pick<Schedule, 'days' | 'fromMinute' | 'toMinute'>,
  minute: number,
): boolean {
  const length = toMinute > fromMinute ? toMinute - fromMinute : toMinute - fromMinute + DAY_MINUTES;
  return days.some((day) => (minute - day * DAY_MINUTES - fromMinute + WEEK_MINUTES) % WEEK_MINUTES < length);
}
