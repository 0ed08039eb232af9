/**
 * Converts times into local time of the trace's time zone. A local time is a number: the
 * milliseconds at which a UTC clock shows the same, as charts only know UTC. An hour repeats when
 * clocks go back.
 */
import type { Backtest } from '../../replay/result.ts';

export const DAY_MS = 86_400_000;

export function wallClock(timezone: string): (at: number) => number {
  const iso = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return (at) => Date.parse(`${iso.format(at).replace(' ', 'T')}Z`);
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const day = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short' });
const weekday = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', weekday: 'short' });
const time = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', hour: '2-digit', minute: '2-digit' });

/** `Mon 2 Mar`. This function and the next two take a local time. */
export const dayLabel = (wall: number): string => `${weekday.format(wall)} ${day.format(wall)}`;
/** `09:10` */
export const timeLabel = (wall: number): string => time.format(wall);
export const yearLabel = (wall: number): string => String(new Date(wall).getUTCFullYear());
/** `Mon 09:00`, from the hour of the week: 0 to 167. */
export const hourOfWeekLabel = (hour: number): string =>
  `${WEEKDAYS[Math.floor(hour / 24)]} ${String(hour % 24).padStart(2, '0')}:00`;

/** A range of local times. */
export type Range = { readonly from: number; readonly to: number };

/** The local days that the trace covers, in whole or in part. */
export function daysOf({ trace }: Backtest): readonly Range[] {
  const wall = wallClock(trace.timezone);
  const first = Math.floor(wall(trace.from) / DAY_MS) * DAY_MS;
  const days = Math.ceil((wall(trace.to) - first) / DAY_MS);
  return Array.from({ length: days }, (_, at) => ({
    from: first + at * DAY_MS,
    to: first + (at + 1) * DAY_MS,
  }));
}

/** `Mon 2 Mar to Sun 8 Mar 2026`. If the trace ends at midnight, its last day is the day before. */
export function periodLabel({ trace }: Backtest): string {
  const wall = wallClock(trace.timezone);
  const [from, to] = [wall(trace.from), wall(trace.to) - 1];
  const days = dayLabel(from) === dayLabel(to) ? dayLabel(from) : `${dayLabel(from)} to ${dayLabel(to)}`;
  return `${days} ${yearLabel(to)}`;
}

type Period = Pick<Backtest['trace'], 'from' | 'to'>;

/** `7 days`, `36 hours`, `20 minutes`. */
export function lengthLabel({ trace }: { readonly trace: Period }): string {
  const minutes = Math.round((trace.to - trace.from) / 60_000);
  if (minutes < 30) return minutes < 2 ? 'a minute' : `${minutes} minutes`;
  const length = Math.round((trace.to - trace.from) / 3_600_000);
  if (length % 24 === 0) return length === 24 ? 'a day' : `${length / 24} days`;
  return length === 1 ? 'an hour' : `${length} hours`;
}
