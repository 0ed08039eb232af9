/**
 * The autostart schedules of workspaces, as coderd reads them: `CRON_TZ=Europe/Berlin 30 9 * * 1-5`, the parts being minute,
 * hour, two stars and days of the week (0 = Sunday). Without a time zone it is UTC.
 *
 * Of robfig/cron, which coderd uses: a time that a change of the clocks leaves out does not come that day, one that
 * comes twice comes twice.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { WEEKDAYS } from '../../../lambda/decision/model/zones.ts';

export type Weekday = (typeof WEEKDAYS)[number];

type Schedule = {
  readonly timezone: string;
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
};

const MINUTE_MS = 60_000;
/** The clocks of all zones differ from UTC by whole quarters of an hour, and change at such. */
const QUARTER_MS = 15 * MINUTE_MS;
const HOUR_MS = 4 * QUARTER_MS;
/** A weekly schedule comes within a week, a week with a change of the clocks being an hour longer. */
const HORIZON_MS = 8 * 24 * HOUR_MS;

const schedules = new Map<string, Schedule>();
const formats = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, Map<number, number>>();

/**
 * NextAllowedAutostart: the first time after `after` that is in the schedule and falls, by the clock of its zone, on a day that
 * the template allows; undefined if there is none. Throws what is wrong with a schedule.
 */
export function nextAllowedAutostart(
  after: EpochMs,
  schedule: string,
  allowedDays: readonly Weekday[],
): EpochMs | undefined {
  const { timezone, minutes, hours, days } = read(schedule);
  const allowed = new Set(WEEKDAYS.keys().filter((day) => allowedDays.includes(WEEKDAYS[day] ?? 'sunday')));
  const first = Math.floor(after / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  for (let time = first; time < after + HORIZON_MS; time = startOfQuarter(time) + QUARTER_MS) {
    const local = new Date(time + offsetMs(timezone, time));
    const day = local.getUTCDay();
    if (!hours.has(local.getUTCHours()) || !days.has(day) || !allowed.has(day)) continue;
    const minute = local.getUTCMinutes();
    for (let passed = 0; passed < 15 - (minute % 15); passed++)
      if (minutes.has(minute + passed)) return (time + passed * MINUTE_MS) as EpochMs;
  }
  return undefined;
}

function read(text: string): Schedule {
  const known = schedules.get(text) ?? parse(text);
  schedules.set(text, known);
  return known;
}

function parse(text: string): Schedule {
  const [, timezone = 'UTC', cron = ''] = /^(?:CRON_TZ=(\S+) )?(.*)$/.exec(text) ?? [];
  const [minute, hour, dayOfMonth, month, dayOfWeek, ...rest] = cron.split(' ');
  if (dayOfMonth !== '*' || month !== '*' || dayOfWeek === undefined || rest.length > 0)
    throw new Error(`reading the schedule "${text}": expected [CRON_TZ=<zone> ]<minute> <hour> * * <days>`);
  return {
    timezone,
    minutes: numbers(minute, 59),
    hours: numbers(hour, 23),
    days: numbers(dayOfWeek, 6),
  };
}

/** `*`, `1`, `1-5`, `1,3,5-6`. */
function numbers(field: string | undefined, max: number): ReadonlySet<number> {
  if (field === '*') return new Set(Array(max + 1).keys());
  const found = new Set<number>();
  for (const part of field?.split(',') ?? []) {
    const [, from, to = from] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (from === undefined || Number(from) > Number(to) || Number(to) > max)
      throw new Error(`reading a schedule: "${part}" is no number or range from 0 to ${max}`);
    for (let number = Number(from); number <= Number(to); number++) found.add(number);
  }
  return found;
}

const startOfQuarter = (time: number): number => Math.floor(time / QUARTER_MS) * QUARTER_MS;

/** What the zone's clock is ahead of UTC. */
export function offsetMs(timezone: string, time: number): number {
  const quarter = startOfQuarter(time);
  const known = offsets.get(timezone) ?? new Map<number, number>();
  offsets.set(timezone, known);
  const offset = known.get(quarter) ?? wallClock(timezone, quarter) - quarter;
  known.set(quarter, offset);
  return offset;
}

/** What the zone's clock shows, as if it were UTC. */
function wallClock(timezone: string, time: number): number {
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' },
    });
  formats.set(timezone, format);
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
}
