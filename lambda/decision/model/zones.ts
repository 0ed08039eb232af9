/**
 * Local times of IANA time zones, computed with `Intl.DateTimeFormat`. A local time is stored as
 * `wallMs`: the epoch milliseconds at which a UTC clock shows the same time.
 */
import { type EpochMs, plusMs } from './brands.ts';
import { DAY_MS, MINUTE_MS } from './units.ts';

/** In the order of cron and `Date`: Sunday first. */
export const WEEKDAYS = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const;

/** The day of the week in an IANA zone, such as `monday`. Undefined for an unknown zone. */
export function weekdayIn(zone: string, at: EpochMs): string | undefined {
  return isZone(zone) ? WEEKDAYS[new Date(wallOf(zone, at)).getUTCDay()] : undefined;
}

/** Whether the runtime knows a time zone. */
export function isZone(zone: string): boolean {
  return formatterOf(zone) !== undefined;
}

/** The local time of a zone. Throws RangeError for an unknown zone. */
export const wallOf = (zone: string, now: EpochMs): number => now + offsetMs(zone, now);

/** Two if the clock is set back over it; the end of the gap if the clock skips it. */
export function instantsOf(zone: string, wallMs: number): readonly EpochMs[] {
  const shown = instantsShowing(zone, wallMs);
  return shown.length > 0 ? shown : [endOfGap(zone, candidatesFor(zone, wallMs))];
}

/** The instants of a local time; none if the clock skips it. */
export function instantsShowing(zone: string, wallMs: number): readonly EpochMs[] {
  return candidatesFor(zone, wallMs).filter((instant) => wallOf(zone, instant) === wallMs);
}

function candidatesFor(zone: string, wallMs: number): readonly EpochMs[] {
  const offsets = [-DAY_MS, DAY_MS].map((ms) => offsetMs(zone, (wallMs + ms) as EpochMs));
  return [...new Set(offsets)].map((offset) => (wallMs - offset) as EpochMs);
}

/** The first instant after the gap, at which the later of two offsets holds. */
function endOfGap(zone: string, candidates: readonly EpochMs[]): EpochMs {
  let before = Math.min(...candidates) as EpochMs;
  let after = Math.max(...candidates) as EpochMs;
  const late = offsetMs(zone, after);
  while (after - before > 1) {
    const between = plusMs(before, Math.floor((after - before) / 2));
    if (offsetMs(zone, between) === late) after = between;
    else before = between;
  }
  return after;
}

/** The offset of a zone from UTC in milliseconds; positive east of Greenwich. */
function offsetMs(zone: string, now: EpochMs): number {
  const formatter = formatterOf(zone);
  if (formatter === undefined) throw new RangeError(`reading a clock: there is no time zone "${zone}"`);
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(formatter.format(now)) ?? [];
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * MINUTE_MS;
  return sign === '-' ? -offset : offset;
}

/** Cached because a formatter is slow to create. */
const formatters = new Map<string, Intl.DateTimeFormat | undefined>();

function formatterOf(zone: string): Intl.DateTimeFormat | undefined {
  if (!formatters.has(zone)) formatters.set(zone, newFormatter(zone));
  return formatters.get(zone);
}

function newFormatter(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    return undefined;
  }
}
