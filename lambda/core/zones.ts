/** Clocks on walls elsewhere. */
import type { EpochMs } from './brands.ts';

const weekdays = new Map<string, Intl.DateTimeFormat | undefined>();

/** The day of the week at a time in an IANA zone, `monday`; undefined for a zone that there isn't. */
export function weekdayIn(zone: string, at: EpochMs): string | undefined {
  if (!weekdays.has(zone)) weekdays.set(zone, weekdayFormat(zone));
  return weekdays.get(zone)?.format(at).toLowerCase();
}

function weekdayFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'long' });
  } catch {
    return undefined;
  }
}
