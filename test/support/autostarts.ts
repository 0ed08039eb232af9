import fc from 'fast-check';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { WEEKDAYS } from '../../lambda/decision/model/zones.ts';

const some = (max: number) => fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 3 });

/** Any schedule of minutes, hours and days (0 is Sunday) in a zone, days that its template allows, and a time. */
export const anAutostart = fc
  .record({
    zone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC'),
    minutes: some(59),
    hours: some(23),
    days: some(6),
    allowed: fc.uniqueArray(fc.constantFrom(...WEEKDAYS)),
    after: fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 11, 31) }),
  })
  .map((one) => ({
    ...one,
    after: one.after as EpochMs,
    schedule: `CRON_TZ=${one.zone} ${one.minutes} ${one.hours} * * ${one.days}`,
  }));
