/** Clocks on walls elsewhere. What one shows is kept as the time at which a clock in UTC shows the same: `wallMs`. */
import { type EpochMs, plusMs } from './brands.ts';

/** Sunday first, as cron and Date count them. */
export const WEEKDAYS = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The day of the week at a time in an IANA zone, `monday`; undefined for a zone that there isn't. */
export function weekdayIn(zone: string, at: EpochMs): string | undefined {
  return isZone(zone) ? WEEKDAYS[new Date(wallOf(zone, at)).getUTCDay()] : undefined;
}

/** Whether there is such a time zone. */
export function isZone(zone: string): boolean {
  return formatterOf(zone) !== undefined;
}

/** What the clock of a zone shows. Throws where there is no such zone. */
export const wallOf = (zone: string, now: EpochMs): number => now + offsetMs(zone, now);

/** The instants at which the clock shows a time: two where it is set back; where it skips it, the one after. */
export function instantsOf(zone: string, wallMs: number): readonly EpochMs[] {
  const shown = instantsShowing(zone, wallMs);
  return shown.length > 0 ? shown : [endOfGap(zone, candidatesFor(zone, wallMs))];
}

/** The instants at which the clock shows a time: none where it skips it. */
export function instantsShowing(zone: string, wallMs: number): readonly EpochMs[] {
  return candidatesFor(zone, wallMs).filter((instant) => wallOf(zone, instant) === wallMs);
}

function candidatesFor(zone: string, wallMs: number): readonly EpochMs[] {
  const offsets = [-DAY_MS, DAY_MS].map((ms) => offsetMs(zone, (wallMs + ms) as EpochMs));
  return [...new Set(offsets)].map((offset) => (wallMs - offset) as EpochMs);
}

/** The first instant with the later of two offsets. */
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

/** How far the clock on the wall is ahead of UTC. */
function offsetMs(zone: string, now: EpochMs): number {
  const formatter = formatterOf(zone);
  if (formatter === undefined) throw new RangeError(`reading a clock: there is no time zone "${zone}"`);
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(formatter.format(now)) ?? [];
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * MINUTE_MS;
  return sign === '-' ? -offset : offset;
}

/** Slow to make. */
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
