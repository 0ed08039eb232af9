/**
 * Schedules: floors that hold at certain local times, from the configured schedules and the time of
 * the look.
 *
 * At a change of daylight saving time the local clock skips an hour, or shows one twice. A window
 * begins at the first instant at which the clock shows its `from`. It ends at the last instant at
 * which the clock shows its `to`. If the clock skips that time, the instant is the end of the gap.
 * So a window is active whenever the clock shows a time in it.
 */
import type { EpochMs } from '../model/brands.ts';
import type { Schedule } from '../model/config.ts';
import { memoized } from '../model/memoize-by-object.ts';
import { DAY_MS, MINUTE_MS } from '../model/units.ts';
import { instantsOf, wallOf } from '../model/zones.ts';

/** `from` is inclusive, `to` is exclusive. */
export type Window = { readonly from: EpochMs; readonly to: EpochMs };
export type ScheduledFloors = { readonly min: number; readonly warm: number };

/** The highest `min` and the highest `warm` of all active schedules. */
export function scheduledFloors(schedules: readonly Schedule[], now: EpochMs): ScheduledFloors {
  const active = schedules.filter((schedule) => isActive(schedule, now));
  return {
    min: Math.max(0, ...active.map(({ min }) => min)),
    warm: Math.max(0, ...active.map(({ warm }) => warm)),
  };
}

/** Whether a window of the schedule is active now. */
export function isActive(schedule: Schedule, now: EpochMs): boolean {
  const today = Math.floor(wallOf(schedule.timezone, now) / DAY_MS);
  // a window that began yesterday may end today
  return [today, today - 1].some((day) => {
    const window = knownWindowOf(schedule, day);
    return window !== undefined && window.from <= now && now < window.to;
  });
}

/** Cached by days since 1970: every look needs the same two days. */
function knownWindowOf(schedule: Schedule, day: number): Window | undefined {
  const windows = windowsOf(schedule);
  if (!windows.has(day)) windows.set(day, windowOf(schedule, dateOf(day * DAY_MS)));
  return windows.get(day);
}

const windowsOf = memoized((_: Schedule) => new Map<number, Window | undefined>());

/** Undefined: none begins on this date. Empty: the clock skips all of it. */
export function windowOf(schedule: Schedule, date: string): Window | undefined {
  const { days, fromMinute, toMinute, timezone } = schedule;
  const midnight = Date.parse(`${date}T00:00:00Z`);
  if (!days.some((day) => day === new Date(midnight).getUTCDay())) return undefined;
  const end = midnight + toMinute * MINUTE_MS + (toMinute <= fromMinute ? DAY_MS : 0);
  return {
    from: Math.min(...instantsOf(timezone, midnight + fromMinute * MINUTE_MS)) as EpochMs,
    to: Math.max(...instantsOf(timezone, end)) as EpochMs,
  };
}

const dateOf = (wallMs: number): string => new Date(wallMs).toISOString().slice(0, 10);
