/**
 * Schedules for every minute of two years, and of a leap day, in seven zones, compared with a local
 * clock that is read minute by minute. The quick run leaves out most days on which no clock changes.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Schedule, Weekday } from '../../../lambda/decision/model/config.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { isActive, windowOf } from '../../../lambda/decision/settings/schedules.ts';
import { IS_FULL, runs } from '../../support/runs.ts';

const DAY_MINUTES = 1440;
const QUARTER_MINUTES = 15;

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Pacific/Apia',
  'Africa/Casablanca',
  'America/Santiago',
];

// the clocks of these zones skip 02:00 to 03:00 (02:00 to 02:30 in Lord Howe, the first hour of a
// day in Santiago), and show an hour from 01:00, 01:30, 02:00 or 23:00 twice
const TIMES = [
  ['08:30', '18:30'],
  ['00:00', '24:00'],
  ['00:00', '00:00'],
  ['22:00', '06:00'],
  ['23:45', '00:15'],
  ['02:30', '05:00'],
  ['23:00', '02:30'],
  ['01:15', '01:45'],
  ['02:15', '02:45'],
  ['01:00', '02:00'],
  ['02:00', '03:00'],
  ['03:00', '02:00'],
  ['23:00', '23:30'],
] as const;

const DAYS: readonly Weekday[] = [0, 1, 2, 3, 4, 5, 6];
const SPANS = [
  { first: '2026-01-01', last: '2027-12-31' },
  { first: '2028-02-26', last: '2028-03-02' },
];

/** The local time at each minute of a span, in minutes since 1970 as if it were UTC. */
type Clock = {
  readonly startMinute: number;
  readonly shown: Float64Array;
  /** How far it is ahead of UTC, in minutes. */
  readonly ahead: { readonly least: number; readonly most: number };
};

function readClock(timezone: string, { first, last }: (typeof SPANS)[number]): Clock {
  const startMinute = minuteOfDate(first) - 2 * DAY_MINUTES;
  const shown = new Float64Array(minuteOfDate(last) + 4 * DAY_MINUTES - startMinute);
  const face = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  const wallAt = (minute: number): number =>
    Date.parse(`${face.format((startMinute + minute) * MINUTE_MS).replace(' ', 'T')}Z`) / MINUTE_MS;
  const days = Array.from({ length: shown.length / DAY_MINUTES }, (_, day) => day * DAY_MINUTES);
  for (const day of days) {
    // on most days the clock does not change
    const isEven = wallAt(day + DAY_MINUTES) - wallAt(day) === DAY_MINUTES;
    const step = isEven ? DAY_MINUTES : QUARTER_MINUTES;
    for (let first = day; first < day + DAY_MINUTES; first += step) {
      const wall = wallAt(first);
      for (let minute = 0; minute < step; minute++) shown[first + minute] = wall + minute;
    }
  }
  const ahead = days.map((minute) => (shown[minute] ?? 0) - startMinute - minute);
  return { startMinute, shown, ahead: { least: Math.min(...ahead), most: Math.max(...ahead) } };
}

/**
 * The window of a date, found by reading the clock at each minute: from the first to the last
 * minute that shows a time in it.
 */
function windowByClock(clock: Clock, schedule: Schedule, date: string): string {
  const { fromMinute, toMinute } = schedule;
  const midnight = minuteOfDate(date);
  const isBegun = schedule.days.includes(weekdayOf(date));
  if (!isBegun) return 'none';
  const from = midnight + fromMinute;
  const to = midnight + toMinute + (toMinute > fromMinute ? 0 : DAY_MINUTES);
  const { startMinute, ahead } = clock;
  let first: number | undefined;
  let end = 0;
  for (let minute = from - startMinute - ahead.most; minute <= to - startMinute - ahead.least; minute++) {
    const wall = clock.shown[minute] ?? Number.NaN;
    if (wall < from || wall > to) continue;
    first ??= minute;
    end = wall === to ? minute : minute + 1;
  }
  if (first === undefined || first === end) return 'empty';
  return spell((clock.startMinute + first) * MINUTE_MS, (clock.startMinute + end) * MINUTE_MS);
}

function windowByRule(schedule: Schedule, date: string): string {
  const window = windowOf(schedule, date);
  if (window === undefined) return 'none';
  return window.from === window.to ? 'empty' : spell(window.from, window.to);
}

const spell = (from: number, to: number) =>
  `${new Date(from).toISOString()} to ${new Date(to).toISOString()}`;

const minuteOfDate = (date: string) => Date.parse(`${date}T00:00:00Z`) / MINUTE_MS;

const dateOf = (minute: number) => new Date(minute * MINUTE_MS).toISOString().slice(0, 10);

const weekdayOf = (date: string) => new Date(`${date}T00:00:00Z`).getUTCDay() as Weekday;

function datesOf({ first, last }: (typeof SPANS)[number]): readonly string[] {
  const days = (minuteOfDate(last) - minuteOfDate(first)) / DAY_MINUTES + 1;
  return Array.from({ length: days }, (_, day) => dateOf(minuteOfDate(first) + day * DAY_MINUTES));
}

/** Whether the clock changes within two days. */
function isNearChange({ startMinute, shown }: Clock, date: string): boolean {
  const place = minuteOfDate(date) - startMinute;
  const [before = 0, after = 0] = [shown[place - 2 * DAY_MINUTES], shown[place + 3 * DAY_MINUTES]];
  return after - before !== 5 * DAY_MINUTES;
}

const minuteOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

function aSchedule(timezone: string, [from, to]: readonly [string, string]): Schedule {
  const times = { fromMinute: minuteOf(from), toMinute: minuteOf(to) };
  return { days: DAYS, timezone, min: 0, warm: 1, ...times };
}

describe.each(ZONES)('%s', (timezone) => {
  const clocks = SPANS.map((span) => {
    const clock = readClock(timezone, span);
    const dates = datesOf(span).filter((date, day) => IS_FULL || day % 5 === 0 || isNearChange(clock, date));
    return { clock, dates };
  });

  it.each(TIMES)('a window from %s to %s follows the local clock', (...times) => {
    const schedule = aSchedule(timezone, times);
    const wrong = clocks.flatMap(({ clock, dates }) =>
      dates
        .map((date) => [windowByRule(schedule, date), windowByClock(clock, schedule, date), date])
        .filter(([rule, shown]) => rule !== shown),
    );
    expect(wrong).toEqual([]);
  });

  it('is active whenever the local clock shows a time of the window, and otherwise only in a repeated hour', () => {
    for (const { clock } of clocks)
      for (const minute of minutesAroundChanges(clock))
        for (const times of [
          ['22:00', '06:00'],
          ['01:15', '02:30'],
        ] as const)
          expectActivity(clock, aSchedule(timezone, times), minute);
  });
});

/** Every seventh minute from a day before to a day after each change. */
function minutesAroundChanges({ shown }: Clock): readonly number[] {
  const changes: number[] = [];
  for (let minute = 1; minute < shown.length; minute++)
    if (shown[minute] !== (shown[minute - 1] ?? 0) + 1) changes.push(minute);
  return changes.flatMap((change) =>
    Array.from({ length: (2 * DAY_MINUTES) / 7 }, (_, step) => change - DAY_MINUTES + step * 7),
  );
}

function expectActivity({ startMinute, shown }: Clock, schedule: Schedule, minute: number): void {
  const { fromMinute, toMinute } = schedule;
  const wall = (shown[minute] ?? 0) % DAY_MINUTES;
  const isShown =
    fromMinute < toMinute ? wall >= fromMinute && wall < toMinute : wall >= fromMinute || wall < toMinute;
  const active = isActive(schedule, ((startMinute + minute) * MINUTE_MS) as EpochMs);
  if (active === isShown) return;
  const around = shown.slice(minute - DAY_MINUTES, minute + DAY_MINUTES);
  if (isShown || around.filter((other) => other === shown[minute]).length < 2)
    expect.fail(`${new Date((startMinute + minute) * MINUTE_MS).toISOString()}: active ${active}`);
}

const schedules: fc.Arbitrary<Schedule> = fc.record({
  days: fc.subarray([...DAYS], { minLength: 1 }),
  fromMinute: fc.integer({ min: 0, max: DAY_MINUTES - 1 }),
  toMinute: fc.integer({ min: 0, max: DAY_MINUTES }),
  timezone: fc.constantFrom(...ZONES),
  min: fc.constant(0),
  warm: fc.constant(1),
});

it('isActive is true in the windows of any schedule and at no other time', () => {
  const start = minuteOfDate('2026-03-20') * MINUTE_MS;
  const instants = fc
    .integer({ min: 0, max: 230 * DAY_MINUTES * MINUTE_MS })
    .map((ms) => (start + ms) as EpochMs);
  fc.assert(
    fc.property(schedules, instants, (schedule, instant) => {
      const windowsOf = (days: readonly number[]) =>
        days.flatMap(
          (day) => windowOf(schedule, dateOf(Math.floor(instant / MINUTE_MS) + day * DAY_MINUTES)) ?? [],
        );
      const windows = windowsOf([-3, -2, -1, 0, 1, 2, 3]);
      const edges = windowsOf([-1, 0, 1]).flatMap(({ from, to }) => [from - 1, from, to - 1, to]);
      for (const now of [instant, ...edges] as EpochMs[])
        expect(isActive(schedule, now)).toBe(windows.some(({ from, to }) => from <= now && now < to));
    }),
    runs(1000),
  );
});
