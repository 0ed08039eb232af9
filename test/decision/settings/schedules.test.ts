import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Schedule, Weekday } from '../../../lambda/decision/model/config.ts';
import { isActive, scheduledFloors, windowOf } from '../../../lambda/decision/settings/schedules.ts';
import { table } from '../../support/table.ts';

const EVERY_DAY: readonly Weekday[] = [0, 1, 2, 3, 4, 5, 6];
const MON_TO_FRI: readonly Weekday[] = [1, 2, 3, 4, 5];

type Written = Partial<Omit<Schedule, 'fromMinute' | 'toMinute'>> & {
  readonly from: string;
  readonly to: string;
};

function aSchedule({ from, to, ...rest }: Written): Schedule {
  return {
    days: EVERY_DAY,
    timezone: 'Europe/Berlin',
    min: 0,
    warm: 1,
    ...rest,
    fromMinute: minuteOf(from),
    toMinute: minuteOf(to),
  };
}

const minuteOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

const at = (text: string) => Date.parse(text) as EpochMs;

const utc = (time: number) => new Date(time).toISOString().slice(0, 16);

type Row = Written & { readonly date: string; readonly window: string; readonly because: string };

const rows = table<Row>`
  from  | to    | days          | timezone         | date       | window                               | because
  08:30 | 18:30 |               |                  | 2026-01-15 | 2026-01-15T07:30 to 2026-01-15T17:30 | Berlin is an hour ahead in winter
  08:30 | 18:30 |               |                  | 2026-07-15 | 2026-07-15T06:30 to 2026-07-15T16:30 | and two in summer
  08:30 | 18:30 | ${MON_TO_FRI} |                  | 2026-01-17 | none                                 | it is a Saturday
  22:00 | 06:00 | ${MON_TO_FRI} |                  | 2026-01-16 | 2026-01-16T21:00 to 2026-01-17T05:00 | it begins on the Friday, and ends when it ends
  22:00 | 06:00 | ${MON_TO_FRI} |                  | 2026-01-18 | none                                 | the night to Monday begins on a Sunday
  09:00 | 09:00 |               |                  | 2026-01-15 | 2026-01-15T08:00 to 2026-01-16T08:00 | equal times are a day and a night
  08:00 | 24:00 |               |                  | 2026-01-15 | 2026-01-15T07:00 to 2026-01-15T23:00 | 24:00 is the midnight that ends the day
  08:00 | 00:00 |               |                  | 2026-01-15 | 2026-01-15T07:00 to 2026-01-15T23:00 | 00:00 is on the next day, so the same midnight
  22:00 | 06:00 |               |                  | 2028-02-28 | 2028-02-28T21:00 to 2028-02-29T05:00 | 2028 has a 29th of February
  22:00 | 06:00 |               |                  | 2028-02-29 | 2028-02-29T21:00 to 2028-03-01T05:00 | and a night after it
  22:00 | 06:00 |               |                  | 2026-02-28 | 2026-02-28T21:00 to 2026-03-01T05:00 | 2026 has none
  00:00 | 24:00 |               |                  | 2026-03-29 | 2026-03-28T23:00 to 2026-03-29T22:00 | the day on which the clock skips an hour has 23
  00:00 | 24:00 |               |                  | 2026-10-25 | 2026-10-24T22:00 to 2026-10-25T23:00 | the day on which it shows one twice has 25
  02:30 | 05:00 |               |                  | 2026-03-29 | 2026-03-29T01:00 to 2026-03-29T03:00 | a window that would begin in the gap begins at its end
  01:00 | 02:30 |               |                  | 2026-03-29 | 2026-03-29T00:00 to 2026-03-29T01:00 | one that would end in the gap ends at its end
  02:15 | 02:45 |               |                  | 2026-03-29 | 2026-03-29T01:00 to 2026-03-29T01:00 | the clock shows no time of it on that day
  02:30 | 05:00 |               |                  | 2026-10-25 | 2026-10-25T00:30 to 2026-10-25T04:00 | it begins when the clock shows 02:30 for the first time
  01:00 | 02:30 |               |                  | 2026-10-25 | 2026-10-24T23:00 to 2026-10-25T01:30 | it ends when the clock shows 02:30 for the second time
  23:00 | 02:00 |               |                  | 2026-10-24 | 2026-10-24T21:00 to 2026-10-25T01:00 | the clock shows 02:00 again when it is set back from 03:00
  23:00 | 03:00 |               |                  | 2026-10-24 | 2026-10-24T21:00 to 2026-10-25T02:00 | the clock that is set back at 03:00 shows it an hour later
  01:45 | 02:15 |               | Australia/Lord_Howe | 2026-10-04 | 2026-10-03T15:15 to 2026-10-03T15:30 | the gap is half an hour there
  01:45 | 02:15 |               | Australia/Lord_Howe | 2026-04-05 | 2026-04-04T14:45 to 2026-04-04T15:45 | and so is what is shown twice
  23:30 | 24:00 |               | America/Santiago | 2026-04-04 | 2026-04-05T02:30 to 2026-04-05T04:00 | the clock is set back at midnight there, and the second midnight counts
  00:00 | 06:00 |               | America/Santiago | 2026-09-06 | 2026-09-06T04:00 to 2026-09-06T09:00 | the day begins at 01:00
  08:30 | 18:30 |               | Asia/Kolkata     | 2026-01-15 | 2026-01-15T03:00 to 2026-01-15T13:00 | Kolkata is five hours and a half ahead
  08:30 | 18:30 |               | UTC              | 2026-01-15 | 2026-01-15T08:30 to 2026-01-15T18:30 | UTC is a time zone too
`;

it.each(rows)(
  'computes the window $from to $to on $date in $timezone: $because',
  ({ date, window, because: _, ...written }) => {
    const found = windowOf(aSchedule(written), date);
    expect(found === undefined ? 'none' : `${utc(found.from)} to ${utc(found.to)}`).toBe(window);
  },
);

describe('isActive', () => {
  const office = aSchedule({ from: '08:30', to: '18:30', days: MON_TO_FRI });
  const night = aSchedule({ from: '22:00', to: '06:00', days: MON_TO_FRI });

  it.each(table<{ schedule: Schedule; now: string; active: boolean; because: string }>`
    schedule  | now                      | active | because
    ${office} | 2026-01-15T07:29:59.999Z | false  | a moment before from
    ${office} | 2026-01-15T07:30:00Z     | true   | from is inclusive
    ${office} | 2026-01-15T17:29:59.999Z | true   | a moment before to
    ${office} | 2026-01-15T17:30:00Z     | false  | to is exclusive
    ${office} | 2026-01-17T12:00:00Z     | false  | it is a Saturday
    ${night}  | 2026-01-17T04:59:59.999Z | true   | Friday's window goes on into Saturday
    ${night}  | 2026-01-17T05:00:00Z     | false  | until six
    ${night}  | 2026-01-19T00:00:00Z     | false  | none begins on a Sunday
  `)('is $active at $now: $because', ({ schedule, now, active }) => {
    expect(isActive(schedule, at(now))).toBe(active);
  });
});

describe('scheduledFloors', () => {
  const overlapping = [
    aSchedule({ from: '08:00', to: '18:00', min: 2, warm: 5 }),
    aSchedule({ from: '09:00', to: '10:00', min: 6, warm: 1 }),
    aSchedule({ from: '09:30', to: '20:00', min: 1, warm: 7, timezone: 'UTC' }),
  ];

  it.each([
    { now: '2026-01-15T06:00:00Z', floors: { min: 0, warm: 0 }, because: 'none is active' },
    { now: '2026-01-15T07:30:00Z', floors: { min: 2, warm: 5 }, because: 'one is' },
    { now: '2026-01-15T08:30:00Z', floors: { min: 6, warm: 5 }, because: 'the highest of each counts' },
    { now: '2026-01-15T10:00:00Z', floors: { min: 2, warm: 7 }, because: 'each has its own time zone' },
    { now: '2026-01-15T18:00:00Z', floors: { min: 1, warm: 7 }, because: 'the others have ended' },
  ])('are right at $now: $because', ({ now, floors }) => {
    expect(scheduledFloors(overlapping, at(now))).toEqual(floors);
    expect(scheduledFloors(overlapping.toReversed(), at(now))).toEqual(floors);
  });

  it('are 0 without schedules', () => {
    expect(scheduledFloors([], at('2026-01-15T12:00:00Z'))).toEqual({ min: 0, warm: 0 });
  });
});
