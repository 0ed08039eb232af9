/** The next autostart. The product's own reading agrees with it (test/decision/demand/autostart-schedule.test.ts). */
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { WEEKDAYS } from '../../../../lambda/decision/model/zones.ts';
import { table } from '../../../../test/support/table.ts';
import type { Weekday } from '../../../world/coderd/tables/templates.ts';
import { nextAllowedAutostart } from '../../../world/coderd/tables/transitions.ts';

const time = (text: string): EpochMs => Date.parse(text) as EpochMs;
const next = (after: string, schedule: string, days: readonly Weekday[] = WEEKDAYS): string | undefined => {
  const found = nextAllowedAutostart(time(after), schedule, days);
  return found === undefined ? undefined : new Date(found).toISOString().replace(':00.000Z', 'Z');
};

describe('the next autostart', () => {
  const rows = table<{
    after: string;
    schedule: string;
    days?: readonly Weekday[];
    expected: string;
    because: string;
  }>`
    after                | schedule                          | days           | expected          | because
    2026-03-02T08:00:00Z | CRON_TZ=Europe/Berlin 0 9 * * 1-5 |                | 2026-03-03T08:00Z | it is later than the given time
    2026-03-02T07:59:59.999Z | CRON_TZ=Europe/Berlin 0 9 * * 1-5 |                | 2026-03-02T08:00Z | the given time is a millisecond earlier
    2026-03-06T12:00:00Z | CRON_TZ=Europe/Berlin 0 9 * * 1-5 |                | 2026-03-09T08:00Z | the schedule has no weekend
    2026-03-02T12:00:00Z | 15,45 6-7,20 * * *                |                | 2026-03-02T20:15Z | it has lists and ranges, and UTC is the default zone
    2026-03-02T20:15:00Z | 15,45 6-7,20 * * *                |                | 2026-03-02T20:45Z | the second minute in the list is next
    2026-03-02T12:00:00Z | * * * * *                         |                | 2026-03-02T12:01Z | it matches every minute
    2026-03-02T12:00:00Z | CRON_TZ=Asia/Kolkata 0 1 * * 2    | ${['tuesday']} | 2026-03-02T19:30Z | the day is that of local time, which is half an hour off
    2026-03-02T12:00:00Z | CRON_TZ=Asia/Kolkata 0 1 * * 2    | ${['monday']}  | never             | the template allows no day of the schedule
    2026-03-02T12:00:00Z | 0 9 * * 1-5                       | ${['sunday', 'thursday']} | 2026-03-05T09:00Z | only days in both the schedule and the template count
    2026-03-28T12:00:00Z | CRON_TZ=Europe/Berlin 0 9 * * *   |                | 2026-03-29T07:00Z | summer time has begun
    2026-03-28T12:00:00Z | CRON_TZ=Europe/Berlin 30 2 * * *  |                | 2026-03-30T00:30Z | 2:30 does not exist in that night
    2026-10-24T12:00:00Z | CRON_TZ=Europe/Berlin 30 2 * * *  |                | 2026-10-25T00:30Z | it is the first 2:30 of that night
    2026-10-25T00:30:00Z | CRON_TZ=Europe/Berlin 30 2 * * *  |                | 2026-10-25T01:30Z | it is the second 2:30 of that night
    2026-10-19T07:00:00Z | CRON_TZ=Europe/Berlin 0 9 * * 1   |                | 2026-10-26T08:00Z | that week has 169 hours
    2026-04-04T12:00:00Z | CRON_TZ=Australia/Lord_Howe 45 1 * * * |                | 2026-04-04T14:45Z | a half hour occurs twice there, and the first one counts
  `;
  it.each(rows)(
    'is $expected after $after for the schedule $schedule: $because',
    ({ after, schedule, days, expected }) => {
      expect(next(after, schedule, days) ?? 'never').toBe(expected);
    },
  );
});
