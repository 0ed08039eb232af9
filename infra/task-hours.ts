/** How many tasks a pool has over an average week, by its floors and by how much is built. */
import type { DeployedPool } from '../lambda/adapters/config/deployment.ts';
import type { Schedule } from '../lambda/core/config.ts';

/** The hours of an average month. */
export const MONTH_HOURS = 730;
const DAY_MINUTES = 24 * 60;
const WEEK_MINUTES = 7 * DAY_MINUTES;

/** Monday to Friday, ten hours from 08:00 on the clock that the schedules go by. */
const WORK = { days: [1, 2, 3, 4, 5], fromMinute: 8 * 60, toMinute: 18 * 60 } as const;
/** The hours of a month in which people work: 217, which is 22 days. */
export const WORK_HOURS = (50 * MONTH_HOURS) / 168;

/** What is built. */
export type Load = {
  /** Of `max`: busy in working hours on average, those that start or idle for a while included. */
  readonly share: number;
};

/** Task-hours a month. */
export type TaskHours = { readonly onDemand: number; readonly spot: number };

/** The task-hours of a pool in a month: its floors, and what is busy in working hours. */
export function taskHours(pool: DeployedPool, load: Load): TaskHours {
  const minutes = Array.from({ length: WEEK_MINUTES }, (_, minute) => tasksAt(pool, load, minute));
  const monthly = (counts: readonly number[]) =>
    (counts.reduce((sum, count) => sum + count, 0) / WEEK_MINUTES) * MONTH_HOURS;
  const onDemand = minutes.map((tasks) => (pool.spot ? Math.min(tasks, pool.spotBase) : tasks));
  return { onDemand: monthly(onDemand), spot: monthly(minutes) - monthly(onDemand) };
}

/** The pool's tasks in one minute of the week, of which Sunday's first is 0; on average, so not a whole number. */
function tasksAt(pool: DeployedPool, { share }: Load, minute: number): number {
  if (pool.retiring) return 0;
  const active = pool.schedules.filter((schedule) => isActive(schedule, minute));
  const min = Math.max(pool.min, ...active.map((schedule) => schedule.min));
  const warm = Math.max(pool.warm, ...active.map((schedule) => schedule.warm));
  const busy = isActive(WORK, minute) ? share * pool.max : 0;
  return Math.min(pool.max, Math.max(min, busy + warm));
}

function isActive(
  { days, fromMinute, toMinute }: Pick<Schedule, 'days' | 'fromMinute' | 'toMinute'>,
  minute: number,
): boolean {
  const length = toMinute > fromMinute ? toMinute - fromMinute : toMinute - fromMinute + DAY_MINUTES;
  return days.some((day) => (minute - day * DAY_MINUTES - fromMinute + WEEK_MINUTES) % WEEK_MINUTES < length);
}
