/**
 * The next autostart of a workspace, from its cron schedule, as coderd computes it
 * (coderd/schedule/cron, robfig/cron). A schedule is `CRON_TZ=Europe/Berlin 30 9 * * 1-5`: minute,
 * hour, two stars and days of the week. Without a time zone it is UTC. A local time that the clock
 * skips does not occur on that day; one that the clock shows twice occurs twice.
 */
import type { EpochMs } from '../model/brands.ts';
import { DAY_MS, MINUTE_MS } from '../model/units.ts';
import { instantsShowing, isZone, WEEKDAYS, wallOf } from '../model/zones.ts';

type Schedule = {
  readonly zone: string;
  /** Milliseconds since local midnight. */
  readonly timesMs: readonly number[];
  /** 0 = Sunday. */
  readonly weekdays: ReadonlySet<number>;
};

/** From yesterday, since a clock may repeat a day, until all weekdays have come. */
const DAYS = [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8] as const;

/**
 * Finds the first time after `after` that is in a schedule. The template must allow that day, by
 * the local date of the schedule's zone (NextAllowedAutostart). Undefined: there is no such time,
 * or the schedule cannot be parsed.
 */
export function nextAutostart(
  text: string,
  after: EpochMs,
  allowsDay: (weekday: string) => boolean,
): EpochMs | undefined {
  const schedule = parse(text);
  if (schedule === undefined) return undefined;
  const { zone, timesMs, weekdays } = schedule;
  const today = Math.floor(wallOf(zone, after) / DAY_MS) * DAY_MS;
  for (const days of DAYS) {
    const midnight = today + days * DAY_MS;
    const weekday = new Date(midnight).getUTCDay();
    if (!weekdays.has(weekday) || !allowsDay(WEEKDAYS[weekday] ?? '')) continue;
    const times = timesMs.flatMap((ms) => instantsShowing(zone, midnight + ms)).filter((at) => at > after);
    if (times.length > 0) return Math.min(...times) as EpochMs;
  }
  return undefined;
}

/** Parses the time zone of a schedule. */
export function zoneOf(schedule: string): string {
  return /^(?:CRON_TZ|TZ)=(\S+)/.exec(schedule)?.[1] ?? 'UTC';
}

function parse(text: string): Schedule | undefined {
  const zone = zoneOf(text);
  const [minute = '', hour = '', dayOfMonth, month, dayOfWeek = '', ...rest] = text
    .replace(/^(?:CRON_TZ|TZ)=\S+/, '')
    .trim()
    .split(/\s+/);
  if (!isZone(zone) || dayOfMonth !== '*' || month !== '*' || rest.length > 0) return undefined;
  const minutes = parseField(minute, 59);
  const hours = parseField(hour, 23);
  const weekdays = parseField(dayOfWeek.toLowerCase().replace(/[a-z]+/g, numberOfDay), 6);
  if (minutes === undefined || hours === undefined || weekdays === undefined) return undefined;
  const timesMs = hours.flatMap((h) => minutes.map((m) => (h * 60 + m) * MINUTE_MS));
  return { zone, timesMs, weekdays: new Set(weekdays) };
}

/** Replaces `mon` by its number. Any other text stays as it is. */
function numberOfDay(name: string): string {
  const found = WEEKDAYS.findIndex((weekday) => weekday.slice(0, 3) === name);
  return found < 0 ? name : String(found);
}

/** `*`, `1`, `1-5`, `1,3,5-6`, each with a step: `*\/2`; `3/2` starts from 3. */
function parseField(field: string, max: number): readonly number[] | undefined {
  const found: number[] = [];
  for (const part of field.split(',')) {
    const [, all, first, last, step] = /^(?:([*?])|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part) ?? [];
    if (all === undefined && first === undefined) return undefined;
    const from = Number(first ?? 0);
    const to = Number(last ?? (all !== undefined || step !== undefined ? max : from));
    const by = Number(step ?? 1);
    if (from > to || to > max || by === 0) return undefined;
    for (let number = from; number <= to; number += by) found.push(number);
  }
  return found;
}
